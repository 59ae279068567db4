"""Kernels that saw the rows in their scales are judged without them."""

import numpy as np
import pytest

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.kernel import kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.cross_fit import block_without, by_block, cross_fitted, doubtful
from polyladder.estimators.selection.options import EFFORTS
from polyladder.estimators.selection.problem import Problem
from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.relevance import fit_relevance
from tests.estimators.selection.problems import problem_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 25))
NOISE = RNG.normal(size=(80, 1))
EFFORT = EFFORTS["low"]
GROUPS = np.arange(25)


def problem(y: np.ndarray, classes=None) -> Problem:
    return problem_of((y - y.mean()) / y.std(), classes, np.ones(80), np.arange(80), np.arange(80) % 4, 4)


def block(of: Problem) -> Block:
    relevance = fit_relevance(X, of.y, GROUPS, 2, steps=EFFORT.evidence_steps)
    directions = pick_directions(X, relevance, GROUPS, EFFORT.directions, np.random.default_rng(0), 2)
    return Block("standard", GROUPS, X, GROUPS, relevance, directions, directions.along(X))


@pytest.mark.slow
def test_noise_looks_predictable_only_to_scales_that_saw_it() -> None:
    of = problem(NOISE)
    trial, fit = kernel_by_rows(of, block(of), 2)
    (honest,) = cross_fitted(of, [trial], EFFORT, np.random.default_rng(0))
    assert fit.error < 0.9
    assert ((honest.left_out - of.y) ** 2).mean() > 0.98
    assert honest.coefficients is trial.coefficients  # only the judgment changes


@pytest.mark.slow
def test_a_signal_stays_one() -> None:
    of = problem(X[:, :1] * X[:, 1:2] + 0.05 * NOISE)
    trial, _ = kernel_by_rows(of, block(of), 2)
    (honest,) = cross_fitted(of, [trial], EFFORT, np.random.default_rng(0))
    assert ((honest.left_out - of.y) ** 2).mean() < 0.2


@pytest.mark.slow
def test_a_fold_is_predicted_by_a_fit_that_never_saw_its_targets() -> None:
    of = problem(NOISE)
    changed = of.y.copy()
    changed[of.fold == 2] += 5.0
    other = problem_of(changed, None, of.weight, of.chosen, of.fold, of.folds)
    trial, _ = kernel_by_rows(of, block(of), 2)
    before, after = (cross_fitted(p, [trial], EFFORT, np.random.default_rng(1))[0].left_out for p in (of, other))
    np.testing.assert_array_equal(before[of.fold == 2], after[of.fold == 2])
    assert np.abs(before - after)[of.fold != 2].max() > 0.1


@pytest.mark.slow
def test_classes_are_cross_fitted_with_their_ridge() -> None:
    classes = (NOISE > 0).astype(float)
    of = problem(NOISE, classes)
    trials = kernel_on_folds(of, block(of), 2, (3.0, 0.3))
    assert [t.ridge for t in trials] == [3.0, 0.3]
    strong, weak = cross_fitted(of, trials, EFFORT, np.random.default_rng(0))
    assert np.abs(strong.left_out).mean() < np.abs(weak.left_out).mean()
    assert ((strong.left_out > 0) == (classes > 0)).mean() < 0.65


@pytest.mark.slow
def test_few_rows_for_each_scale_are_doubtful() -> None:
    of = problem(NOISE)
    assert doubtful(of, block(of))
    without = block_without(of, block(of), np.arange(40), 2, EFFORT, np.random.default_rng(0))
    assert without.along.shape[0] == 40


@pytest.mark.slow
@pytest.mark.parametrize("orders", [(1, 2), (2, 2)])
def test_kernels_are_grouped_by_their_block(orders: tuple[int, int]) -> None:
    of = problem(NOISE)
    one, two = block(of), block(of)
    trials = [
        kernel_by_rows(of, one, orders[0])[0],
        kernel_by_rows(of, two, 2)[0],
        kernel_by_rows(of, one, orders[1])[0],
    ]
    assert [[t.order for t in group] for group in by_block(trials)] == [list(orders), [2]]
