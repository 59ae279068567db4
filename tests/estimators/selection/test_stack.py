"""Weights of a sum, against general optimizers."""

import numpy as np
import pytest
import torch
from scipy.optimize import lsq_linear, minimize
from sklearn.metrics import log_loss as reference_loss

from polyladder.estimators.selection.stack import SMOOTHING, stack_bounded, stack_numbers, stack_scores
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED

RNG = np.random.default_rng(6)


def test_numbers_are_stacked_by_least_squares() -> None:
    y, weight = RNG.normal(size=(50, 2)), RNG.uniform(0.5, 2, size=50)
    models = [y + RNG.normal(size=y.shape), 0.5 * y + RNG.normal(size=y.shape), -y + RNG.normal(size=y.shape)]
    found = stack_numbers(models, y, weight)
    root = np.sqrt(weight)[:, None]
    columns = np.stack([(m * root).ravel() for m in models], 1)
    np.testing.assert_allclose(found, lsq_linear(columns, (y * root).ravel(), (0, np.inf)).x, atol=1e-5)
    assert found[2] == 0


def test_where_nothing_helps_the_mean_is_left() -> None:
    y = RNG.normal(size=(50, 1))
    np.testing.assert_array_equal(stack_numbers([-y, np.zeros_like(y)], y, np.ones(50)), [0, 0])


def test_many_models_that_predict_alike_are_not_all_dropped() -> None:
    y = RNG.normal(size=(300, 1))
    models = [y + 1e-6 * RNG.normal(size=y.shape) for _ in range(13)]
    found = stack_numbers(models, y, np.ones(300), 0.1)
    assert found.sum() == pytest.approx(1)
    assert (found[found > 0] >= 0.1).all()


def test_an_exact_model_keeps_its_whole_weight() -> None:
    y = RNG.normal(size=(100, 1))
    np.testing.assert_allclose(stack_numbers([y], y, np.ones(100)), [1.0], rtol=1e-14)
    np.testing.assert_array_equal(stack_numbers([np.zeros_like(y)], y, np.ones(100)), [0.0])


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_are_stacked_by_log_loss(classes: int) -> None:
    labels = RNG.integers(0, classes, size=120)
    coded = np.eye(classes)[labels][:, 1:] if classes == 2 else np.eye(classes)[labels]
    weight = RNG.uniform(0.5, 2, size=120)
    models = [2 * coded + RNG.normal(size=coded.shape) - 1, coded + 2 * RNG.normal(size=coded.shape), 0 * coded]
    price = np.array([0.0, 0.01, 0.0])
    by = Logistic() if classes == 2 else Softmax()
    found = stack_scores(by, models, coded, weight, price)
    assert found.sum() == pytest.approx(1)
    target = torch.from_numpy((1 - SMOOTHING) * coded + SMOOTHING / max(2, coded.shape[1]))

    def loss(w):
        f = torch.from_numpy(np.tensordot(w, np.stack(models), 1))
        return by.deviance(f, target, torch.from_numpy(weight)) + price @ w

    other = minimize(
        loss, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints={"type": "eq", "fun": lambda w: w.sum() - 1}
    )
    assert loss(found) < other.fun + 1e-3


@pytest.mark.parametrize("classes", [2, 4])
def test_the_log_loss_is_scikit_learns(classes: int) -> None:
    labels, scores = RNG.integers(0, classes, size=40), RNG.normal(size=(40, 1 if classes == 2 else classes))
    coded = np.eye(classes)[labels][:, 1:] if classes == 2 else np.eye(classes)[labels]
    by, f = Logistic() if classes == 2 else Softmax(), torch.from_numpy(scores)
    p = (f.sigmoid() if classes == 2 else f.softmax(-1)).numpy()
    p = np.c_[1 - p, p] if classes == 2 else p
    assert by.deviance(f, torch.from_numpy(coded)) == pytest.approx(reference_loss(labels, p, labels=range(classes)))


def test_by_a_loss_with_a_bound_the_sum_is_where_a_general_optimizer_ends() -> None:
    truth, weight, loss = RNG.normal(size=(90, 1)), RNG.uniform(0.5, 2, size=90), Huber((0.3,))
    y = truth + 0.1 * RNG.standard_cauchy(size=truth.shape)
    models = [truth + 0.5 * RNG.normal(size=truth.shape), 0.5 * truth + 0.5 * RNG.normal(size=truth.shape), -truth]
    found = stack_bounded(loss, models, y, weight)

    def value(w: np.ndarray) -> float:
        f = torch.from_numpy(np.tensordot(w, np.stack(models), 1))
        return loss.deviance(f, torch.from_numpy(y), torch.from_numpy(weight))

    other = minimize(value, np.full(3, 0.3), bounds=[(0, None)] * 3)
    np.testing.assert_allclose(found, other.x, atol=0.02)
    assert value(found) < other.fun * 1.001
    assert found[2] == 0
    np.testing.assert_array_equal(stack_bounded(SQUARED, models, y, weight), stack_numbers(models, y, weight))


def test_scatter_that_the_final_model_lacks_does_not_count_against_it() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=(20_000, 1))
    truth, other = 0.9 * y + 0.3 * rng.normal(size=y.shape), 0.8 * y + 0.3 * rng.normal(size=y.shape)
    few = truth + 0.4 * rng.normal(size=y.shape)  # the mean of few ladders; that of many is the truth
    wanted = stack_numbers([truth, other], y, np.ones(len(y)))
    found = stack_numbers([few, other], y, np.ones(len(y)), excess=np.array([0.4**2, 0.0]))
    plain = stack_numbers([few, other], y, np.ones(len(y)))
    np.testing.assert_allclose(found, wanted, atol=0.02)
    assert abs(plain[0] - wanted[0]) > 0.2


def test_more_scatter_than_there_is_cannot_make_weights_explode() -> None:
    y = np.random.default_rng(2).normal(size=(50, 1))
    weights = stack_numbers([0.5 * y, 0.4 * y], y, np.ones(50), excess=np.array([10.0, 0.0]))
    assert np.isfinite(weights).all()
