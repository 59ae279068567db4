"""XML in blocks."""

import pytest

from polyladder.files.xml_parts import DEEPEST, LONGEST, elements

TEXT = b'<?xml version="1.0"?><a:r xmlns:a="u"><b x="1">p &amp; <c>q</c> tail</b><b/></a:r>'


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_elements_begin_and_end_whatever_the_block(size: int) -> None:
    blocks = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
    assert list(elements(blocks, "f")) == [
        (True, "r", {"xmlns:a": "u"}, ""),
        (True, "b", {"x": "1"}, ""),
        (True, "c", {}, ""),
        (False, "c", {}, "q"),
        (False, "b", {}, " tail"),
        (True, "b", {}, ""),
        (False, "b", {}, ""),
        (False, "r", {}, ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"<a>", "f cannot be read as a workbook: no element found"),
        (b"<a></b>", "f cannot be read as a workbook: mismatched tag"),
        (b"<a>\xe9</a>", "f cannot be read as a workbook: not well-formed"),
        (b"<a>" * (DEEPEST + 1), f"f must have at most {DEEPEST} elements within each other; got more."),
        (b"<a>" + b"x" * (LONGEST + 1) + b"</a>", f"f must have cells of at most {LONGEST:,} characters; got more."),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "f must be a workbook without XML declarations; it has one."),
        (b"<a>&b;</a>", "f cannot be read as a workbook: undefined entity"),
    ],
)
def test_the_rest_is_refused_in_a_sentence(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match="f ") as caught:
        list(elements([text], "f"))
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)
