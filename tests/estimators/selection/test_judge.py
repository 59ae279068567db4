"""What counts: left-out rows decide, and nothing beyond a line counts unless it beats the line by more than chance."""

import numpy as np
import pytest

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators.selection.candidates.constant import Constant
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import Linear
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.judge import CAUTION, SURE, better, judged, narrowed, row_losses, simplest
from polyladder.estimators.selection.options import EFFORTS
from polyladder.estimators.selection.problem import Problem
from tests.estimators.selection.problems import problem_of
from tests.ladders import random_ladder

RNG = np.random.default_rng(5)
Y = RNG.normal(size=(200, 1))


def problem(classes=None) -> Problem:
    return problem_of(Y, classes, np.ones(200), np.arange(200), np.arange(200) % 5, 5)


class Other(Trial):
    """A kernel or a ladder, of which judging needs only what it predicts."""

    def add_to(self, total: object, weight: float) -> None:
        raise NotImplementedError


def trial(model: str, left_out: np.ndarray) -> Trial:
    if model == "constant":
        return Constant("standard", 0, left_out, left_out[0])
    if model == "linear":
        return Linear("standard", 1, left_out, np.zeros((1, 1)), np.zeros(1), np.arange(1), 1.0)
    return Other("standard", 1, left_out)


def test_better_is_more_than_chance() -> None:
    loss, noise = RNG.uniform(1, 2, 400), RNG.normal(size=400)
    assert better(loss, loss + 0.5 + noise, np.ones(400))
    assert not better(loss, loss + noise - noise.mean() + 1e-3, np.ones(400))
    assert not better(loss, loss, np.ones(400))


def test_few_rows_of_classes_must_be_surer() -> None:
    rng = np.random.default_rng(4)
    goal = (rng.random((40, 1)) < 0.5).astype(float)
    rows = problem_of(goal, goal, np.ones(40), np.arange(40), np.arange(40) % 5, 5)
    constant, scores = np.zeros((40, 1)), 2 * goal - 1 + 1.6 * rng.normal(size=(40, 1))
    trials, weights = [trial("constant", constant), trial("kernel", scores)], np.array([0.5, 0.5])
    gain = row_losses(rows, trials, np.array([1.0, 0.0])) - row_losses(rows, trials, weights)
    error = gain.std() / np.sqrt(40)
    assert SURE < gain.mean() / error < SURE * (1 + CAUTION / 40)  # enough for numbers
    np.testing.assert_array_equal(simplest(rows, trials, [weights]), [1.0, 0.0])


def test_a_line_that_does_as_well_is_taken_alone() -> None:
    line, kernel = Y + 0.3 * RNG.normal(size=Y.shape), Y + 0.3 * RNG.normal(size=Y.shape)
    same = [trial("linear", line), trial("kernel", line + 1e-6 * RNG.normal(size=Y.shape))]
    assert simplest(problem(), same, [np.array([0.5, 0.5])])[1] == 0.0
    apart = [trial("linear", line), trial("kernel", kernel)]
    np.testing.assert_array_equal(simplest(problem(), apart, [np.array([0.5, 0.5])]), [0.5, 0.5])


def test_a_clear_line_of_few_rows_is_not_taken_for_chance() -> None:
    """One row far out makes the standard error of the gain as large as the gain itself."""
    y = np.r_[0.1 * RNG.normal(size=(11, 1)), [[9.0]]]
    few = problem_of(y, None, np.ones(12), np.arange(12), np.arange(12) % 3, 3)
    line = trial("linear", y + 0.02 * RNG.normal(size=y.shape))
    assert not better(row_losses(few, [line], np.ones(1)), row_losses(few, [line], np.zeros(1)), np.ones(12))
    assert simplest(few, [line], [np.ones(1)])[0] == pytest.approx(1, abs=0.01)


def test_what_beats_an_exact_line_in_the_last_digits_does_not_count() -> None:
    line = Y * (1 + 1e-13)
    trials = [trial("linear", line), trial("kernel", Y.copy())]
    np.testing.assert_allclose(simplest(problem(), trials, [np.array([0.0, 1.0])]), [1.0, 0.0], atol=1e-9)


def test_what_is_no_better_than_the_mean_is_the_mean() -> None:
    trials = [trial("linear", RNG.normal(size=Y.shape)), trial("kernel", RNG.normal(size=Y.shape))]
    assert not simplest(problem(), trials, [np.array([0.1, 0.1])]).any()


def test_where_ladders_disappoint_the_others_still_count() -> None:
    """Their scatter was taken for more than it is, so that they have nearly all weight; rows left out say otherwise."""
    wrong, own, other = RNG.normal(size=(3, *Y.shape))
    line, kernel = trial("linear", Y + 0.5 * wrong), trial("kernel", Y + 0.4 * wrong + 0.1 * own)
    left_out = Y + 0.5 * wrong + 0.3 * other
    ladders = LadderTrial("standard", 4, left_out, np.arange(1), random_ladder(1, (2,), 1), excess=0.3)
    no_block = None  # it tells kernels apart, of which there are none
    _, trials, weights = judged(problem(), [line, kernel, ladders], no_block, EFFORTS["default"], RNG)
    counts = {type(each).__name__ for each, weight in zip(trials, weights, strict=True) if weight > 0}
    assert "Other" in counts
    assert "LadderTrial" not in counts


def test_rows_that_one_candidate_does_not_predict_are_not_compared() -> None:
    part = np.where(np.arange(200)[:, None] % 4 == 0, Y, np.nan)
    some, trials = narrowed(problem(), [trial("linear", Y + 1), trial("ladder", part)])
    assert some.chosen.tolist() == list(range(0, 200, 4))
    assert some.fold.tolist() == [i % 5 for i in range(0, 200, 4)]
    np.testing.assert_array_equal(trials[0].left_out, Y[::4] + 1)
    np.testing.assert_array_equal(trials[1].left_out, some.goal)
    assert narrowed(problem(), [trial("linear", Y)])[0].chosen.tolist() == list(range(200))


def test_losses_of_rows_average_to_the_loss() -> None:
    classes = (Y > 0).astype(float)
    found = row_losses(problem(classes), [trial("linear", Y)], np.ones(1))
    p = 1 / (1 + np.exp(-Y[:, 0]))
    np.testing.assert_allclose(found, -np.log(np.where(classes[:, 0] > 0, p, 1 - p)))


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns"), [(40, 8), (100, 30)])
def test_few_rows_of_noise_are_not_believed(rows: int, columns: int) -> None:
    ratios, losses = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(rows + 500, columns)), rng.normal(size=rows + 500)
        model = LPNNRegressor(random_state=0).fit(X[:rows], y[:rows])
        error, constant = model.predict(X[rows:]) - y[rows:], y[:rows].mean() - y[rows:]
        ratios.append(np.sqrt((error**2).mean() / (constant**2).mean()))
        classes = (y > 0).astype(int)
        p = LPNNClassifier(random_state=0).fit(X[:rows], classes[:rows]).predict_proba(X[rows:])
        losses.append(-np.log(p[np.arange(500), classes[rows:]]).mean())
    assert np.mean(ratios) < 1.03
    assert np.mean(losses) < 1.05 * np.log(2)
    assert np.max(losses) < 1.2 * np.log(2)


def test_a_clean_line_is_followed_beyond_the_rows() -> None:
    X = RNG.normal(size=(60, 5))
    slopes = np.array([1.0, -2.0, 0.5, 0.0, 1.5])
    model = LPNNRegressor(random_state=0).fit(X, X @ slopes + 0.1 * RNG.normal(size=60))
    new = 1.5 * RNG.normal(size=(500, 5))
    assert np.sqrt(np.mean((model.predict(new) - new @ slopes) ** 2)) < 0.25
