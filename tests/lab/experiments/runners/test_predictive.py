from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import Ridge

from polyladder_lab.experiments.runners.estimators import measured
from polyladder_lab.experiments.runners.predictive import distributional

Array = np.ndarray[Any, Any]
random = np.random.default_rng(0)


@dataclass(frozen=True)
class Bands:
    """Normal targets, of which only intervals are told."""

    center: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        return norm(self.center, 2.0).interval(level)

    def crps(self, y: Array) -> Array:
        """A score that is told apart from others; whether it is the right one is for those who predict."""
        return np.abs(y - self.center) ** 3


@dataclass(frozen=True)
class Bells(Bands):
    def logpdf(self, y: Array) -> Array:
        return norm.logpdf(y, self.center, 2.0)


@dataclass(frozen=True)
class Known:
    """A model that was told the truth: targets are twice the first column, with deviation 2."""

    kind: type[Bands]

    def predict(self, X: Array) -> Array:
        return 2 * X[:, 0]

    def predict_distribution(self, X: Array) -> Bands:
        return self.kind(2 * X[:, 0])


X = random.normal(size=(3000, 2))
Y = 2 * X[:, 0] + 2 * random.normal(size=3000)


def test_intervals_of_the_truth_cover_what_they_say():
    rows = Bells(2 * X[:, 0])
    for level, name in ((0.5, "coverage_50"), (0.8, "coverage_80"), (0.9, "coverage"), (0.95, "coverage_95")):
        low, high = rows.interval(level)
        covered = np.mean([a < y < b for a, y, b in zip(low, Y, high, strict=True)])
        assert abs(covered - level) < 4 * np.sqrt(level * (1 - level) / 3000)
        assert distributional(Known(Bells), X, Y)[name] == pytest.approx(covered)


def test_scores_are_means_over_the_rows_in_units_of_the_target():
    few, targets = X[:20], Y[:20]
    found = distributional(Known(Bells), few, targets)
    assert found["crps"] == pytest.approx(np.mean(np.abs(targets - 2 * few[:, 0]) ** 3))
    assert found["log_likelihood"] == pytest.approx(norm.logpdf(targets - 2 * few[:, 0], 0, 2).mean())
    assert found["width"] == pytest.approx(2 * 1.644854 * 2)
    assert found["microseconds_per_row"] > 0


def test_distributions_without_a_density_have_all_but_a_likelihood():
    few, targets = X[:5], Y[:5]
    dense, bare = (measured("nll", Known(kind), few, targets) for kind in (Bells, Bands))
    assert dense.value == -dense.more["log_likelihood"]
    assert bare.value is None
    assert bare.more["undefined"] == "nll"
    assert "log_likelihood" not in bare.more
    assert bare.more["rmse"] == dense.more["rmse"]
    assert bare.more["crps"] == dense.more["crps"]


def test_a_table_of_errors_asks_for_no_distribution():
    result = measured("rmse", Known(Bells), X[:5], Y[:5])
    assert result.more.keys() == {"worst"}


def test_a_likelihood_is_asked_of_estimators_that_have_one():
    with pytest.raises(ValueError, match="metric must be rmse for an estimator without log_likelihood; got 'nll'"):
        measured("nll", Ridge().fit(X, Y), X, Y)
