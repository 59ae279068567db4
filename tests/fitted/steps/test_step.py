"""Every step against what does not share its derivation: finite differences, sampling, bisection."""

from itertools import pairwise

import numpy as np
import pytest

from polyladder.fitted import steps as room
from polyladder.fitted.steps import (
    STEPS,
    Affine,
    Blank,
    Clip,
    Cyclic,
    Fill,
    IsMissing,
    Quantile,
    Ramp,
    Step,
    YeoJohnson,
)
from polyladder.fitted.steps.quantile import quantile_step

RISING: dict[str, Step] = {
    "affine": Affine(0.3, 2.0),
    "clip": Clip(-1.0, 2.0),
    "fill": Fill(0.5),
    "blank": Blank(-999.0),
    "ramp": Ramp(-0.5, 1.5),
    "yeo-johnson": YeoJohnson(0.4),
    "yeo-johnson, logarithms": YeoJohnson(0.0),
    "yeo-johnson, the other": YeoJohnson(2.0),
    "yeo-johnson, bounded": YeoJohnson(-1.5),
    "quantile": quantile_step([-2.0, -1.0, -1.0, 0.5, 2.5], [0.0, 0.2, 0.5, 0.6, 1.0]),
}

TURNING: dict[str, Step] = {"sine": Cyclic(5.0, 0.0), "cosine": Cyclic(2.2, -0.55), "slow": Cyclic(400.0, 3.0)}
"""Steps that rise and fall."""

ALL = RISING | TURNING

X = np.linspace(-2.9, 2.9, 233)


def test_every_step_is_tried_here() -> None:
    tried = {type(step) for step in ALL.values()} | {IsMissing, room.IsCategory}
    assert tried == set(STEPS.values())
    assert {"Step", "STEPS", *STEPS} == set(room.__all__)


@pytest.mark.parametrize("name", ALL)
def test_slopes_are_finite_differences_but_at_breaks(name: str) -> None:
    step, h = ALL[name], 1e-6
    breaks = step.breaks(-3.0, 3.0)
    away = np.array([x for x in X if all(abs(x - b) > 1e-3 for b in breaks)])
    found = (step.apply(away + h) - step.apply(away - h)) / (2 * h)
    np.testing.assert_allclose(step.slope(away), found, rtol=1e-6, atol=1e-7)
    # A break is where slopes, or values, differ on its two sides.
    for b in breaks:
        left, right = (step.slope(np.array([b + side * 1e-5]))[0] for side in (-1, 1))
        jump = step.apply(np.array([b + 1e-9]))[0] - step.apply(np.array([b - 1e-9]))[0]
        assert abs(left - right) > 1e-3 or abs(jump) > 1e-3


@pytest.mark.parametrize("name", ALL)
def test_an_inverse_leads_back_to_the_value(name: str) -> None:
    step = ALL[name]
    y = step.apply(X)
    np.testing.assert_allclose(step.apply(step.inverse(y)), y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", RISING)
def test_a_span_holds_all_values_and_is_met(name: str) -> None:
    step = RISING[name]
    for low, high in ((-2.9, 2.9), (-1.5, 0.1), (0.2, 0.2)):
        values = step.apply(np.linspace(low, high, 501))
        least, most = step.span(low, high)
        assert least <= values.min() <= values.max() <= most
        if not isinstance(step, Fill):
            assert (least, most) == (values[0], values[-1])
    least, most = step.span(-np.inf, np.inf)
    assert least <= step.apply(X).min()
    assert step.apply(X).max() <= most


@pytest.mark.parametrize("name", ALL)
def test_a_straight_step_is_affine_between_its_breaks(name: str) -> None:
    step = ALL[name]
    ends = [-2.9, *step.breaks(-2.9, 2.9), 2.9]
    bends = []
    for low, high in pairwise(ends):
        inner = np.linspace(low, high, 7)[1:-1]
        bends.append(np.abs(np.diff(step.apply(inner), 2)).max())
    assert (max(bends) < 1e-12) == step.straight


def test_what_is_missing() -> None:
    nothing = np.array([np.nan, 1.0, -999.0])
    assert np.isnan(Blank(-999.0).apply(nothing)).tolist() == [True, False, True]
    assert Fill(7.0).apply(nothing).tolist() == [7.0, 1.0, -999.0]
    assert Fill(7.0).span(0.0, 1.0) == (0.0, 7.0)
    assert IsMissing().apply(nothing).tolist() == [1.0, 0.0, 0.0]
    for step in (Clip(0.0, 1.0), Affine(1.0, 2.0), RISING["quantile"]):
        assert np.isnan(step.apply(nothing))[0]


@pytest.mark.parametrize("kind", [kind for kind in STEPS.values() if kind is not room.IsCategory])
def test_steps_of_one_kind_are_taken_together(kind: type[Step]) -> None:
    many = {
        Affine: [Affine(0.1, 2.0), Affine(-3.0, 0.5)],
        Clip: [Clip(-1.0, 1.0), Clip(0.0, 2.0)],
        Cyclic: [Cyclic(24.0, 0.0), Cyclic(7.0, -1.75)],
        Fill: [Fill(0.5), Fill(-1.0)],
        Blank: [Blank(1.0), Blank(2.0)],
        Ramp: [Ramp(0.0, 1.0), Ramp(-2.0, -1.0)],
        YeoJohnson: [YeoJohnson(0.4), YeoJohnson(2.0)],
        Quantile: [RISING["quantile"], quantile_step([0.0, 1.0], [0.0, 1.0])],
        IsMissing: [IsMissing(), IsMissing()],
    }[kind]
    x = np.stack([X, X[::-1]])
    x[0, 3] = np.nan
    expected = np.stack([step.apply(row) for step, row in zip(many, x, strict=True)])
    assert np.array_equal(kind.together(many)(x.copy()), expected, equal_nan=True)
