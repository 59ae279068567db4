"""Selections by the Huber loss: gross errors in y pull little, and clean rows lose little."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_friedman1

from polyladder import LPNNRegressor, load
from polyladder.estimators.selection.kept import kept_error
from polyladder.polynomial.units import mean_of
from polyladder.training.losses.huber import Huber


def friedman(rows: int, gross: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, a tenth of them with gross errors, and clean rows to test on."""
    X, y = make_friedman1(rows + 1000, noise=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    train = y[:rows].copy()
    if gross:
        wrong = rng.permutation(rows)[: rows // 10]
        train[wrong] += rng.choice([-1, 1], len(wrong)) * rng.uniform(30, 100, len(wrong))
    return X[:rows], train, X[rows:], y[rows:]


def rmse(model: LPNNRegressor, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"order": 4}, {"order": 3, "solver": "adam", "max_iter": 30}])
def test_gross_errors_pull_little(settings: dict[str, object]) -> None:
    X, y, new, truth = friedman(400, gross=True)
    squared, huber = (
        rmse(LPNNRegressor(loss=loss, random_state=0, **settings).fit(X, y), new, truth)  # type: ignore[arg-type]
        for loss in ("squared", "huber")
    )
    # The noise of the rows that it is tested on is 1.
    assert huber < (1.3 if not settings else 3.5)
    assert huber < 0.6 * squared


@pytest.mark.slow
def test_clean_rows_lose_little() -> None:
    ratios = []
    for seed in range(3):
        X, y, new, truth = friedman(300, gross=False, seed=seed)
        squared, huber = (
            rmse(LPNNRegressor(loss=loss, effort="low", random_state=0).fit(X, y), new, truth)
            for loss in ("squared", "huber")
        )
        ratios.append(huber / squared)
    assert np.mean(ratios) < 1.03
    assert max(ratios) < 1.06


def test_candidates_are_judged_by_the_loss_and_the_kept_model_has_the_reported_error() -> None:
    X, y, _, _ = friedman(150, gross=True)
    model = LPNNRegressor(loss="huber", effort="low", random_state=0).fit(X, y)
    loss, selection = model.target_.loss, model.selection_
    assert isinstance(loss, Huber)
    assert selection.measure == "Huber loss"
    first, line = selection.candidates[0], selection.candidates[1]
    assert (first.model, line.model) == ("constant", "linear")
    # The constant is that of the loss: its reported error is the least that a constant can have.
    coded = model.target_.encode(y)
    assert first.error == pytest.approx(loss.deviance(torch.zeros_like(coded), coded))
    assert first.error <= loss.deviance(loss.constant(coded).expand_as(coded), coded) + 1e-9
    assert selection.error < line.error < first.error
    from polyladder.estimators.rows import TrainingRows

    rows = TrainingRows(model.inputs(X), coded, None, 1, loss)
    outputs = model.target_.guarded(mean_of(model.members_)(rows.z))
    assert kept_error(outputs, rows) <= 2 * selection.error


def test_a_linear_function_with_gross_errors_is_found_exactly(tmp_path: object) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    truth = 3 + X @ [1.0, -2.0, 0.5]
    y = truth + 0.01 * rng.normal(size=80)
    y[::9] = 1000.0
    model = LPNNRegressor(loss="huber", effort="low", random_state=0).fit(X, y)
    assert model.selection_.floor == "linear"
    assert np.abs(model.predict(X) - truth).max() < 0.05
    model.save(f"{tmp_path}/m.ladder")
    again = load(f"{tmp_path}/m.ladder")
    assert again.loss == "huber"
    assert again.target_.loss == model.target_.loss
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.slow
def test_many_rows_are_solved_on_all_of_them() -> None:
    X, y, new, truth = friedman(6000, gross=True)
    model = LPNNRegressor(loss="huber", effort="low", random_state=0).fit(X, y)
    assert rmse(model, new, truth) < 1.1


def test_several_targets_have_scales_of_their_own() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 2))
    truth = np.stack([X[:, 0], 100 * X[:, 1]], 1)
    y = truth + [0.1, 1.0] * rng.normal(size=(150, 2))
    y[::12, 0] += 50
    y[::15, 1] -= 5000
    model = LPNNRegressor(loss="huber", effort="low", random_state=0).fit(X, y)
    assert len(model.target_.loss.thresholds) == 2
    assert (np.sqrt(((model.predict(X) - truth) ** 2).mean(0)) < [0.1, 1.5]).all()
