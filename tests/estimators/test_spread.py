"""Spreads of fitted models: where errors are known, where they are none, and where rows leave the training ranges."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import LPNNRegressor, StudentPredictive, compress, load
from polyladder.estimators.spread import EXACT, LeftOut, as_predicted, learn_spread
from tests.estimators.small import TINY, rows

RNG = np.random.default_rng(0)


def noisy(n: int = 240) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """A table whose noise is larger where a column says so, and where another one is large."""
    X = pd.DataFrame({"a": RNG.uniform(-1, 1, n), "b": RNG.uniform(-1, 1, n), "kind": RNG.choice(["calm", "wild"], n)})
    scale = np.where(X["kind"] == "wild", 1.0, 0.1) * np.exp(X["b"])
    return X, np.asarray(2 * X["a"] + scale * RNG.standard_normal(n))


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, pd.DataFrame, np.ndarray[Any, Any]]:
    X, y = noisy()
    return LPNNRegressor(effort="low", random_state=0).fit(X, y), *noisy(1000)


def test_noise_is_found_where_it_is(fitted: Any) -> None:
    model, X, y = fitted
    found = model.predict_distribution(X)
    truth = np.where(X["kind"] == "wild", 1.0, 0.1) * np.exp(X["b"])
    assert np.corrcoef(np.log(found.std), np.log(truth))[0, 1] > 0.9
    even = StudentPredictive(
        torch.from_numpy(found.mean)[:, None],
        torch.full((len(X), 1), float(np.std(y - found.mean))).double(),
        torch.full((1,), torch.inf).double(),
        True,
    )
    assert found.log_likelihood(y).mean() > even.log_likelihood(y).mean() + 0.3
    for level in (0.5, 0.9):
        low, high = found.interval(level)
        assert ((low <= y) & (y <= high)).mean() == pytest.approx(level, abs=0.06)


def test_what_is_made_from_the_distribution_is_that(fitted: Any) -> None:
    model, X, _ = fitted
    found = model.predict_distribution(X)
    np.testing.assert_array_equal(found.mean, model.predict(X))
    for own, other in zip(model.predict(X, return_std=True), (found.mean, found.std), strict=True):
        np.testing.assert_array_equal(own, other)
    for own, other in zip(model.predict_interval(X, 0.8), found.interval(0.8), strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(model.model_.predict_distribution(X).std, found.std)


def test_the_scale_grows_beyond_the_training_ranges_and_rows_do_not_depend_on_others(fitted: Any) -> None:
    model, X, _ = fitted
    row = X.iloc[[0]]
    along = pd.concat([row.assign(a=value) for value in (1.0, 1.2, 1.6, 2.4)])
    std = model.predict_distribution(along).std
    assert (np.diff(std) > 0).all()
    below = pd.concat([row.assign(a=value) for value in (-1.0, -1.2, -1.6, -2.4)])
    assert (np.diff(model.predict_distribution(below).std) > 0).all()
    alone = model.predict_distribution(along.iloc[[2]])
    assert alone.std[0] == pytest.approx(std[2], rel=1e-12)


def test_a_file_keeps_the_spread(fitted: Any, tmp_path: Any) -> None:
    model, X, _ = fitted
    model.save(tmp_path / "m.ladder")
    again = load(tmp_path / "m.ladder").predict_distribution(X)
    found = model.predict_distribution(X)
    np.testing.assert_array_equal(again.std, found.std)
    np.testing.assert_array_equal(again.interval(0.9)[0], found.interval(0.9)[0])


def test_a_small_model_has_the_spread_of_what_it_stands_for_and_of_the_difference() -> None:
    X, y = rows(300)
    y = np.sin(2 * y) + 0.1 * RNG.standard_normal(300)
    model = LPNNRegressor(effort="low", features="standard", compact=False, random_state=0).fit(X, y)
    small, value = compress(model, X, size=100), compress(model.model_, X, size=100)
    before = model.predict_distribution(X)
    for found in (small.predict_distribution(X), value.predict_distribution(X)):
        ratio = found.std / before.std
        assert np.ptp(ratio) < 1e-9
        missed = np.mean((found.mean - before.mean) ** 2)
        assert missed > 0
        assert ratio[0] ** 2 - 1 == pytest.approx(missed / np.mean(before.scale.numpy() ** 2), rel=0.05)


def test_each_value_of_a_column_has_widths_of_its_own() -> None:
    n = 400
    X = pd.DataFrame({"a": RNG.uniform(-1, 1, n), "kind": RNG.choice(["one", "two", "rare"], n, p=[0.5, 0.495, 0.005])})
    y = np.asarray(X["a"] + np.where(X["kind"] == "two", RNG.standard_t(3, n), RNG.uniform(-1, 1, n)))
    model = LPNNRegressor(effort="low", calibrate_by="kind", random_state=0).fit(X, y)
    groups = model.spread_.groups
    assert groups is not None
    assert groups.column == 1
    found = model.predict_distribution(X)
    low, high = found.interval(0.9)
    width = (high - low) / found.std
    each = {kind: width[X["kind"] == kind] for kind in ("one", "two")}
    assert np.ptp(each["one"]) < 1e-9
    assert each["one"][0] != pytest.approx(each["two"][0], rel=1e-3)
    some = found[np.flatnonzero(X["kind"] == "two")]
    np.testing.assert_array_equal(some.interval(0.9)[0], low[X["kind"] == "two"])


@pytest.mark.parametrize("by", ["a", "nothing", 5])
def test_what_is_no_column_of_texts_is_refused(by: Any) -> None:
    X, y = noisy(40)
    with pytest.raises(ValueError, match=r"calibrate_by must be a column of texts.*Columns of texts are: 'kind'"):
        LPNNRegressor(effort="low", calibrate_by=by, random_state=0).fit(X, y)


def test_a_model_of_a_given_order_is_calibrated_by_other_rows() -> None:
    X, y = rows(200)
    noise = 0.3 * RNG.standard_normal(200)
    model = LPNNRegressor(**TINY).fit(X[:100], (y + noise)[:100])
    with pytest.raises(ValueError, match=r"LPNNRegressor must know its errors.*calibrate\(X, y\)"):
        model.predict_distribution(X)
    std = model.calibrate(X[100:], (y + noise)[100:]).predict(X, return_std=True)[1]
    missed = (y + noise)[100:] - model.predict(X[100:])
    assert std.mean() == pytest.approx(np.std(missed), rel=0.3)
    with pytest.raises(ValueError, match="X must have at least 2 rows"):
        model.calibrate(X[:1], y[:1])
    with pytest.raises(ValueError, match="calibrate_by must be None where an order is given"):
        LPNNRegressor(order=3, calibrate_by="a").fit(X, y)


@pytest.mark.parametrize("target", ["constant", "line"])
def test_exact_models_have_a_scale_of_next_to_nothing(target: str) -> None:
    X, _ = rows(60)
    y = np.ones(60) if target == "constant" else 3 * X[:, 0] - 1
    found = LPNNRegressor(effort="low", random_state=0).fit(X, y).predict_distribution(X)
    assert (found.std >= EXACT * max(np.std(y), 1.0) * 0.99).all()
    assert found.std.max() < 1e-6
    assert np.isfinite(found.log_likelihood(y)).all()


def test_several_outputs_have_scales_of_their_own() -> None:
    X = RNG.uniform(-1, 1, (200, 2))
    y = np.c_[X[:, 0] + 0.01 * RNG.standard_normal(200), X[:, 1] + np.exp(2 * X[:, 0]) * RNG.standard_normal(200)]
    found = LPNNRegressor(effort="low", random_state=0).fit(X, y).predict_distribution(X)
    assert found.std.shape == (200, 2)
    assert np.corrcoef(np.log(found.std[:, 1]), X[:, 0])[0, 1] > 0.9
    assert found.std[:, 0].max() < found.std[:, 1].min()


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = rows(120)
    model = LPNNRegressor(**TINY).fit(X, y)
    missed = 0.1 * RNG.standard_normal((120, 1))
    weight = np.r_[np.ones(80), np.zeros(40)]
    wild = missed.copy()
    wild[80:] = 1e6
    table, scale = model.read_table(X), np.ones(1)
    spreads = [learn_spread(model.model_, LeftOut(table, e, weight), scale, None, 0) for e in (missed, wild)]
    assert spreads[0].rows == spreads[1].rows == 80
    for a, b in zip(spreads[0].log_scale.tensors().values(), spreads[1].log_scale.tensors().values(), strict=True):
        assert torch.equal(a, b)


def test_what_is_predicted_has_two_dimensions() -> None:
    X, y = rows(60)
    model = LPNNRegressor(**TINY).fit(X, y)
    np.testing.assert_array_equal(as_predicted(model.model_)(model.read_table(X)), model.predict(X)[:, None])
