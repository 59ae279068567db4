"""The inputs of a printed formula: what each is in the table's own units, in numbers that can be printed.

A column that is only scaled is mapped to [-1, 1] by a middle and a half width of a few digits. The polynomial is then
written out in this very input, so that printing it loses nothing. The ends of a ramp cannot be moved without changing
the function, so they get as many digits as the tolerance needs, and what the last ones cost is known.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from polyladder.convert.exported.ranges import feature_range
from polyladder.convert.printed import decimal_place, shortest
from polyladder.convert.source.operations import TextOperations
from polyladder.export.fitted_formula import Input, mapped
from polyladder.export.formula_terms import span
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature, named
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, YeoJohnson

DIGITS = 3
"""Digits of half a column's width."""

EXACT = 1e-17
"""How far rounding may move an input for which nothing is allowed."""


def printed(value: float) -> Fraction:
    """What the text of a number says."""
    return Fraction(shortest(value))


def mapping(feature: Feature) -> tuple[float, float]:
    """(middle, half width) by which an input of the ladders becomes one of the formula."""
    match held_steps(feature):
        case [Clip(low, high), Affine(shift, scale)]:
            middle, half = (printed(value) for value in centered(low, high))
            return float((middle - Fraction(shift)) / Fraction(scale)), float(half / Fraction(scale))
    return span(feature)


def held_steps(feature: Feature) -> list[object]:
    """The steps of a feature but for what fills its gaps."""
    return [step for step in feature.steps if not isinstance(step, Fill)]


def centered(low: float, high: float) -> tuple[float, float]:
    """(middle, half width) of a few digits, of a range that holds the given one."""
    ends = Fraction(low), Fraction(high)
    half = float(ends[1] - ends[0]) / 2
    place = decimal_place(half) - DIGITS + 1 if half > 0 else 0
    unit = Fraction(10) ** place
    middle = float(round((ends[0] + ends[1]) / 2 / unit) * unit)
    reach = max(ends[1] - printed(middle), printed(middle) - ends[0], unit)
    return middle, next(
        width for k in range(2) if printed(width := float((math.ceil(reach / unit) + k) * unit)) >= reach
    )


def formula_inputs(model: FittedModel, allowed: float) -> tuple[tuple[Input, ...], tuple[Fraction, ...]]:
    """The inputs by different names, and how far each may lie from what the ladders get, mapped to [-1, 1].

    Args:
        model: whose features they are.
        allowed: by how much rounding may move an input.
    """
    found, drifts, names = [], [], set()
    for at in range(len(model.steps)):
        one, drift = formula_input(model, at, allowed)
        name, again = one.name, 1
        while name in names:
            again += 1
            name = f"{one.name[:-1]}, {again}]"
        names.add(name)
        found.append(Input(name, one.column, one.middle, one.half, one.definition))
        drifts.append(drift)
    return tuple(found), tuple(drifts)


def formula_input(model: FittedModel, at: int, allowed: float) -> tuple[Input, Fraction]:
    """What an input of the ladders is in a formula, and how far rounding moves it."""
    feature = model.steps[at]
    column = model.columns[feature.column].name
    nothing = Fraction(0)
    match held_steps(feature):
        case [Clip(low, high), Affine()]:
            return Input(f"[{column}]", column, *centered(low, high), missing_words(feature, column)), nothing
        case [Clip(), Affine(shift, scale), Ramp(low, high), Affine()]:
            start, stop = (Fraction(shift) + Fraction(scale) * Fraction(end) for end in (low, high))
            return ramp_input(column, start, stop, allowed)
        case [IsMissing()]:
            return Input(f"[{column} is missing]", None, 0.0, 1.0), nothing
        case [IsCategory(category)]:
            return Input(f"[{column} = {'missing' if category is None else category}]", None, 0.0, 1.0), nothing
    if named(feature.steps, column) != column:
        return further_input(feature, column), nothing
    shape = next((s for s in feature.steps if isinstance(s, Quantile | YeoJohnson)), None)
    word = {Quantile: "quantile", YeoJohnson: "Yeo-Johnson"}.get(type(shape), "scaled")
    said = f"{column} as the model transforms it, from -1 to 1 over the training range"
    return Input(f"[{word} of {column}]", None, *span(feature), said), nothing


def further_input(feature: Feature, column: str) -> Input:
    """An input by the name that its steps have for it, and their arithmetic but for the scale, mapped to [-1, 1]."""
    steps = feature.steps[:-1] if isinstance(feature.steps[-1], Affine) else feature.steps
    said = column
    for step in steps:
        # The formula is that of the training range, where nothing is held, and gaps have words of their own.
        said = said if isinstance(step, Blank | Fill | Clip) else step.written(said, TextOperations(shortest, "sin"))
    low, high = feature_range(Feature(feature.column, steps))
    if (low, high) != (-1.0, 1.0):
        said = mapped(said, shortest((low + high) / 2), shortest((high - low) / 2))
    words = missing_words(feature, column)
    return Input(
        f"[{named(feature.steps, column)}]", None, *span(feature), "; ".join(part for part in (said, words) if part)
    )


def missing_words(feature: Feature, column: str) -> str:
    """What a row without a value counts as."""
    fill = next((step.value for step in feature.steps if isinstance(step, Fill)), None)
    return "" if fill is None else f"a missing {column} counts as {shortest(fill)}"


def ramp_input(column: str, low: Fraction, high: Fraction, allowed: float) -> tuple[Input, Fraction]:
    """A ramp between two values of a column, and how far rounding its ends moves it."""
    exact = (low + high) / 2, (high - low) / 2
    # Each of the two may move a value of 1 by half of what is allowed. A ramp far from zero may need more digits than a
    # float has.
    place = decimal_place(max(allowed, EXACT) * float(exact[1]))
    middle, half = (decimal_text(value, place) for value in exact)
    shown = Fraction(middle), Fraction(half)
    kinks = [center + side * width for center, width in (exact, shown) for side in (-1, 1)]
    drift = max(abs(ramp(x, *exact) - ramp(x, *shown)) for x in kinks)
    ends = " to ".join(f"{float(end):.6g}" for end in (low, high))
    said = f"{mapped(column, middle, half)}, held to -1 ... 1"
    return Input(f"[{column} from {ends}]", None, float(middle), float(half), said), drift


def decimal_text(value: Fraction, place: int) -> str:
    """A number to a decimal place, without zeros behind its point.

    >>> decimal_text(Fraction(-12345, 1000), -2), decimal_text(Fraction(1201), 1), decimal_text(Fraction(5, 2), -3)
    ('-12.34', '1200', '2.5')
    """
    count = round(value / Fraction(10) ** place) * 10 ** max(0, place)
    place = min(0, place)
    while place < 0 and count % 10 == 0:
        count, place = count // 10, place + 1
    return str(Decimal(f"{count}e{place}")).lower()


def ramp(x: Fraction, middle: Fraction, half: Fraction) -> Fraction:
    """The ramp at a value."""
    return max(Fraction(-1), min(Fraction(1), (x - middle) / half))
