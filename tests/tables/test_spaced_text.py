"""Columns held apart by spaces."""

from pathlib import Path

import pytest

from polyladder.tables.spaced_text import row_names
from polyladder.tables.table_file import open_table


@pytest.mark.parametrize("block", [1, 5, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "a b c\n1 2.5 x\n3 4 y\n",
        "a    b  c\r\n 1  2.5   x\r\n 3   4.0   y \r\n",
        '"a" "b" "c"\n1\t2.5 "x"\n3 4 "y"',
    ],
)
def test_spaces_of_any_number(text: str, block: int, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(text.encode())
    file = open_table(tmp_path / "t.txt", block)
    assert file.names == ("a", "b", "c")
    rows = [tuple(cell.rstrip("0").rstrip(".") if "." in cell else cell for cell in row) for row in file.whole().rows()]
    assert rows == [("1", "2.5", "x"), ("3", "4", "y")]


def test_quoted_cells_keep_their_spaces(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text('town size n\n"St.  Gallen" 5 1\nBern 7 2\n')
    assert open_table(tmp_path / "t.txt").whole().rows() == [("St.  Gallen", "5", "1"), ("Bern", "7", "2")]


def test_names_of_rows_as_r_writes_them(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text('"a" "b"\n"1" 5 3.5\n"2" 6 4.5\n')
    file = open_table(tmp_path / "t.txt")
    assert file.names == ("row", "a", "b")
    assert file.whole().rows() == [("1", "5", "3.5"), ("2", "6", "4.5")]


@pytest.mark.parametrize(
    "text",
    [
        "full name\nAnna Smith\nBen Jones\n",
        "body weight\n12 kg\n14 kg\n",
        "comment\nthis is good\nnot at all\n",
        "when then\n2020-01-01 10:00\n2020-01-02 11:00\n",
        "a\n1\n2\n",
        "a b\n",
        "",
    ],
)
def test_one_column_of_text_stays_one(text: str) -> None:
    assert row_names(text) is None
