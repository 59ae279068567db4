"""New cells in the unit of training."""

import re

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind, convert
from polyladder.tables.number_style import NumberStyle

KG = ColumnKind("w", "number", style=NumberStyle(suffix=" kg"), span=(1.0, 5.0, 9.0))
PERCENT = ColumnKind("rate", "number", style=NumberStyle(suffix="%"), span=(3.0, 40.0, 93.0))
FRACTION = ColumnKind("rate", "number", span=(0.03, 0.4, 0.93))
PLAIN = ColumnKind("w", "number", span=(1.0, 5.0, 90.0))
NAMED = ColumnKind("weight (kg)", "number", span=(1.0, 5.0, 9.0))
DOLLARS = ColumnKind("fee", "number", style=NumberStyle(prefix="$", thousands=","), span=(1.0, 5.0, 9.0))


def read(kind: ColumnKind, cells: list) -> tuple[list[float], list[str]]:
    said: list[str] = []
    values = convert(pl.Series(kind.name, cells), kind, "thousands", 1, said.append)
    return values.to_list(), said


@pytest.mark.parametrize(
    ("kind", "cells", "values", "said"),
    [
        (KG, ["11.2 lb", "1 lb"], [5.08023, 0.45359], "holds numbers in lb, which are converted: '11.2 lb' is read as"),
        (KG, ["5.1 kg", "11.2 lb"], [5.1, 5.08023], "'11.2 lb' is read as 5.08 kg."),
        (KG, ["5.1", "6"], [5.1, 6.0], ""),
        (KG, ["1,200 g"], [1.2], "holds numbers in g, which are converted: '1,200 g' is read as 1.2 kg."),
        (KG, ["5.1 kgs"], [5.1], ""),
        (NAMED, ["11.2 lb"], [5.08023], "'11.2 lb' is read as 5.08 kg."),
        (NAMED, ["5.1 kg"], [5.1], ""),
        (
            FRACTION,
            ["57.2%", "3%"],
            [0.572, 0.03],
            "holds numbers in %, which are converted: '57.2%' is read as 0.572.",
        ),
        (PERCENT, ["57.2%", "0.5%"], [57.2, 0.5], ""),
        (PERCENT, ["57.2", "0.5"], [57.2, 0.5], ""),
        (PERCENT, ["0.5%"], [0.5], ""),
        (PERCENT, [57.2, 0.5], [57.2, 0.5], ""),
        (DOLLARS, ["USD 1,500", "USD 12", "1500"], [1500, 12, 1500], ""),
        (PLAIN, ["$1,500"], [1500], "holds amounts in USD, and plain numbers in training: they are taken as they are."),
    ],
)
def test_units_are_converted_where_that_is_known(kind: ColumnKind, cells: list, values: list, said: str) -> None:
    found, notes = read(kind, cells)
    assert found == pytest.approx(values, rel=1e-4)
    assert len(notes) == bool(said)
    assert not said or (notes[0].startswith(f"Column {kind.name!r} ") and said in notes[0])


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [
        (KG, ["5 kg", "7 boxes"], "must hold numbers in kg; got '7 boxes' in row 2."),
        (
            KG,
            ["7 boxes"],
            "must hold numbers in kg, as in training; got '7 boxes' in row 1, and how to convert that",
        ),
        (KG, ["7 m"], "Convert it to kg first."),
        (KG, ["$7"], "must hold numbers in kg, as in training; got '$7' in row 1"),
        (KG, ["11.2 lb", "5.1"], "must have a unit behind every number where some are in lb; got '11.2 lb' and '5.1'"),
        (PLAIN, ["5", "11.2 lb"], "must hold numbers; got '11.2 lb' in row 2."),
        (PLAIN, ["11.2 lb"], "must hold numbers without a unit, as in training; got '11.2 lb' in row 1."),
        (PLAIN, ["57%"], "must hold numbers without a unit, as in training; got '57%' in row 1."),
        (ColumnKind("w", "number"), ["57%"], "must hold numbers without a unit, as in training"),
        (
            PERCENT,
            ["0", "0.572"],
            "must hold percentages, as in training, where they went from 3 to 93; got '0.572'",
        ),
        (PERCENT, [0.0, 0.572], "got 0.572 in row 2, which may be a fraction or a small percentage."),
        (DOLLARS, ["€12"], "must hold numbers in USD, as in training; got '€12' in row 1"),
        (DOLLARS, ["12 EUR"], "must hold numbers in USD, as in training; got '12 EUR' in row 1"),
    ],
)
def test_the_rest_is_refused_in_a_sentence(kind: ColumnKind, cells: list, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read(kind, cells)
