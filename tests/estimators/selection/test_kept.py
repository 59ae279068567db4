"""The kept model is held to what is reported of it."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.found import Selection
from polyladder.estimators.selection.kept import MORE, TIMES, check_kept, kept_error
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 2))


def numbers(y: np.ndarray, weight: np.ndarray | None = None) -> TrainingRows:
    given = None if weight is None else torch.from_numpy(weight)
    return TrainingRows(torch.zeros(len(y), 1), torch.from_numpy(y), given, y.shape[1], SQUARED)


def test_the_error_of_numbers_is_the_weighted_mean_square() -> None:
    y, f, weight = RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2)), RNG.uniform(size=30)
    expected = np.average(((f - y) ** 2).mean(1), weights=weight)
    assert kept_error(torch.from_numpy(f), numbers(y, weight)) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_error_of_classes_is_the_log_loss(classes: int) -> None:
    labels, scores = RNG.integers(0, classes, 30), RNG.normal(size=(30, 1 if classes == 2 else classes))
    rows = TrainingRows(
        torch.zeros(30, 1), torch.from_numpy(labels), None, scores.shape[1], Logistic() if classes == 2 else Softmax()
    )
    both = np.c_[np.zeros(30), scores] if classes == 2 else scores
    p = np.exp(both) / np.exp(both).sum(1, keepdims=True)
    assert kept_error(torch.from_numpy(scores), rows) == pytest.approx(log_loss(labels, p, labels=range(classes)))


@pytest.mark.parametrize("error", [0.0, 0.3])
def test_a_model_that_is_worse_than_reported_is_refused(error: float) -> None:
    y, reported = np.zeros((20, 1)), Selection("share of variance", (), error, 20, 5)
    limit = (TIMES * error + MORE) ** 0.5
    check_kept(torch.full((20, 1), 0.99 * limit), numbers(y), reported)
    with pytest.raises(RuntimeError, match="must predict the 20 compared rows about as well"):
        check_kept(torch.full((20, 1), 1.01 * limit), numbers(y), reported)
    with pytest.raises(RuntimeError, match="it has nan"):
        check_kept(torch.full((20, 1), torch.nan), numbers(y), reported)


def test_every_selection_is_held_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong between comparing and keeping: here the sum loses its parts."""
    right = Total.parts
    monkeypatch.setattr(Total, "parts", lambda total: right(Total(total.inputs, total.outputs)))
    with pytest.raises(RuntimeError, match="it has 1"):
        LPNNRegressor(effort="low", random_state=0).fit(X, X[:, 0])
    with pytest.raises(RuntimeError, match="with a Huber loss of"):
        LPNNRegressor(effort="low", loss="huber", random_state=0).fit(X, X[:, 0])
    with pytest.raises(RuntimeError, match="log loss"):
        LPNNClassifier(effort="low", random_state=0).fit(X, X[:, 0] > 0)
