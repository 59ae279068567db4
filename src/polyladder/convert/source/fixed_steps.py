"""Elementary steps with integers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.convert.exported.ranges import Array
from polyladder.convert.source.fixed_point import Fixed, bits_after_point, constant
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Ramp, Step


@dataclass
class FixedNumber:
    """The number x between steps: bits behind its point, largest size and error."""

    point: int
    size: float
    error: float


def features_text(model: FittedModel, points: list[int], sizes: Array, bits: int) -> tuple[list[str], Fixed]:
    """Statements that write the inputs of the ladders to z, and what those are.

    Args:
        model: to be rendered.
        points: bits behind the point, of each column.
        sizes: largest size of each input. Shape (d,).
        bits: of a word.
    """
    # One scale for all of them, as one sum reads them all.
    point = bits_after_point(float(sizes.max()), bits)
    lines: list[str] = []
    errors = []
    for at, feature in enumerate(model.steps):
        start = points[feature.column]
        value = FixedNumber(start, math.inf, 2.0 ** -(start + 1))
        lines.append(f"    x = row[{feature.column}];")
        for step in feature.steps:
            lines += step_lines(step, value, model.columns[feature.column].categories, f"row[{feature.column}]", bits)
        lines.append(f"    z[{at}] = rounded(x, {value.point - point});")
        errors.append(value.error + (2.0 ** -(point + 1) if value.point > point else 0.0))
    return lines, Fixed(point, sizes, np.array(errors))


def step_lines(step: Step, value: FixedNumber, categories: Sequence[str | None], row: str, bits: int) -> list[str]:
    """Statements of one step about x; ``value`` is brought up to date."""
    missing = f"{row} == INT{bits}_MIN"
    match step:
        case Fill(filled):
            value.error = max(value.error, 2.0 ** -(value.point + 1))
            return [f"    if ({missing}) x = {constant(round(math.ldexp(filled, value.point)))};"]
        case Blank():
            # Such a number need not fit into a word; the header says to use the smallest word instead.
            return []
        case Clip(low, high):
            return clip(value, low, high)
        case Affine(shift, scale):
            return affine(value, shift, scale, bits)
        case Ramp(low, high):
            return [*clip(value, low, high), *affine(value, low, high - low, bits)]
        case IsMissing():
            value.point, value.size, value.error = 0, 1.0, 0.0
            return [f"    x = {missing} ? 1 : 0;"]
        case IsCategory(category):
            value.point, value.size, value.error = 0, 1.0, 0.0
            return [f"    x = x == {categories.index(category)} ? 1 : 0;"]
        case _:
            raise ValueError(
                f"Fixed point must have features of few linear pieces; {type(step).__name__} is not of that kind. "
                "Fit with features='standard'."
            )


def clip(value: FixedNumber, low: float, high: float) -> list[str]:
    """Hold x; the thresholds are rounded as well."""
    a, b = (constant(round(math.ldexp(v, value.point))) for v in (low, high))
    # Clipping to other thresholds changes a number by at most the change of the number or of the thresholds.
    value.error = max(value.error, 2.0 ** -(value.point + 1))
    value.size = max(abs(low), abs(high))
    return [f"    x = x < {a} ? {a} : x > {b} ? {b} : x;"]


def affine(value: FixedNumber, shift: float, scale: float, bits: int) -> list[str]:
    """(x - shift) / scale: the difference first, which is exact, then one multiplication."""
    moved = round(math.ldexp(shift, value.point))
    error = value.error + abs(math.ldexp(moved, -value.point) - shift)
    size = value.size + abs(shift) + error
    # The factor fills what the difference leaves of a double word.
    reach = math.ceil(math.log2(max(math.ldexp(size, value.point), 1.0))) + 1
    weight = bits_after_point(abs(1 / scale), min(bits, 2 * bits - 2 - reach))
    factor = round(math.ldexp(1 / scale, weight))
    lost = abs(math.ldexp(factor, -weight) - 1 / scale)
    value.error = (error * abs(math.ldexp(factor, -weight)) + size * lost) * (1 + 1e-9)
    value.size = size / abs(scale)
    lines = [f"    x = (x - {constant(moved)}) * {constant(factor)};"]
    fits = bits_after_point(value.size, bits)
    if value.point + weight > fits:
        lines.append(f"    x = rounded(x, {value.point + weight - fits});")
        value.error += 2.0 ** -(fits + 1)
    value.point = min(value.point + weight, fits)
    return lines
