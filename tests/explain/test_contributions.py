"""Contributions: they sum to the difference, and are the average slopes along the way, found by plain integration."""

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder.explain.contributions import contributions
from tests.fitted.reading import read_model
from tests.report import models

KINDS = ("standard", "quantile", "piecewise", "mixed", "two outputs", "two classes", "three classes", "posterior")


@pytest.mark.parametrize("name", KINDS)
def test_they_add_up_to_the_difference(name: str) -> None:
    estimator, X, _ = models.make(name)
    parts = contributions(read_model(estimator, X), X.iloc[:9])
    np.testing.assert_allclose(parts.start + parts.values.sum(1), parts.outputs, rtol=1e-9, atol=1e-9)
    assert parts.values.shape == (9, len(parts.columns), len(parts.output_names))
    assert np.abs(parts.values).max() > 0.05


def test_they_are_the_slopes_along_the_way_times_the_way() -> None:
    estimator, X, _ = models.make("mixed")
    model = read_model(estimator, X)
    parts = contributions(model, X.iloc[:1], X.iloc[7:8])
    a, b = estimator.inputs(X.iloc[7:8])[0], estimator.inputs(X.iloc[:1])[0]
    t = (torch.arange(2000, dtype=torch.float64) + 0.5) / 2000
    points = a + t.unsqueeze(1) * (b - a)
    step = 1e-6

    def f(z: torch.Tensor) -> torch.Tensor:
        return model.ladders(z).mean(0)[:, 0]

    slopes = [
        (f(points + step * e) - f(points - step * e)).mean().item() / (2 * step) for e in torch.eye(len(a)).double()
    ]
    by_input = np.array(slopes) * (b - a).numpy()
    used = [c for c in model.columns if c.role != "constant"]
    expected = [by_input[list(c.inputs)].sum() for c in used]
    np.testing.assert_allclose(parts.values[0, :, 0], expected, atol=1e-6)
    assert parts.baseline == "the row given"


@pytest.mark.slow
def test_predictions_and_what_holds_them() -> None:
    for name in ("standard", "posterior"):
        estimator, X, _ = models.make(name)
        parts = contributions(read_model(estimator, X), X)
        np.testing.assert_allclose(parts.outputs[:, 0] + parts.held[:, 0], estimator.predict(X))


@pytest.mark.slow
def test_draws_have_intervals_around_the_mean() -> None:
    estimator, X, _ = models.make("posterior")
    parts = contributions(read_model(estimator, X), X.iloc[:4])
    assert (parts.lower <= parts.upper).all()
    inside = (parts.lower - 1e-9 <= parts.values) & (parts.values <= parts.upper + 1e-9)
    assert inside.mean() > 0.9
    assert contributions(read_model(models.make("standard")[0], X), X.iloc[:4]).lower is None


def test_the_training_mean_of_a_card() -> None:
    X, y = models.mixed()
    estimator = models.carded(models.make("mixed")[0], X, y, "y")
    model = read_model(estimator)
    from_card = contributions(model, X.iloc[:2])
    start = estimator.inputs(X).mean(0)
    np.testing.assert_allclose(from_card.start, model.ladders(start.unsqueeze(0)).mean(0)[0], rtol=1e-9)
    assert from_card.json()["outputs"][0]["contributions"][0]["column"] in X.columns


def test_a_baseline_of_two_rows_is_refused() -> None:
    estimator, X, _ = models.make("standard")
    with pytest.raises(ValueError, match="baseline must be one row; got 2"):
        contributions(read_model(estimator, X), X, X.iloc[:2])


def test_explain_as_a_method_draws_and_shows() -> None:
    from matplotlib import pyplot as plt

    estimator, X, _ = models.make("mixed")
    found = estimator.explain(X.iloc[:7], terms=5)
    assert len(found.terms) == 5
    assert {c.column for c in found.curves} == {"size", "weight"}
    ax = found.plot(row=3)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels[0] == "the training mean"
    assert any(label.startswith("color = ") for label in labels)
    plt.close(ax.figure)
    text = found._repr_html_()
    assert "and 2 more rows" in text
    with pytest.raises(ValueError, match="must be of rows to be drawn"):
        estimator.explain().plot()
    with pytest.raises(ValueError, match="row must be from 0 to 6; got 7"):
        found.plot(row=7)
    assert isinstance(
        pd.DataFrame(found.contributions.values[..., 0], columns=found.contributions.columns), pd.DataFrame
    )
