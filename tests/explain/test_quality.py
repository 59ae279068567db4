"""How good a model is: scores, bands and reliability from rows whose targets are known."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, r2_score

from polyladder import BayesianLPNNRegressor, LPNNClassifier, LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.explain import quality as quality_module
from polyladder.explain.quality import Quality, as_target, bands, calibration, curve_json, qualities
from polyladder.fitted.model import FittedModel
from polyladder.predictive.calibration import class_reliability
from tests.explain.test_explanation import TINY, rows
from tests.fitted.reading import read_model
from tests.fitted.test_model import CHAIN


def regression(**card: Any) -> tuple[FittedModel, Any, Any]:
    X, y = rows()
    model = LPNNRegressor(**TINY).fit(X, y)
    if card:
        model.card_ = make_card(model, X, target="y", **card)
    return read_model(model, X), X, y


def classification(classes: int = 3) -> tuple[FittedModel, Any, Any]:
    X, y = rows()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.3, 0.3] if classes == 3 else [0.0])]
    return read_model(LPNNClassifier(**TINY, solver="alternating").fit(X, labels), X), X, labels


def test_scores_of_numbers_are_scikit_learns() -> None:
    model, X, y = regression()
    (found,) = qualities(model, X, y)
    page, predicted = found.json(), model.predict(X)
    assert (page["label"], page["rows"]) == ("the rows given", 40)
    assert page["rmse"][0] == pytest.approx(math.sqrt(np.mean((y - predicted) ** 2)))
    assert page["r2"][0] == pytest.approx(r2_score(y, predicted))
    assert page["observed"] == [y.tolist()]
    flat = Quality("r", np.ones((3, 1)), np.zeros((3, 1))).json()
    assert flat["r2"] == [None]


def test_classes_have_a_confusion_table() -> None:
    model, X, labels = classification()
    (found,) = qualities(model, X, labels)
    page, predicted = found.json(), model.predict(X)
    assert page["confusion"] == confusion_matrix(labels, predicted).tolist()
    assert page["error"] == pytest.approx(np.mean(labels != predicted))
    np.testing.assert_array_equal(found.probability, model.predict_proba(X))


def test_charts_keep_some_rows_and_scores_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality_module, "KEPT", 10)
    found = Quality("r", np.arange(35.0)[:, None], np.zeros((35, 1))).json()
    assert found["observed"] == [list(np.arange(0.0, 35.0, 4))]
    assert found["rows"] == 35
    assert found["rmse"][0] == pytest.approx(math.sqrt(np.mean(np.arange(35.0) ** 2)))


def test_held_out_rows_of_the_card_come_first() -> None:
    model, X, y = regression(held_out={"observed": [1.0, 2.0], "predicted": [1.5, 2.5]})
    held, given = qualities(model, X, y)
    assert (held.label, held.json()["rmse"]) == ("held-out rows", [0.5])
    assert given.label == "the rows given"
    assert qualities(model, None, None)[0].label == "held-out rows"
    assert qualities(regression()[0], X, None) == []


def test_targets_that_do_not_fit_are_refused() -> None:
    model, X, y = regression()
    with pytest.raises(ValueError, match="target must come with rows; got rows=None"):
        qualities(model, None, y)
    with pytest.raises(ValueError, match="target must have one entry per row; got 39 for 40 rows"):
        qualities(model, X, y[:-1])
    classes, X, labels = classification()
    with pytest.raises(ValueError, match=r"target must hold the classes \['a', 'b', 'c'\]; got 'd'"):
        qualities(classes, X, ["d", *labels[1:]])
    assert as_target(classes, ["b", "a", "c"]).tolist() == [1, 0, 2]
    assert as_target(model, [1, 2]).tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("level", [50, 90, 99])
def test_the_band_holds_its_share_of_the_residuals(level: int) -> None:
    model, X, y = regression()
    shown = qualities(model, X, y)
    found = bands(model, shown, level)
    sizes = np.sort(np.abs(y - model.predict(X)))
    assert found["source"] == "the rows given"
    assert np.mean(sizes <= found["half"][0]) >= min(level / 100, 1.0)
    # One rank lower would hold too few of one more row.
    rank = int((sizes <= found["half"][0]).sum())
    assert (rank - 1) / 41 < level / 100


def test_the_band_covers_one_more_row_by_rank() -> None:
    # An unseen residual is as likely to have any of n + 1 ranks: 90 % of 31 are 27.9, where 90 % of 30 are 27.
    model, _, _ = regression()
    rng = np.random.default_rng(0)
    for n, level, rank in ((30, 90, 28), (10, 90, 10), (20, 50, 11), (99, 99, 99), (5, 90, 5)):
        sizes = rng.permutation(n) + 1.0
        known = Quality("the rows given", sizes[:, None], np.zeros((n, 1)))
        assert bands(model, [known], level)["half"] == [float(rank)]


def test_the_band_of_a_few_rows_covers_an_unseen_one_as_often_as_it_says() -> None:
    model, _, _ = regression()
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(4000):
        *seen, unseen = rng.exponential(size=11)
        known = Quality("the rows given", np.array(seen)[:, None], np.zeros((10, 1)))
        hits += unseen <= bands(model, [known], 60)["half"][0]
    # Seven of 11 ranks, which is 64 %; a rank lower it would be 55 %.
    assert abs(hits / 4000 - 7 / 11) < 0.03


def test_bands_come_from_the_card_the_draws_or_nowhere() -> None:
    observed = np.arange(20.0)
    model, X, y = regression(held_out={"observed": observed.tolist(), "predicted": (observed + 2).tolist()})
    found = bands(model, qualities(model, None, None), 90)
    assert (found["kind"], found["source"], found["half"]) == ("residuals", "held-out rows", [pytest.approx(2.0)])
    assert bands(regression()[0], [], 90) == {"kind": None}
    classes, X, labels = classification()
    assert bands(classes, qualities(classes, X, labels), 90) == {"kind": None}
    draws = read_model(BayesianLPNNRegressor(**CHAIN).fit(X, y), X)
    assert bands(draws, [], 90) == {"kind": "draws"}


@pytest.mark.parametrize("classes", [2, 3])
def test_reliability_of_classes(classes: int) -> None:
    model, X, labels = classification(classes)
    shown = qualities(model, X, labels)
    found = calibration(model, shown)
    assert found is not None
    assert (found["kind"], found["label"]) == ("classes", "the rows given")
    assert sum(count for _, _, count in found["points"]) == 40
    stated, actual, count = found["points"][-1]
    probability, observed = shown[0].probability, shown[0].observed
    assert probability is not None
    sure = probability[:, 1] if classes == 2 else probability.max(1)
    hits = observed == 1 if classes == 2 else probability.argmax(1) == observed
    last = np.argsort(sure, kind="stable")[-count:]
    assert stated == pytest.approx(sure[last].mean())
    assert actual == pytest.approx(hits[last].mean())


@pytest.mark.slow
def test_reliability_of_intervals() -> None:
    X, y = rows()
    model = read_model(BayesianLPNNRegressor(**CHAIN).fit(X, y), X)
    found = calibration(model, qualities(model, X, y))
    assert found is not None
    assert found["kind"] == "intervals"
    for level, share, _ in found["points"]:
        mixture = model.distribution(X)
        low, high = (mixture.quantile(0.5 + side * level / 2)[:, 0].numpy() for side in (-1, 1))
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)), abs=1 / 40)
    assert calibration(model, []) is None
    plain, X, y = regression()
    assert calibration(plain, qualities(plain, X, y)) is None


@pytest.mark.slow
def test_a_spread_has_its_own_band_and_reliability() -> None:
    X, y = rows()
    model = read_model(LPNNRegressor(**TINY).fit(X, y).calibrate(X, y), X)
    shown = qualities(model, X, y)
    assert bands(model, shown, 90) == {"kind": "spread"}
    found = calibration(model, shown)
    assert found is not None
    for level, share, count in found["points"]:
        low, high = model.predict_distribution(X).interval(level)
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)))
        assert count == 40
    assert calibration(model, []) is None


def test_points_without_rows_are_left_out() -> None:
    curve = class_reliability(np.array([0.05, 0.06, 0.95]), np.array([0, 1, 1]), 10)
    points = curve_json("classes", "r", curve)["points"]
    assert all(count > 0 for _, _, count in points)
    assert sum(count for _, _, count in points) == 3
