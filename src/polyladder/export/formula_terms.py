"""Terms of a formula that are the same, or zero, at every row: indicators multiply simply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from polyladder.convert.exported.ranges import feature_range
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Fill, IsCategory, IsMissing

Powers = tuple[tuple[int, int], ...]
"""Inputs by their number, and their powers."""


def span(feature: Feature) -> tuple[float, float]:
    """(middle, half width) of a transformed feature; an indicator stays as it is."""
    low, high = feature_range(feature)
    return (0.0, 1.0) if (low, high) == (0.0, 1.0) else ((low + high) / 2, (high - low) / 2)


def filled(feature: Feature, middle: float, half: float) -> float | None:
    """What a number, mapped by a middle and a half width, is where its column is missing; None where it cannot be."""
    if not feature.steps or not isinstance(feature.steps[0], Fill):
        return None
    x = np.array([np.nan])
    for step in feature.steps:
        x = step.apply(x)
    return (float(x[0]) - middle) / half


def reduced(model: FittedModel, powers: Powers, ranges: Sequence[tuple[float, float]]) -> tuple[float, Powers] | None:
    """The simplest monomial that equals this one at every row, and the factor between them; None if it is zero.

    An indicator is its own square; a row has one category of a column; and a number whose column is missing is what is
    filled in.
    """
    steps = [model.steps[i].steps[-1:] for i, _ in powers]
    missing = {model.steps[i].column for (i, _), last in zip(powers, steps, strict=True) if last == (IsMissing(),)}
    chosen: set[int] = set()
    factor, left = 1.0, []
    for (i, power), last in zip(powers, steps, strict=True):
        feature = model.steps[i]
        if last and isinstance(last[0], IsCategory):
            if feature.column in chosen:
                return None
            chosen.add(feature.column)
            left.append((i, 1))
        elif last == (IsMissing(),):
            left.append((i, 1))
        elif feature.column in missing and (value := filled(feature, *ranges[i])) is not None:
            factor *= value**power
        else:
            left.append((i, power))
    return factor, tuple(left)


def merged(
    model: FittedModel, monomials: Sequence[Powers], values: Tensor, ranges: Sequence[tuple[float, float]]
) -> tuple[list[Powers], Tensor]:
    """The same polynomial with fewer monomials.

    Args:
        model: whose features are mapped.
        monomials: one for each row of values.
        values: coefficients. Shape (terms, m).
        ranges: (middle, half width) by which each feature is mapped.

    Returns:
        Monomials and their coefficients. Shape (fewer terms, m).
    """
    places: dict[Powers, int] = {}
    rows, target, factors = [], [], []
    for row, powers in enumerate(monomials):
        found = reduced(model, powers, ranges)
        if found is not None:
            rows.append(row)
            factors.append(found[0])
            target.append(places.setdefault(found[1], len(places)))
    scaled = values[rows] * torch.tensor(factors, dtype=values.dtype).unsqueeze(-1)
    total = values.new_zeros(len(places), values.shape[1]).index_add(0, torch.tensor(target), scaled)
    return list(places), total
