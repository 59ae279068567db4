"""Where contributions start: the stored mean, and what files of earlier versions tell of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from polyladder import LPNNRegressor, load
from polyladder.explain.baseline import MEAN, MIDDLE, training_mean
from polyladder.fitted.features import Features
from tests.fitted.reading import read_model
from tests.report import models

FIXTURES = Path(__file__).parents[1] / "fixtures"


def earlier(estimator: Any) -> Any:
    """The estimator as a file of an earlier version holds it."""
    del estimator.features_.mean_
    return estimator


def test_weights_count_in_the_mean() -> None:
    X, y = models.mixed()
    weight = np.arange(len(y)) % 3.0
    settings: dict[str, Any] = {"order": 2, "width": 2, "n_estimators": 1, "max_iter": 2, "random_state": 0}
    estimator = LPNNRegressor(features="piecewise", **settings).fit(X, y, sample_weight=weight)
    mean = training_mean(read_model(estimator))
    expected = np.average(estimator.inputs(X).numpy(), axis=0, weights=weight)
    np.testing.assert_allclose(mean.inputs, expected, atol=1e-12)
    # More rows, learned later, do not move what stands for the first ones.
    estimator.partial_fit(X.iloc[:5], y[:5])
    np.testing.assert_array_equal(training_mean(read_model(estimator)).inputs, mean.inputs)


def test_one_scale_of_all_columns_keeps_their_means() -> None:
    X = np.random.default_rng(0).normal([0.0, 5.0, -2.0], 1.0, size=(40, 3))
    features = Features(whole=True, reach=3.0).fit(X)
    np.testing.assert_allclose(features.mean_, features.transform(X).mean(0), atol=1e-12)
    assert np.abs(features.mean_).max() > 0.5


def test_a_card_of_an_earlier_file_tells_the_same_mean() -> None:
    X, y = models.mixed()
    estimator = models.carded(models.make("mixed")[0], X, y, "y")
    stored = training_mean(read_model(estimator))
    told = training_mean(read_model(earlier(estimator)))
    np.testing.assert_allclose(told.inputs, stored.inputs, atol=1e-12)
    assert told.words == stored.words == MEAN


def test_without_a_card_an_earlier_file_says_that_it_starts_elsewhere() -> None:
    estimator, X, _ = models.make("mixed")
    earlier(estimator)
    mean = training_mean(read_model(estimator, X.iloc[:9]))
    assert mean.words == MIDDLE
    np.testing.assert_allclose(mean.inputs[-4:], 0.25)
    np.testing.assert_array_equal(mean.inputs, training_mean(read_model(estimator, X)).inputs)
    parts = estimator.explain(X.iloc[:3]).contributions
    np.testing.assert_allclose(parts.start + parts.values.sum(1), parts.outputs)
    assert "does not hold the training mean" in parts.json()["baseline"]
    numbers, Z, _ = models.make("piecewise")
    stored = training_mean(read_model(numbers, Z)).inputs
    told = training_mean(read_model(earlier(numbers), Z))
    np.testing.assert_allclose(told.inputs, stored, atol=1e-12)
    assert told.words == MEAN


@pytest.mark.parametrize("name", ["lpnn_regressor_0_1", "bayesian_classifier_0_1", "factorization_machine_0_1"])
def test_first_files_start_at_the_training_mean(name: str) -> None:
    estimator = load(FIXTURES / f"{name}.ladder")
    told = json.loads((FIXTURES / "predictions_0_1.json").read_text(encoding="utf-8"))[name]
    rows = pd.DataFrame(told["columns"]) if "columns" in told else np.array(told["rows"])
    parts = estimator.explain(rows).contributions
    alone = estimator.explain(rows[:1]).contributions
    assert parts.baseline == MEAN
    np.testing.assert_array_equal(alone.start, parts.start)
    np.testing.assert_allclose(parts.start + parts.values.sum(1), parts.outputs)
