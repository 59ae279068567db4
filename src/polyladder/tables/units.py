"""Units of measure behind numbers, and which can be turned into which."""

from __future__ import annotations

import re

MEASURES: tuple[dict[str, float], ...] = (
    {"kg kgs kilogram kilograms": 1.0, "g gram grams": 1e-3, "mg": 1e-6, "t tonne tonnes": 1e3}
    | {"lb lbs pound pounds": 0.45359237, "oz ounce ounces": 0.028349523125},
    {"m meter meters metre metres": 1.0, "cm": 1e-2, "mm": 1e-3, "µm um": 1e-6, "km kilometer kilometers": 1e3}
    | {"in inch inches": 0.0254, "ft foot feet": 0.3048, "yd yard yards": 0.9144, "mi mile miles": 1609.344},
    {"m2 m² m^2 sqm qm": 1.0, "cm2 cm² cm^2": 1e-4, "mm2 mm² mm^2": 1e-6, "km2 km² km^2": 1e6, "ha": 1e4}
    | {"ft2 ft² ft^2 sqft sf": 0.09290304, "in2 in² in^2 sqin": 0.00064516, "acre acres": 4046.8564224},
    {"m3 m³ m^3": 1.0, "l liter liters litre litres dm3 dm³": 1e-3, "ml cm3 cm³ ccm": 1e-6}
    | {"ft3 ft³ ft^3 cuft": 0.028316846592},
    {"s sec second seconds": 1.0, "ms": 1e-3, "min mins minute minutes": 60.0, "h hr hrs hour hours": 3600.0}
    | {"d day days": 86400.0, "week weeks": 604800.0},
    {"year years yr yrs": 12.0, "month months": 1.0},
    {"m/s": 1.0, "km/h kmh kph": 1 / 3.6, "mph": 0.44704, "kn knots": 1852 / 3600},
    {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9, "kcal": 4184.0},
    {"W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9, "hp": 745.6998715822702, "PS": 735.49875},
    {"Pa": 1.0, "hPa mbar": 1e2, "kPa": 1e3, "MPa": 1e6, "bar": 1e5, "psi": 6894.757293168361, "atm": 101325.0},
    {"%": 1e-2, "‰": 1e-3, "bp bps": 1e-4, "ppm": 1e-6},
)
"""Units that measure the same, each with its size; one with several spellings has them all."""

TEMPERATURES = {
    **dict.fromkeys(("°C", "℃", "degC"), (1.0, 0.0)),
    **dict.fromkeys(("°F", "℉", "degF"), (5 / 9, -160 / 9)),
    **dict.fromkeys(("K", "kelvin"), (1.0, -273.15)),
}
"""Factor and shift to degrees Celsius."""

SIZES: dict[str, tuple[int, float, float]] = {
    name: (measure, size, 0.0)
    for measure, units in enumerate(MEASURES)
    for names, size in units.items()
    for name in names.split()
} | {name: (-1, *to_celsius) for name, to_celsius in TEMPERATURES.items()}
"""For each unit, the number of what it measures, and factor and shift to the first unit that measures the same."""

FOLDED = {name.lower(): size for name, size in SIZES.items() if name[0] not in "MGK"}
"""The same by small letters where they name one unit: KG is kg, but mW is not MW."""


def conversion(found: str, wanted: str) -> tuple[float, float] | None:
    """Factor and shift that turn numbers in one unit into numbers in another; None where that is not known.

    >>> conversion("lb", "kg")
    (0.45359237, 0.0)
    """
    if found == wanted:
        return 1.0, 0.0
    here, there = size_of(found), size_of(wanted)
    if here is None or there is None or here[0] != there[0]:
        return None
    return here[1] / there[1], (here[2] - there[2]) / there[1]


def size_of(unit: str) -> tuple[int, float, float] | None:
    """What a unit measures, and its size; spellings may differ in case, stops and the space of "sq ft"."""
    text = re.sub(r"^(sq|cu)[. ]\s*", r"\1", unit.strip(), flags=re.IGNORECASE).rstrip(".")
    return SIZES.get(text) or FOLDED.get(text.lower())


def unit_of(name: str) -> str | None:
    """What is in brackets at the end of a column's name: "cement (kg/m3)" is in kg/m3."""
    found = re.search(r"[(\[]([^()\[\]]{1,20})[)\]]\s*$", name)
    return found[1].strip() or None if found else None
