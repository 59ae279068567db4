"""Headers of two lines."""

from pathlib import Path

import pytest

from polyladder.tables.header_lines import second_line
from polyladder.tables.table_file import open_table

ROWS = [[f"{i}.5", str(i), "x"] for i in range(8)]


def test_units_below_names() -> None:
    names, said = second_line(["cement", "water", "kind"], [["kg/m3", "l", "text"], *ROWS]) or ([], "")
    assert names == ["cement", "water", "kind"]
    assert said == "The second line ('kg/m3', 'l') belongs to the header: it is left out."


def test_names_below_groups() -> None:
    names, said = second_line(["size", "", "kind"], [["length", "width", ""], *ROWS]) or ([], "")
    assert names == ["size length", "size width", "kind"]
    assert said == "The header has two lines ('length', 'width'): columns are called by both."


@pytest.mark.parametrize(
    "first",
    [
        ["1", "2", "x"],
        ["kg", "2", "x"],
        ["NA", "", "x"],
        ["kg", "?", "x"],
    ],
)
def test_a_row_is_no_header(first: list[str]) -> None:
    assert second_line(["a", "b", "c"], [first, *ROWS]) is None


def test_columns_must_hold_numbers_below() -> None:
    line = ["kg", "m", "x"]
    assert second_line(["a", "b", "c"], [line, *ROWS]) is not None
    assert second_line(["a", "b", "c"], [line, *ROWS[:4]]) is None
    assert second_line(["a", "b", "c"], [line, *ROWS, ["one", "2", "x"]]) is None


def test_long_cells_are_looked_at_in_no_time() -> None:
    rows = [["(" + " " * 20_000 + "x", "5", "x"] for _ in range(9)]
    assert second_line(["a", "b", "c"], rows) is None


@pytest.mark.parametrize("block", [1, 7, 2**20])
def test_in_a_file_of_any_block(block: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("cement,water\n\nkg/m3,l\n" + "".join(f"{i}.5,{i}\n" for i in range(40)))
    file = open_table(path, block)
    assert file.names == ("cement", "water")
    assert file.whole().rows() == [(f"{i}.5", str(i)) for i in range(40)]
    assert file.notes[0].startswith("The second line ('kg/m3', 'l') belongs to the header")
