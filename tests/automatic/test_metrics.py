"""Scores of classes, against what they mean."""

import numpy as np
import pytest
from scipy import integrate, stats

from polyladder import BayesianLPNNRegressor, LPNNRegressor
from polyladder.automatic import metrics
from polyladder.automatic.metrics import balance_notes, class_scores, confusion, distribution_scores, row_losses


def pairs_in_order(score: np.ndarray, there: np.ndarray) -> float:
    """The share of pairs, one of each kind, whose scores are in the right order; half for equal ones."""
    above = score[there][:, None] - score[~there][None]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def test_two_classes() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = np.where(rng.random(200) < p, "b", "a").astype(object)
    found = class_scores(y, np.stack([1 - p, p], 1), np.array(["a", "b"], dtype=object))
    there, said = y == "b", p > 0.5
    assert found["auc"] == pytest.approx(pairs_in_order(p, there))
    precision, recall = (there & said).sum() / said.sum(), (there & said).sum() / there.sum()
    assert found["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    order = np.argsort(-p)
    hits = there[order]
    assert found["average_precision"] == pytest.approx((np.cumsum(hits) / np.arange(1, 201))[hits].mean())
    assert found["error"] == pytest.approx((there != said).mean())
    tenth = np.minimum((10 * p).astype(int), 9)
    gaps = [abs((p - there)[tenth == k].mean()) * (tenth == k).mean() for k in range(10)]
    assert found["calibration_error"] == pytest.approx(sum(gaps))


def test_of_three_classes_the_mean_and_an_absent_one_is_passed_over() -> None:
    rng = np.random.default_rng(1)
    probability = rng.dirichlet([1, 1, 1], 60)
    y = rng.integers(0, 2, 60)
    found = class_scores(y, probability, np.array([0, 1, 2]))
    areas = [pairs_in_order(probability[:, k], y == k) for k in (0, 1)]
    assert found["auc"] == pytest.approx(np.mean(areas))


def test_confusion_and_rare_classes() -> None:
    held_out = {"observed": ["a", "a", "b"], "predicted": ["a", "b", "b"]}
    assert confusion(held_out, ["a", "b"]) == [[1, 1], [0, 1]]
    assert balance_notes(np.array(["a"] * 30 + ["b"] * 5)) == ["Few rows of b (5): judge these classes with care."]
    assert balance_notes(np.array(["a"] * 5000 + ["b"] * 50))[0].startswith("Rare: b (1.0%).")
    assert balance_notes(np.array(["a"] * 50 + ["b"] * 50)) == []


def test_losses_of_rows() -> None:
    numbers = {"observed": [1.0, 2.0], "predicted": [0.0, 4.0]}
    np.testing.assert_allclose(row_losses(numbers, None), [1.0, 4.0])
    classes = {"observed": ["b", "new"], "predicted": ["a", "a"], "probability": [[0.8, 0.2], [0.5, 0.5]]}
    found = row_losses(classes, np.array(["a", "b"], dtype=object))
    assert found[0] == pytest.approx(-np.log(0.2))
    assert found[1] > 30  # a class that the model does not know


def unseen(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, X[:, 0] + (0.1 + 0.4 * (X[:, 1] > 0)) * rng.normal(size=n)


@pytest.mark.slow
def test_distributions_are_scored_as_scipy_does() -> None:
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=3, random_state=0).fit(*unseen(60))
    X, y = unseen(50)
    assert distribution_scores(model.model_, X, y) == {}
    found = distribution_scores(model.calibrate(*unseen(80)).model_, X, y)
    said = model.predict_distribution(X)
    own = stats.t(float(said.degrees[0]), said.mean, said.scale[:, 0].numpy())
    assert found["log_likelihood"] == pytest.approx(own.logpdf(y).mean())
    t = np.linspace(-12, 12, 40_001)[:, None]
    crps = integrate.simpson((own.cdf(t) - (t >= y)) ** 2, x=t[:, 0], axis=0)
    assert found["crps"] == pytest.approx(crps.mean(), rel=1e-3)
    assert found["scored"] == 50
    assert list(found["coverage"]) == [str(percent) for percent in range(5, 100, 5)]
    for percent in (50, 80, 95, 90):
        low, high = model.predict_interval(X, percent / 100)
        assert found["coverage"][str(percent)] == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert found["half_width"] == pytest.approx(np.median(high - low) / 2)


@pytest.mark.slow
def test_a_posterior_is_scored_at_some_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "SCORED_DRAWS", 40)
    model = BayesianLPNNRegressor(order=2, width=2, chains=1, warmup=3, draws=4, random_state=0).fit(*unseen(40))
    X, y = unseen(25)
    found = distribution_scores(model.model_, X, y)
    assert found["scored"] == 9
    low, high = model.predict_interval(X[::3], 0.9)
    assert found["coverage"]["90"] == pytest.approx(np.mean((low <= y[::3]) & (y[::3] <= high)))
