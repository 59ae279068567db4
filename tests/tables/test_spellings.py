"""Categories that differ in case alone."""

import polars as pl

from polyladder.tables.columns import ColumnKind, column_kind, convert, guess_kind
from polyladder.tables.spellings import find_spellings, short_twins

TOWNS = pl.Series("town", ["Bern", "bern", "BERN", "Bern", "Aue", "St. Gallen", "A", "a"])


def test_the_most_frequent_spelling_counts() -> None:
    found = find_spellings(TOWNS)
    assert found["bern"] == found["BERN"] == "Bern"
    # Others are known in the usual spellings as well.
    assert found["AUE"] == found["aue"] == "Aue"
    assert found["ST. GALLEN"] == "St. Gallen"
    assert "Bern" not in found
    assert "A" not in found
    assert "a" not in found


def test_where_every_category_has_one_spelling_nothing_is_changed() -> None:
    assert find_spellings(pl.Series(["Bern", "Aue", "Bern"])) == {}
    assert find_spellings(pl.Series(["A", "a", "b1", "B1"])) == {}
    assert short_twins(pl.Series(["A", "a", "b"])) == ("A", "a")
    assert short_twins(pl.Series(["Bern", "bern"])) is None


def test_cells_are_read_by_what_a_card_holds() -> None:
    kind = guess_kind(TOWNS, "thousands")
    assert convert(TOWNS, kind, "thousands").to_list() == [*["Bern"] * 4, "Aue", "St. Gallen", "A", "a"]
    again = column_kind("town", kind.json())
    new = pl.Series("town", ["BERN ", "st. gallen", "Chur", None])
    assert convert(new, again, "thousands").to_list() == ["Bern", "St. Gallen", "Chur", None]
    assert column_kind("town", {"kind": "category"}) == ColumnKind("town", "category")
