"""Where rows of text end, and what quotes mean."""

import re
from pathlib import Path

import pytest

from polyladder.tables import text_rows
from polyladder.tables.table_file import open_table

BLOCKS = [1, 2, 3, 5, 7, 16, 64, 2**20]
ENDS = ["\n", "\r\n", "\r"]


def cells(path: Path, text: str, block: int = 2**20) -> list[tuple[str | None, ...]]:
    path.write_bytes(text.encode())
    return open_table(path, block).whole().rows()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,"b\n1,2\n' + "1,2\n" * 80, 1),
        ("a,b\n" + "1,2\n" * 9 + '1,"x\n' + "1,2\n" * 70, 11),
        ('a,b\n1,"x\ny"\n1,"z\n3,4\n', 4),
        ("a,b\n" + "1,2\n" * 40 + '1,"x\n', 42),
        ("a,b\n" + "1,2\n" * 40 + '1,"x', 42),
        ('a,b\n1,"x""\n3,4\n', 2),
        # The next quote opens a cell as well: without a closing one, it seems to end the first.
        ('a,b\n1,"x\n2,"y"\n3,"z"\n', 2),
        ('a,b\n5" pipe,1\n1,"x\n2,3\n', 3),
    ],
)
def test_a_quote_left_open_is_refused_by_its_line(text: str, line: int, end: str, block: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with pytest.raises(
        ValueError, match=f"^{re.escape(str(path))} must close every quote .* in line {line} is left open"
    ):
        cells(path, text.replace("\n", end), block)


def test_a_quote_left_open_is_not_followed_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_rows, "LONGEST_ROW", 1000)
    with pytest.raises(ValueError, match="in line 2 is left open"):
        cells(tmp_path / "t.csv", 'a,b\n1,"x\n' + "1,2\n" * 1000, 100)
    with pytest.raises(ValueError, match="must have rows of at most 64 MiB; a longer one begins in line 3"):
        cells(tmp_path / "t.csv", "a,b\n1,2\n" + "x" * 2000, 100)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("block", BLOCKS)
def test_cells_of_several_lines(end: str, block: int, tmp_path: Path) -> None:
    text = '"a\nb",c\n"1\n\n2",x\n"",""""\n,"y, z\n"\n'.replace("\n", end)
    expected = [(f"1{end}{end}2", "x"), ("", '"'), (None, f"y, z{end}")]
    assert cells(tmp_path / "t.csv", text, block) == expected


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("block", BLOCKS)
def test_quotes_within_cells_are_characters(end: str, block: int, tmp_path: Path) -> None:
    text = 'a,b\n5" pipe,1\n6,2\n7",""\n"8"",",3\n"9" pipe," 10"\n"x","y"z\n'.replace("\n", end)
    expected = [('5" pipe', "1"), ("6", "2"), ('7"', ""), ('8",', "3"), ("9 pipe", " 10"), ("x", "yz")]
    assert cells(tmp_path / "t.csv", text, block) == expected


@pytest.mark.parametrize("block", BLOCKS)
def test_line_ends_of_old_macs(block: int, tmp_path: Path) -> None:
    assert cells(tmp_path / "t.csv", 'a,b\r1,2\r"3\r",4\r\r5,6\r', block) == [("1", "2"), ("3\r", "4"), ("5", "6")]
    assert cells(tmp_path / "t.csv", "a\r1\r\r2", block) == [("1",), (None,), ("2",)]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_line_end_of_two_bytes_is_one(block: int, tmp_path: Path) -> None:
    assert cells(tmp_path / "t.csv", "a\r\n1\r\n\r\n2\r\n", block) == [("1",), (None,), ("2",)]
    # After more than the sample without LF, the file goes on with CRLF.
    text = "a\r" + "1\r" * 40_000 + "2\r\n3\r\n"
    if block > 100:
        assert cells(tmp_path / "t.csv", text, block)[-2:] == [("2",), ("3",)]


def test_a_carriage_return_among_line_feeds_is_a_character(tmp_path: Path) -> None:
    assert cells(tmp_path / "t.csv", "a,b\nx\ry,1\nz,2\n") == [("x\ry", "1"), ("z", "2")]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("block", BLOCKS)
def test_blank_lines_are_rows_only_in_one_column(end: str, block: int, tmp_path: Path) -> None:
    text = "\n\na,b\n\n1,2\n\n\n3\n4,5\n\n".replace("\n", end)
    assert cells(tmp_path / "t.csv", text, block) == [("1", "2"), ("3", None), ("4", "5")]
    # An irregular quote takes the other way through the reader.
    text = '\n\na,b\n\n1"1,2\n\n\n3\n4,5\n\n'.replace("\n", end)
    assert cells(tmp_path / "t.csv", text, block) == [('1"1', "2"), ("3", None), ("4", "5")]
    assert cells(tmp_path / "t.csv", f"a{end}{end}1{end}{end}", block) == [(None,), ("1",), (None,)]


@pytest.mark.slow
@pytest.mark.parametrize("marks", ['1,"2"\n', '1,2"\n', "\n1,2\n"])
def test_blocks_of_many_short_rows_are_looked_at_in_parts(
    marks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cells(tmp_path / "t.csv", "a,b\n" + marks * 300)
    monkeypatch.setattr(text_rows, "MANY", 10)
    monkeypatch.setattr(text_rows, "PART", 7)
    assert len(list(open_table(tmp_path / "t.csv").chunks)) > 100
    assert open_table(tmp_path / "t.csv").whole().rows() == whole
    assert len(whole) == 300


def test_zero_bytes_are_refused_by_their_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it holds binary data, first in line 20002\."):
        cells(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 20_000 + "1,\0\n", 1000)
