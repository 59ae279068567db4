"""Shares against SciPy's constrained optimizer."""

import numpy as np
import pytest
from scipy.optimize import minimize

from polyladder.training.simplex import best_shares

RNG = np.random.default_rng(0)
COLUMNS, GOAL = RNG.standard_normal((40, 4)), RNG.standard_normal(40) + 1


def value(shares: np.ndarray) -> tuple[float, np.ndarray]:
    missed = COLUMNS @ shares - GOAL
    return float(missed @ missed) / 40, 2 * COLUMNS.T @ missed / 40


def test_shares_are_those_of_a_constrained_optimizer() -> None:
    found = best_shares(value, np.full(4, 0.25))
    known = minimize(
        lambda w: value(w)[0],
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    assert value(found)[0] <= known.fun + 1e-5


def test_a_share_of_zero_stays_zero() -> None:
    assert best_shares(value, np.array([0.0, 0.5, 0.25, 0.25]))[0] == 0.0
