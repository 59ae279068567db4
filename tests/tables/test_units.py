"""Units, and what they are in each other."""

import pytest

from polyladder.tables.units import SIZES, conversion, unit_of


@pytest.mark.parametrize(
    ("value", "found", "wanted", "expected"),
    [
        (11.2, "lb", "kg", 5.08023),
        (5.1, "kg", "lbs", 11.2436),
        (212, "°F", "°C", 100),
        (-40, "°C", "°F", -40),
        (300, "K", "°C", 26.85),
        (1, "acre", "m2", 4046.856),
        (10, "sq ft", "m²", 0.929030),
        (100, "km/h", "m/s", 27.77778),
        (2, "years", "months", 24),
        (1, "MWh", "kWh", 1000),
        (5, "‰", "%", 0.5),
        (3, "KG", "kg", 3),
        (6, "in.", "cm", 15.24),
    ],
)
def test_numbers_are_turned_into_other_units(value: float, found: str, wanted: str, expected: float) -> None:
    factor, shift = conversion(found, wanted) or (0, 0)
    assert value * factor + shift == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("found", "wanted"), [("kg", "m"), ("mW", "MW"), ("", "kg"), ("$", "€"), ("boxes", "pallets")])
def test_what_is_not_known_is_not_turned(found: str, wanted: str) -> None:
    assert conversion(found, wanted) is None


def test_there_and_back_is_the_same_number() -> None:
    for a, (measure, *_) in SIZES.items():
        for b in (name for name, size in SIZES.items() if size[0] == measure):
            (factor, shift), (by, off) = conversion(a, b) or (0, 0), conversion(b, a) or (0, 0)
            assert (7.25 * factor + shift) * by + off == pytest.approx(7.25)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("cement (kg/m3)", "kg/m3"), ("T [K] ", "K"), ("plain", None), ("f(x) value", None), ("empty ()", None)],
)
def test_units_stand_in_brackets_at_the_end(name: str, unit: str | None) -> None:
    assert unit_of(name) == unit
