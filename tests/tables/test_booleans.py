"""Yes and no."""

import polars as pl
import pytest

from polyladder.tables.booleans import PAIRS, find_words, read_words


@pytest.mark.parametrize("pair", PAIRS)
def test_every_pair(pair: tuple[str, str]) -> None:
    cells = pl.Series("c", [pair[0], pair[1].upper(), pair[1].upper()])
    assert find_words(cells) == (pair[0], pair[1].upper())


def test_other_spellings_are_read_as_the_column_spells_them() -> None:
    cells = pl.Series("c", ["Yes", "no", "YES", "1", "0", None, "maybe"])
    assert read_words(cells, ("No", "Yes")).to_list() == ["Yes", "No", "Yes", "Yes", "No", None, None]


@pytest.mark.parametrize("cells", [["yes", "yes"], ["no", "on"], ["0", "1"], ["yes", "no", "maybe"]])
def test_what_is_no_boolean(cells: list[str]) -> None:
    assert find_words(pl.Series("c", cells)) is None
