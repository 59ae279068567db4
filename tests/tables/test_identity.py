"""Columns that name rows."""

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind
from polyladder.tables.identity import counter, is_id_name, useless
from polyladder.tables.number_style import NumberStyle


@pytest.mark.parametrize(
    "name", ["id", "ID", "customer_id", "patientId", "PatientID", "Unnamed: 0", "row", "invoice no"]
)
def test_names_of_ids(name: str) -> None:
    assert is_id_name(name)


@pytest.mark.parametrize("name", ["valid", "humid", "piano", "keyboard", "price", "number of rooms", "idle"])
def test_other_names(name: str) -> None:
    assert not is_id_name(name)


def test_counters() -> None:
    assert counter(pl.Series([3.0, 1.0, 2.0])) == "counter"
    assert counter(pl.Series([1.0, 3.0, 4.0])) == "gaps"
    assert counter(pl.Series([1.0, 400.0, 90000.0])) == ""
    assert counter(pl.Series([1.0, 9.0, 4.0])) == ""


def test_a_currency_is_never_an_id_and_a_wish_is_obeyed() -> None:
    values = pl.Series("id", [float(i) for i in range(30)])
    assert useless(values, values, ColumnKind("id", "number"), forced=False)
    assert not useless(values, values, ColumnKind("id", "number"), forced=True)
    assert not useless(values, values, ColumnKind("id", "number", style=NumberStyle(prefix="$")), forced=False)
    assert not useless(values, values + 0.5, ColumnKind("id", "number"), forced=False)


def test_texts_of_one_row_each_are_names_also_among_gaps() -> None:
    cabins = pl.Series("cabin", [f"C{i}" for i in range(30)] + [None] * 120)
    assert "more like names" in useless(cabins, cabins, ColumnKind("cabin", "category"), forced=False)
    decks = pl.Series("deck", [f"C{i % 9}" for i in range(30)] + [None] * 120)
    assert not useless(decks, decks, ColumnKind("deck", "category"), forced=False)
