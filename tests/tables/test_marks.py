"""What points and commas mean where a column leaves it open."""

from typing import Any

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind
from polyladder.tables.marks import as_others_write, open_mark, settle_marks
from polyladder.tables.number_style import NumberStyle
from polyladder.tables.understand import all_rules, understand

PRICES = ["700", "950", "1.033", "1.589", "2.340", "12.500", "1.007"]
AMOUNTS = [700, 950, 1033, 1589, 2340, 12500, 1007]


def read(comma: Any, **columns: list[str]):
    frame = pl.DataFrame(columns)
    return {c.kind.name: c for c in understand(frame, comma, frame.columns, all_rules({}, keep=frame.columns))}


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1.589", "950"], "."),
        (["$1,589", "$950"], ","),
        (["1.589", "2.5"], ""),
        (["1.589", "0.250"], ""),
        (["1.589", "15890"], ""),
        (["1.589", "1,589"], ""),
        (["950", "12"], ""),
    ],
)
def test_open_marks(cells: list[str], mark: str) -> None:
    assert open_mark(pl.Series(cells)) == mark


def test_other_columns_decide() -> None:
    found = read("decimal", price=PRICES, size=["40,5", "41,2", "44,8", "50,1", "51,7", "60,3", "70"])
    assert found["price"].values.to_list() == AMOUNTS
    assert found["price"].note == (
        "Column 'price' holds '1.033' beside '700': the point is read as a mark of thousands, as other columns have a "
        "decimal comma."
    )
    found = read(
        "decimal", price=[c.replace(".", ",") for c in PRICES], size=["40.5", "41", "4.25", "5", "1", "2", "3"]
    )
    assert found["price"].values.to_list() == AMOUNTS


def test_a_column_decides_alone_in_a_file_of_decimal_commas() -> None:
    found = read("decimal", price=PRICES, size=["a", "b"] * 3 + ["a"])
    assert found["price"].values.to_list() == AMOUNTS
    assert found["price"].note.endswith("as numbers below 1,000 have none.")


@pytest.mark.parametrize("size", [["1", "2", "3", "4", "5", "6", "7"], ["40.5", "41", "4.25", "5", "1", "2", "3"]])
def test_what_stays_open_is_said(size: list[str]) -> None:
    found = read("thousands", price=PRICES, size=size)["price"]
    assert found.values.to_list() == [float(c) for c in PRICES]
    assert found.note.endswith('thousands, say so in a schema, { kind = "number", decimal = ",", thousands = "." }.')


def test_nothing_is_said_where_nothing_is_open() -> None:
    plain = read("thousands", price=["$1,589", "$950", "$12,000"], size=["1.589", "0.250", "2.341"])
    assert [c.note for c in plain.values()] == ["", ""]
    assert plain["price"].values.to_list() == [1589, 950, 12000]


def test_what_was_asked_for_stays() -> None:
    frame = pl.DataFrame({"price": PRICES, "size": ["1,5"] * 7})
    kinds = {
        "price": ColumnKind("price", "number"),
        "size": ColumnKind("size", "number", style=NumberStyle(decimal=",")),
    }
    assert settle_marks(frame, kinds, "decimal", ["price"]) == (kinds, {})


def test_new_rows_are_read_as_their_file_is_written() -> None:
    """A model of plain numbers, and new rows from a program that writes decimal commas."""
    kinds = {name: ColumnKind(name, "number") for name in ("price", "size")}
    said: list[str] = []
    new = pl.DataFrame({"price": ["1.589", "950"], "size": ["40,5", "41"]})
    found = as_others_write(new, kinds, "decimal", said.append)
    assert found["price"].style == NumberStyle(decimal=",", thousands=".")
    assert said == [
        "Column 'price' holds '1.589' beside '950': the point is read as a mark of thousands, as other columns have a "
        "decimal comma."
    ]
    plain = pl.DataFrame({"price": ["1.589", "950"], "size": ["40.5", "41"]})
    assert as_others_write(plain, kinds, "decimal", said.append) == kinds
    assert len(said) == 1
