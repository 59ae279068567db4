import pytest

from polyladder.polynomial.names import input_names


def test_inputs_are_numbered_unless_named() -> None:
    assert input_names(None, 3) == ("x0", "x1", "x2")
    assert input_names(None, 0) == ()
    assert input_names(["age", "height"], 2) == ("age", "height")


@pytest.mark.parametrize("names", ["ab", ["a", ""], ["a", 1], [None, "b"]])
def test_names_must_be_strings(names: object) -> None:
    with pytest.raises(TypeError, match="names must be a sequence of non-empty strings; got"):
        input_names(names, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"], []])
def test_every_input_has_a_name_of_its_own(names: list[str]) -> None:
    with pytest.raises(ValueError, match="names must be 2 different names, one for each input; got"):
        input_names(names, 2)
