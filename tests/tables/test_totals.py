"""Rows that sum up others."""

from typing import Any

import polars as pl
import pytest

from polyladder.tables.totals import refuse_totals, row_label, without_totals

TOWNS = [["Aue", 3.5, 10], ["Bern", 1.25, 20], ["Chur", 2.0, 40], ["Davos", 4.75, 5], ["Egg", 1.0, 1]]


def table(rows: list[list[Any]], text: bool = True) -> pl.DataFrame:
    cells = [[None if c is None else str(c) for c in row] for row in rows] if text else rows
    return pl.DataFrame(cells, schema=["town", "area", "price"], orient="row", strict=False)


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize(
    ("bottom", "said"),
    [
        (
            [["Total", 12.5, 76]],
            ["The row, 'Total', at the bottom holds sums of the rows above (area, price): left out."],
        ),
        ([["Summe:", None, 76]], ["The row, 'Summe:', at the bottom holds sums of the rows above (price): left out."]),
        (
            [["Grand Total", 2.5, 76]],
            ["The row, 'Grand Total', at the bottom holds sums of the rows above (price): left out."],
        ),
        (
            [["Average", 2.5, 15.2]],
            ["The row, 'Average', at the bottom holds means of the rows above (area, price): left out."],
        ),
        ([[None, 12.5, 76]], ["The row at the bottom holds sums of the rows above (area, price): left out."]),
        (
            [["Total", 12.5, 76], ["Mean", 2.5, 15.2]],
            [
                "The row, 'Total', at the bottom holds sums of the rows above (area, price): left out.",
                "The row, 'Mean', at the bottom holds means of the rows above (area, price): left out.",
            ],
        ),
    ],
)
def test_totals_are_left_out(bottom: list[list[Any]], said: list[str], text: bool) -> None:
    notes: list[str] = []
    assert without_totals(table([*TOWNS, *bottom], text), "thousands", notes).equals(table(TOWNS, text))
    assert notes == said


@pytest.mark.parametrize(
    "bottom", [["Farm", 12.5, 76], [None, 12.5, 77], [None, None, 76], ["Frick", 2.5, 15.2], ["Totalia", 12.5, 76]]
)
def test_other_rows_stay(bottom: list[Any]) -> None:
    frame, notes = table([*TOWNS, bottom]), list[str]()
    assert without_totals(frame, "thousands", notes) is frame
    assert notes == []


def test_a_label_alone_is_mentioned() -> None:
    """It may be a name, as that of a brand of fuel."""
    frame, notes = table([*TOWNS, ["Total", 3.0, 11]]), list[str]()
    assert without_totals(frame, "thousands", notes) is frame
    assert notes == ["The last row is labeled 'Total', but holds no sum of those above: it is kept."]


def test_the_label_may_stand_in_a_column_of_numbers() -> None:
    frame = pl.DataFrame({"nr": ["1", "2", "3", "4", "total"], "price": ["$1,000", "$500", "$20", "$1", "$1,521"]})
    notes: list[str] = []
    assert without_totals(frame, "thousands", notes).equals(frame.head(4))
    assert len(notes) == 1


def test_labels() -> None:
    frame = pl.DataFrame({"a": ["x"], "b": [" TOTAL: "]})
    assert row_label(frame) == "TOTAL:"
    assert row_label(pl.DataFrame({"a": [1.0], "b": ["totally"]})) == ""


def test_of_a_table_in_parts_they_are_refused() -> None:
    with pytest.raises(ValueError, match=r"it is labeled 'Total' and holds 12\.5 in column 'area'\. Take it out\."):
        refuse_totals(table(TOWNS[:3]), table([["Total", 12.5, 76]]), "thousands", "f")
    refuse_totals(table(TOWNS[:3]), table([["Total", 1.5, 3]]), "thousands", "f")
    refuse_totals(table(TOWNS[:3]), table([["Farm", 12.5, 76]]), "thousands", "f")
