"""Figures show what the estimator says."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from polyladder import BayesianLPNNRegressor, LPNNRegressor
from polyladder.report.display import (
    plot_curve,
    plot_order_path,
    plot_pair,
    plot_predictions,
    plot_residuals,
    plot_trace,
)
from tests.report import models


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def plain():
    X, y = models.numbers()
    return models.carded(models.regressor().fit(X, y), X, y, "strength (MPa)"), X, y


def test_curve_goes_through_the_estimators_predictions(plain):
    model, X, _ = plain
    ax = plot_curve(model, "signed", at={"flat (m)": 5.0})
    x, y = ax.lines[0].get_data()
    rows = X.iloc[: len(x)].copy() if len(x) <= len(X) else X.loc[np.arange(len(x)) % len(X)].copy()
    rows["flat (m)"], rows["often zero"], rows["signed"] = 5.0, X["often zero"].median(), x
    np.testing.assert_allclose(y, model.predict(rows), atol=1e-12)
    assert (x.min(), x.max()) == (X["signed"].min(), X["signed"].max())
    band = ax.collections[0].get_paths()[0].vertices
    half = model.card_["residual_quantiles"]["90"]
    assert band[:, 1].max() == pytest.approx(y.max() + half)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("signed", "strength (MPa)")


@pytest.mark.slow
def test_curve_of_a_model_with_a_spread_has_its_interval():
    X, y = models.numbers()
    model = models.regressor(order=2).fit(X, y).calibrate(X, y)
    ax = plot_curve(model, "signed", at={"flat (m)": 5.0, "often zero": 2.0})
    x, _ = ax.lines[0].get_data()
    low, high = model.predict_interval(
        X.iloc[np.zeros(len(x), int)].assign(**{"flat (m)": 5.0, "often zero": 2.0, "signed": x})
    )
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (pytest.approx(low.min()), pytest.approx(high.max()))


@pytest.mark.slow
def test_curve_of_a_posterior_has_its_interval():
    model, X, _ = models.make("posterior")
    ax = plot_curve(model, 0)
    x, y = ax.lines[0].get_data()
    rows = models.as_rows(X, [{"kind": "numeric"}] * 3, [[v, 0.0, 0.0] for v in x])
    rows["often zero"], rows["signed"] = (float(model.features_.scaler_.mean_[i]) for i in (1, 2))
    np.testing.assert_allclose(y, model.predict(rows), atol=1e-10)
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(model.predict_interval(rows)[1].max())


def test_curve_of_categories_and_of_gaps():
    model, X, _ = models.make("mixed")
    ax = plot_curve(model, "color", at={"size": 1.0, "weight": None})
    _, y = ax.lines[0].get_data()
    assert [t.get_text() for t in ax.get_xticklabels()] == ["blue", "green", "red", "missing"]
    rows = X.iloc[:4].copy()
    rows["size"], rows["weight"], rows["color"] = 1.0, np.nan, ["blue", "green", "red", None]
    np.testing.assert_allclose(y, model.predict(rows), atol=1e-12)


def test_probability_of_a_class():
    model, _, _ = models.make("three classes")
    ax = plot_curve(model, "signed", output=2)
    assert ax.get_ylabel() == f"P(class = {model.classes_[2]})"
    assert 0 <= min(ax.lines[0].get_ydata()) <= max(ax.lines[0].get_ydata()) <= 1


def test_map_holds_predictions(plain):
    model, X, _ = plain
    own = plt.subplots()[1]
    ax = plot_pair(model, "signed", "flat (m)", ax=own)
    assert ax is own
    values = ax.collections[0].get_array()
    corner = X.iloc[:1].copy()
    corner["signed"], corner["flat (m)"] = X["signed"].min(), X["flat (m)"].min()
    corner["often zero"] = X["often zero"].median()
    assert np.ravel(values)[0] == pytest.approx(model.predict(corner)[0])


def test_predictions_and_residuals(plain):
    model, X, y = plain
    np.testing.assert_array_equal(plot_predictions(model).lines[1].get_ydata(), y[::2])
    residuals = plot_residuals(model, X, y).lines[1].get_ydata()
    np.testing.assert_allclose(residuals, y - model.predict(X))


@pytest.mark.slow
def test_order_path(plain):
    model, X, y = plain
    assert plot_order_path(model).lines[0].get_xdata().tolist() == [2, 3, 4]
    chosen = LPNNRegressor(effort="low", random_state=0).fit(X, y)
    drawn = plot_order_path(chosen).lines[0]
    assert list(zip(drawn.get_xdata(), drawn.get_ydata(), strict=True)) == chosen.selection_.order_path


def test_arrays_without_names():
    X, y = models.numbers()
    model = models.regressor().fit(X.to_numpy(), y)
    ax = plot_curve(model, 2)
    assert ax.get_xlabel() == "x2"
    assert len(ax.lines[0].get_xdata()) == 200


def test_what_cannot_be_drawn_is_refused():
    model, X, y = models.make("mixed")
    with pytest.raises(ValueError, match="feature must be one of"):
        plot_curve(model, "height")
    with pytest.raises(ValueError, match="was constant"):
        plot_curve(model, "always")
    with pytest.raises(ValueError, match="numeric columns"):
        plot_pair(model, "size", "color")
    with pytest.raises(ValueError, match="different columns"):
        plot_pair(model, "size", "size")
    with pytest.raises(ValueError, match="rows and target must be given"):
        plot_predictions(model)
    with pytest.raises(ValueError, match="several orders"):
        plot_order_path(model)
    classifier, X, y = models.make("two classes")
    with pytest.raises(TypeError, match="must predict numbers"):
        plot_residuals(classifier, X, y)


def test_trace_has_a_line_a_chain_whose_median_is_the_prediction():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] * X[:, 1]
    model = BayesianLPNNRegressor(order=2, width=3, chains=3, warmup=5, draws=9, guard=False, random_state=0).fit(X, y)
    lines = plot_trace(model, X, row=4).get_lines()
    draws = np.concatenate([line.get_ydata() for line in lines])
    assert [len(line.get_ydata()) for line in lines] == [9, 9, 9]
    assert np.median(draws) == pytest.approx(model.predict(X[4:5])[0], rel=1e-9)
    with pytest.raises(ValueError, match="which has draws; got a LPNNRegressor"):
        plot_trace(LPNNRegressor(order=2, width=2, random_state=0).fit(X, y), X)
