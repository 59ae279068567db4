"""Columns in numbers; what a card says of them is tested with the card."""

import pytest

from polyladder.tables.describe import unit_of


@pytest.mark.parametrize(
    ("name", "unit"),
    [("cement (kg/m3)", "kg/m3"), ("T [K] ", "K"), ("plain", None), ("f(x) value", None), ("empty ()", None)],
)
def test_units_stand_in_brackets_at_the_end(name: str, unit: str | None) -> None:
    assert unit_of(name) == unit
