"""Scales of rows by hand."""

import numpy as np
import pytest
import torch

from polyladder.fitted.plan import Feature
from polyladder.fitted.spread import MOST_GROWTH, GroupWidths, Spread
from polyladder.fitted.steps import Affine, Clip
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.predictive.conformal import Calibrated
from polyladder.tables.table import Table


def double(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


WIDTHS = Calibrated(double(0.5, 0.9), double(0.7, 1.6).unsqueeze(1))
ABOVE = Feature(0, (Clip(1.0, 2.0), Affine(1.0, 1.0)))


def spread(groups: GroupWidths | None = None, growth: float = 2.0) -> Spread:
    # log scale = z^2 - 1
    one = double(1.0).unsqueeze(0)
    ladder = LadderPolynomial((one,), (double(0.0),), (one,), (double(0.0),), one, double(-1.0))
    return Spread(
        ladder, double(-2.0), double(0.5), (ABOVE,), double(growth).unsqueeze(0), double(5.0), WIDTHS, 9, groups
    )


def table(*x: float, kind: tuple[str, ...] = ()) -> Table:
    kinds = np.array(kind or ("a",) * len(x), dtype=object)
    return Table(np.array(x)[:, None], {1: kinds}, (0,), ("x", "kind"))


def test_scales_are_held_inside_and_grow_beyond() -> None:
    x = [0.0, 1.0, 1.0, 1.5, 9.0]
    z = double(*x).clamp(max=1.0).unsqueeze(1)
    found = spread().scale(z, table(*x))[:, 0]
    expected = np.exp([-1.0, 0.0, 0.0, 0.0 + 1.0, 0.0 + 2.0])
    np.testing.assert_allclose(found, expected)
    assert float(spread().scale(double(3.0).unsqueeze(1), table(0.0))) == pytest.approx(np.exp(0.5))
    far = spread(growth=50.0).scale(double(1.0).unsqueeze(1), table(2.0))
    assert float(far) == pytest.approx(np.exp(MOST_GROWTH))


def test_groups_have_their_own_widths_and_others_the_general_ones() -> None:
    own = Calibrated(WIDTHS.levels, 2 * WIDTHS.widths)
    grouped = spread(GroupWidths(1, {"b": own}))
    rows = table(0.0, 0.0, kind=("a", "b"))
    z = double(0.0, 0.0).unsqueeze(1)
    scale = grouped.scale(z, rows)
    low, high = grouped.predictive(double(3.0, 3.0).unsqueeze(1), scale, rows, True).interval(0.9)
    np.testing.assert_allclose((high - low) / 2, np.exp(-1.0) * np.array([1.6, 3.2]))
    np.testing.assert_allclose((high + low) / 2, 3.0)


def test_wider_is_a_multiple_everywhere() -> None:
    x = [0.0, 0.7, 3.0]
    z = double(*x).clamp(max=1.0).unsqueeze(1)
    np.testing.assert_allclose(spread().widened(double(1.5)).scale(z, table(*x)), 1.5 * spread().scale(z, table(*x)))
