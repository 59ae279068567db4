"""The factor of scores, against the truth of simulated classes and the losses of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from polyladder.estimators.selection.sureness import MOST, sureness
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax

Drawn = tuple[Loss, np.ndarray, np.ndarray, np.ndarray]


def drawn(n: int, classes: int, seed: int = 0) -> Drawn:
    """A loss, scores that are right, and labels that were drawn from them; these coded as well."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.normal(size=(n, 1 if classes == 2 else classes))
    labels = (probabilities(scores).cumsum(1) < rng.random((n, 1))).sum(1)
    coded = np.eye(classes)[labels]
    return (Logistic(), scores, coded[:, 1:], labels) if classes == 2 else (Softmax(), scores, coded, labels)


def probabilities(scores: np.ndarray) -> np.ndarray:
    all_scores = np.c_[np.zeros(len(scores)), scores] if scores.shape[1] == 1 else scores
    grown = np.exp(all_scores - all_scores.max(1, keepdims=True))
    return np.asarray(grown / grown.sum(1, keepdims=True))


def loss_at(scores: np.ndarray, labels: np.ndarray) -> float:
    p = probabilities(scores)
    return float(log_loss(labels, p, labels=range(p.shape[1])))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("times", [0.5, 2.5])
def test_scores_that_are_a_multiple_of_the_truth_are_divided_by_it(classes: int, times: float) -> None:
    loss, scores, coded, labels = drawn(6000, classes)
    factor = sureness(loss, times * scores, coded, np.ones(len(scores)))
    assert factor == pytest.approx(1 / times, rel=0.05)
    others = [loss_at(f * times * scores, labels) for f in np.geomspace(0.9, 1.1, 9) / times]
    assert loss_at(factor * times * scores, labels) < min(others) + 1e-4


@pytest.mark.parametrize("n", [60, 300, 3000])
def test_what_is_right_is_mostly_left_alone_and_never_moved_far(n: int) -> None:
    """A gain above chance by chance has a chance of 0.32, less where few rows are believed less."""
    found = [sureness(*drawn(n, 2, seed)[:3], np.ones(n)) for seed in range(40)]
    assert np.mean([factor == 1 for factor in found]) > 0.55
    assert np.abs(np.log(found)).mean() < 1.5 / np.sqrt(n)


@pytest.mark.slow
def test_new_rows_gain_by_it_in_the_mean() -> None:
    """Whatever scores are multiples of, the factor of some rows does others good, and no harm where it is 1."""
    for times, least in ((2.0, 0.02), (1.0, -2e-3), (0.6, 0.005)):
        gains = []
        for seed in range(20):
            loss, scores, coded, labels = drawn(1150, 3, seed)
            factor = sureness(loss, times * scores[:150], coded[:150], np.ones(150))
            new = times * scores[150:]
            gains.append(loss_at(new, labels[150:]) - loss_at(factor * new, labels[150:]))
        assert np.mean(gains) > least


def test_the_factor_lies_between_1_and_the_best_so_that_the_loss_falls() -> None:
    for seed in range(10):
        loss, scores, coded, labels = drawn(200, 3, seed)
        factor = sureness(loss, 1.4 * scores, coded, np.ones(200))
        assert loss_at(factor * 1.4 * scores, labels) <= loss_at(1.4 * scores, labels)


def test_it_is_bounded() -> None:
    loss, scores, coded, _ = drawn(3000, 2)
    assert 1 / MOST <= sureness(loss, 50 * scores, coded, np.ones(3000)) < 1.02 / MOST
    assert 0.98 * MOST < sureness(loss, scores / 50, coded, np.ones(3000)) <= MOST
    assert 1 / MOST <= sureness(loss, -scores, coded, np.ones(3000)) < 1.02 / MOST


def test_a_few_rows_that_are_all_right_are_not_certain() -> None:
    """The chance of the next one to be right is about (n + 1) / (n + 2), and the factor respects that."""
    n = 20
    coded = (np.arange(n) % 2)[:, None].astype(float)
    factor = sureness(Logistic(), 3.0 * (2 * coded - 1), coded, np.ones(n))
    assert 1 <= factor * 3.0 <= np.log(2 * n + 3) + 1e-3  # the log-odds of 1 - 1 / (2 (n + 2))


def test_scores_that_say_nothing_and_single_rows_are_left_alone() -> None:
    assert sureness(Softmax(), np.zeros((50, 3)), np.eye(3)[np.arange(50) % 3], np.ones(50)) == 1
    assert sureness(Logistic(), np.ones((2, 1)), np.ones((2, 1)), np.ones(2)) == 1


def test_of_weights_the_ratios_count() -> None:
    loss, scores, coded, _ = drawn(400, 2)
    weight = np.random.default_rng(1).integers(0, 3, 400).astype(float)
    factor = sureness(loss, 3 * scores, coded, weight)
    assert sureness(loss, 3 * scores, coded, 7 * weight) == pytest.approx(factor, rel=1e-3)
    wrong = 3 * scores * np.where(weight > 0, 1, -1)[:, None]
    assert sureness(loss, wrong, coded, weight) == pytest.approx(factor, rel=1e-3)
    assert sureness(loss, wrong, coded, np.ones(400)) < factor
