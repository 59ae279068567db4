"""The choice as a whole: floors, what it finds, and that its ladders are its sum."""

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss

from polyladder import LPNNClassifier, LPNNRegressor, load
from polyladder.estimators.selection import select
from polyladder.estimators.selection.select import EXACT, HIGHEST, RANGE_ROWS, SCALING_ROWS, neighbors

RNG = np.random.default_rng(9)


def test_noise_is_left_to_the_mean() -> None:
    X, y = RNG.normal(size=(80, 6)), RNG.normal(size=80)
    model = LPNNRegressor(effort="low", random_state=0).fit(X, y)
    new = RNG.normal(size=(500, 6))
    assert np.abs(model.predict(new) - y.mean()).mean() < 0.35


def test_a_line_stays_a_line() -> None:
    X = RNG.normal(size=(60, 3))
    model = LPNNRegressor(effort="low", random_state=0).fit(X, X @ [1.0, -2.0, 0.5] + 0.3 * RNG.normal(size=60))
    inside = RNG.uniform(-1, 1, size=(300, 3))
    np.testing.assert_allclose(model.predict(inside), inside @ [1.0, -2.0, 0.5], atol=0.5)


@pytest.mark.parametrize("rows", [60, 500])
@pytest.mark.parametrize("value", [7.25, 0.1])
def test_a_constant_is_a_constant(rows: int, value: float) -> None:
    model = LPNNRegressor(effort="low", random_state=0).fit(RNG.normal(size=(rows, 3)), np.full(rows, value))
    np.testing.assert_array_equal(model.predict(RNG.normal(size=(5, 3))), value)
    assert model.selection_.floor == "constant"


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 1e-4])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_line_of_many_rows_is_found(noise: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((4500, 3))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 1 + noise * rng.normal(size=4500)
    weight = rng.uniform(0.5, 2, 4500) if weighted else None
    model = LPNNRegressor(random_state=0).fit(X, y, sample_weight=weight)
    assert 1 - model.score(X, y) < 1e-12 + 2 * noise**2
    assert model.selection_.error < 1e-12 + 2 * noise**2


def test_columns_that_differ_in_their_last_digits_count() -> None:
    rng = np.random.default_rng(0)
    X = 1e5 * rng.random((400, 1)) + rng.normal(size=(400, 2))
    model = LPNNRegressor(effort="low", random_state=0).fit(X[:300], X[:300, 0] - X[:300, 1])
    assert model.score(X[300:], X[300:, 0] - X[300:, 1]) > 1 - 1e-6


def test_few_rows_say_nothing_of_the_shape_of_a_column() -> None:
    X = np.exp(RNG.normal(size=(SCALING_ROWS + 10, 2)))
    y = np.log(X[:, 0])
    kinds = [
        {c.features for c in LPNNRegressor(effort="low", random_state=0).fit(X[:n], y[:n]).selection_.candidates}
        for n in (SCALING_ROWS - 1, SCALING_ROWS + 10)
    ]
    assert "yeo-johnson" not in kinds[0]
    assert "yeo-johnson" in kinds[1]


def test_a_smooth_function_is_found_from_few_rows() -> None:
    X = RNG.uniform(size=(100, 4))
    new = RNG.uniform(0.02, 0.98, size=(500, 4))

    def f(x):
        return x[:, 0] * np.exp(x[:, 1]) + x[:, 2] ** 2

    model = LPNNRegressor(random_state=0).fit(X, f(X))
    assert np.sqrt(np.mean((model.predict(new) - f(new)) ** 2)) < 0.005 * f(new).std()
    assert model.target_.margin > 0.1  # predictions may leave the range of the few targets


def test_many_rows_reach_nearly_as_far_as_new_ones() -> None:
    """So predictions may leave their range by less."""
    margins = []
    for rows in (RANGE_ROWS // 2, 2 * RANGE_ROWS):
        X = np.random.default_rng(0).uniform(size=(rows, 2))
        model = LPNNRegressor(effort="low", random_state=0).fit(X, X[:, 0] * X[:, 1])
        assert model.selection_.error < EXACT
        assert model.selection_.floor == ""
        margins.append(model.target_.margin)
    assert margins == [1.0, 0.5]


def test_a_smooth_function_of_high_order_is_tried_at_the_highest() -> None:
    X = np.linspace(0, 1, 60)[:, None]
    tried = [
        {c.order for c in LPNNRegressor(random_state=0).fit(X, y).selection_.candidates}
        for y in (np.sin(12 * X[:, 0]), X[:, 0] ** 2)
    ]
    assert HIGHEST in tried[0]
    assert HIGHEST not in tried[1]


@pytest.mark.slow
def test_jumps_take_ramps() -> None:
    X = RNG.uniform(size=(300, 2))
    y = np.floor(4 * X[:, 0]) + X[:, 1]
    model = LPNNRegressor(random_state=0).fit(X, y)
    assert any(c.weight > 0.3 for c in model.selection_.candidates if c.features == "piecewise")
    assert model.features_.ramps_ is not None
    plain = LPNNRegressor(features="standard", random_state=0).fit(X, y)
    assert plain.features_.ramps_ is None
    assert model.selection_.error < plain.selection_.error


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 2])
def test_members_sum_to_the_predictions(outputs: int, tmp_path) -> None:
    X, y = load_diabetes(return_X_y=True)
    y = np.stack([y] * outputs, 1) if outputs > 1 else y
    model = LPNNRegressor(effort="low", guard=False, random_state=0).fit(X[:200], y[:200])
    z = model.inputs(X)
    found = model.predict(X).reshape(len(X), -1)
    scale = np.abs(found).max()
    np.testing.assert_allclose(model.polynomial_(z), found, rtol=1e-6, atol=1e-6 * scale)
    model.save(tmp_path / "m.ladder")
    back = load(tmp_path / "m.ladder")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.selection_ == model.selection_
    assert 0 < back.trust(X).min() <= back.trust(X).max() <= 1


@pytest.mark.slow
def test_not_worse_than_a_linear_model_on_real_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = LPNNRegressor(random_state=0).fit(X[::2], y[::2])
    line = RidgeCV(np.logspace(-3, 3, 13)).fit(X[::2], y[::2])
    errors = [np.sqrt(np.mean((m.predict(X[1::2]) - y[1::2]) ** 2)) for m in (model, line)]
    assert errors[0] < 1.03 * errors[1]


@pytest.mark.slow
def test_classes_are_not_worse_than_by_logistic_regression() -> None:
    X, y = load_iris(return_X_y=True)
    model = LPNNClassifier(random_state=0).fit(X[::2], y[::2])
    line = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    mine, theirs = (log_loss(y[1::2], m.predict_proba(X[1::2])) for m in (model, line))
    assert mine < 1.03 * theirs
    z = torch.softmax(model.polynomial_(model.inputs(X)), 1)
    np.testing.assert_allclose(z, model.predict_proba(X), atol=1e-8)


@pytest.mark.slow
def test_labels_without_reason_are_left_to_a_constant() -> None:
    X, y = RNG.normal(size=(120, 5)), RNG.random(120) < 0.2
    model = LPNNClassifier(effort="low", random_state=0).fit(X, y)
    new, truth = RNG.normal(size=(800, 5)), RNG.random(800) < 0.2
    constant = log_loss(truth, np.full(800, y.mean()))
    assert log_loss(truth, model.predict_proba(new)[:, 1]) < 1.05 * constant


@pytest.mark.slow
def test_many_levels_are_shrunken() -> None:
    levels = np.array([f"level {i}" for i in RNG.integers(0, 150, size=400)])
    x = RNG.normal(size=400)
    y = np.where(x + 0.5 * RNG.normal(size=400) > 0, "yes", "no")
    frame = pl.DataFrame({"x": x, "level": levels})
    model = LPNNClassifier(effort="low", random_state=0).fit(frame[:250], y[:250])
    with pytest.warns(UserWarning, match="categories that training did not see"):
        p = model.predict_proba(frame[250:])
    alone = LogisticRegression().fit(x[:250, None], y[:250])
    assert log_loss(y[250:], p) < 1.1 * log_loss(y[250:], alone.predict_proba(x[250:, None]))


def test_weights_and_repetitions_agree_to_the_last_bit() -> None:
    X, y = RNG.normal(size=(30, 2)), RNG.normal(size=30)
    weight = RNG.integers(0, 4, size=30)
    once = LPNNRegressor(effort="low", random_state=0).fit(X, y, sample_weight=weight)
    order = RNG.permutation(np.repeat(np.arange(30), weight))
    twice = LPNNRegressor(effort="low", random_state=0).fit(X[order], y[order])
    np.testing.assert_array_equal(once.predict(X), twice.predict(X))


def test_more_rows_are_learned_by_the_readout() -> None:
    X = RNG.normal(size=(200, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    model = LPNNRegressor(effort="low", random_state=0).fit(X[:100], y[:100])
    shifted = y + 1.0
    before = np.mean((model.predict(X[100:]) - shifted[100:]) ** 2)
    model.partial_fit(X[100:], shifted[100:])
    assert np.mean((model.predict(X[100:]) - shifted[100:]) ** 2) < 0.5 * before
    z = model.inputs(X)
    expected = model.target_.in_own_units(model.members_(z).mean(0))
    np.testing.assert_allclose(model.polynomial_(z), expected, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_handful_of_rows(n: int) -> None:
    X = np.arange(2.0 * n).reshape(n, 2) ** 1.5
    assert np.isfinite(LPNNRegressor(random_state=0).fit(X, X[:, 0]).predict(X)).all()
    assert LPNNClassifier(random_state=0).fit(X, np.arange(n) % 2).predict(X).shape == (n,)


def test_neighbors_of_a_degree() -> None:
    assert [tuple(neighbors((1, 2, 4, 8), degree)) for degree in (1, 4, 8)] == [(1, 2), (2, 4, 8), (4, 8)]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
def test_a_factor_multiplies_scores_and_changes_no_class(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=60), (0.8,) if classes == 2 else (0.3, 1.4))
    found = {}
    for factor in (1.0, 0.5):
        monkeypatch.setattr(select, "sureness", lambda *_, factor=factor: factor)
        found[factor] = LPNNClassifier(effort="low", compact=False, random_state=0).fit(X, y)
    plain, tempered = found[1.0], found[0.5]
    np.testing.assert_allclose(tempered.decision_function(X), plain.decision_function(X) / 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(tempered.predict(X), plain.predict(X))
    np.testing.assert_array_equal(plain.predict_proba(X).argsort(1), tempered.predict_proba(X).argsort(1))
    assert tempered.selection_.candidates == plain.selection_.candidates
    assert (plain.selection_.factor, tempered.selection_.factor) == (1.0, 0.5)
    assert tempered.selection_.sentence.endswith(
        " Scores were multiplied by 0.50: the probabilities of rows left out were too sure."
    )


@pytest.mark.slow
def test_a_small_ladder_learns_the_multiplied_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=200) > 0.8
    monkeypatch.setattr(select, "sureness", lambda *_: 0.5)
    whole, small = (LPNNClassifier(effort="low", compact=c, random_state=0).fit(X, y) for c in (False, 0.05))
    assert small.selection_.compact_order is not None
    taught, wanted = small.decision_function(X), whole.decision_function(X)
    assert np.abs(taught - wanted).max() < 0.3 * wanted.std()


@pytest.mark.slow
def test_sets_of_classes_come_from_the_rows_left_out() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1200, 2))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=1200), (-0.5, 0.5))
    model = LPNNClassifier(effort="low", random_state=0).fit(X[:200], y[:200])
    said = model.predict_distribution(X[200:])
    for level in (0.8, 0.9, 0.95):
        sets = said.sets(level)
        share = sets[np.arange(1000), y[200:]].mean()
        assert level - 0.07 < share < level + 0.06
        np.testing.assert_array_equal(model.model_.predict_distribution(X[200:]).sets(level), sets)
