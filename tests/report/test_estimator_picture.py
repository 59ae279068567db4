"""What a notebook shows of a fitted estimator."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from polyladder import FeedforwardRegressor, LPNNRegressor
from polyladder.automatic.fit_table import fit_table
from polyladder.report.display import plot_curve
from polyladder.report.estimator_picture import estimator_html
from tests.fitted.reading import read_model
from tests.report import models
from tests.report.test_page_use import shop


def test_a_fitted_estimator_shows_its_curves_below_its_parameters() -> None:
    model, X, y = models.make("standard")
    models.carded(model, X, y, "strength (MPa)")
    text = model._repr_mimebundle_()["text/html"]
    assert text.endswith(estimator_html(model))
    assert model._repr_html_().endswith(estimator_html(model))
    assert text.count("<polyline") == 3
    assert "strength (MPa) along each column" in text
    assert "Held out: RMSE 0.5." in text
    assert "<polyline" not in LPNNRegressor()._repr_html_()


def test_models_without_a_ladder_have_only_their_parameters() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert estimator_html(FeedforwardRegressor(hidden=(2,), max_iter=1).fit(X, X[:, 0])) == ""


@pytest.mark.slow
def test_ranges_are_those_of_training_and_dates_are_dates() -> None:
    model = fit_table(shop(), "price", seconds=0, compare=False)
    text = estimator_html(model)
    # The range that inputs are held to: that of training with a small margin.
    column = next(c for c in read_model(model).columns if c.name == "sold")
    first = (np.datetime64("1970-01-01") + int(np.floor(column.low))).astype(str)
    assert f">{first[8:]}.{first[5:7]}.{first[:4]}</text>" in text
    assert ">$" in text
    ax = plot_curve(model, "sold")
    ax.figure.canvas.draw()
    assert all(".202" in label.get_text() for label in ax.get_xticklabels() if label.get_text())
    described = next(c for c in model.card_["columns"] if c["name"] == "sold")
    assert len(ax.patches) == len(described["density"]["counts"])
    plt.close(ax.figure)
