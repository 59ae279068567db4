"""An earlier selection's sum, solved once more on more rows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_friedman1

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators import ladder
from polyladder.estimators.selection import refit
from polyladder.estimators.selection.candidates.ladders import LadderTrial


@pytest.fixture
def selections(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each selection that is made."""
    made: list[int] = []
    own = ladder.choose_model

    def counted(table: Any, values: Any, *more: Any) -> Any:
        made.append(len(values))
        return own(table, values, *more)

    monkeypatch.setattr(ladder, "choose_model", counted)
    return made


def low(kind: Any = LPNNRegressor, **more: Any) -> Any:
    return kind(effort="low", random_state=0, **more)


def waves(n: int) -> tuple[Any, Any]:
    """Ladders are the best for this."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 4))
    return X, np.sin(3 * (X[:, 0] + X[:, 1])) * np.sin(2 * (X[:, 2] - X[:, 3])) + 0.05 * rng.normal(size=n)


def test_the_same_rows_give_the_same_model(selections: list[int]) -> None:
    """Kernels and lines are solved to the end, so nothing changes but directions, which are picked anew."""
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    first, again = low(), low()
    recipe = first.fit_again(X, y)
    assert again.fit_again(X, y, recipe=recipe) is recipe
    assert selections == [300]
    assert again.selection_ == first.selection_
    np.testing.assert_allclose(again.predict(X), first.predict(X), atol=0.05 * y.std())
    assert again.score(X, y) == pytest.approx(first.score(X, y), abs=0.01)


@pytest.mark.parametrize("kind", ["numbers", "classes", "two classes", "line", "noise"])
def test_more_rows_are_fitted_with_what_was_found(kind: str, selections: list[int]) -> None:
    X, y = make_friedman1(700, n_features=5, noise=0.5, random_state=0)
    classes = kind.endswith("classes")
    if classes:
        edges = np.quantile(y, [0.5] if kind == "two classes" else [0.3, 0.6])
        y = np.array(list("abc"))[np.searchsorted(edges, y)]
    elif kind != "numbers":
        y = X @ np.arange(5.0) if kind == "line" else np.random.default_rng(1).normal(size=700)
    estimator = LPNNClassifier if classes else LPNNRegressor
    part, whole, anew = (low(estimator) for _ in range(3))
    recipe = part.fit_again(X[:250], y[:250])
    whole.fit_again(X[:300], y[:300], recipe=recipe)
    assert selections == [250]
    anew.fit(X[:300], y[:300])
    found, wanted = (model.score(X[300:], y[300:]) for model in (whole, anew))
    assert found >= wanted - 0.02 * (1 if classes else max(abs(wanted), 0.1))
    if kind == "line":
        np.testing.assert_allclose(whole.predict(X[:300]), y[:300], atol=1e-6)
        # A line is not held to the range of its columns.
        assert whole.features_.margin == part.features_.margin == 1.0
    if kind == "noise":
        assert np.ptp(whole.predict(X)) == 0
        assert whole.predict(X)[0] == pytest.approx(y[:300].mean())


@pytest.mark.slow
def test_scores_are_multiplied_again(selections: list[int]) -> None:
    X, y = make_friedman1(240, n_features=5, noise=0.5, random_state=0)
    labels = y > np.median(y)
    recipe = low(LPNNClassifier).fit_again(X[:200], labels[:200])
    recipes = [replace(recipe, selection=replace(recipe.selection, factor=factor)) for factor in (1.0, 0.7)]
    plain, tempered = (low(LPNNClassifier, compact=False) for _ in recipes)
    for model, known in zip((plain, tempered), recipes, strict=True):
        model.fit_again(X, labels, recipe=known)
    assert selections == [200]
    np.testing.assert_allclose(tempered.decision_function(X), 0.7 * plain.decision_function(X), rtol=1e-7, atol=1e-9)
    assert tempered.thresholds_ is not None


@pytest.mark.slow
def test_ladders_go_on_from_where_they_were(selections: list[int]) -> None:
    X, y = waves(700)
    part, whole = (LPNNRegressor(random_state=0, compact=False) for _ in range(2))
    recipe = part.fit_again(X[:380], y[:380])
    assert recipe is not None
    (found,) = [trial for trial, _ in recipe.used if isinstance(trial, LadderTrial)]
    assert (found.features, len(found.columns)) == ("standard", 4)
    whole.fit_again(X[:450], y[:450], recipe=recipe)
    assert selections == [380]
    assert whole.order_ == part.order_
    assert whole.score(X[450:], y[450:]) >= part.score(X[450:], y[450:])


@pytest.mark.slow
def test_ladders_of_many_rows_too(selections: list[int]) -> None:
    X, y = waves(3600)
    part, whole = LPNNRegressor(random_state=0), LPNNRegressor(random_state=0)
    recipe = part.fit_again(X[:2600], y[:2600])
    assert recipe is not None
    assert any(isinstance(trial, LadderTrial) for trial, _ in recipe.used)
    whole.fit_again(X[:3000], y[:3000], recipe=recipe)
    assert selections == [2600]
    assert whole.score(X[3000:], y[3000:]) >= part.score(X[3000:], y[3000:]) - 0.01


def test_a_category_that_comes_in_is_read(selections: list[int]) -> None:
    rng = np.random.default_rng(0)
    kinds, x = rng.choice(["a", "b"], 240).astype(object), rng.normal(size=240)
    kinds[200:] = "new"
    y = np.where(kinds == "a", x, -x) + 5 * (kinds == "new")
    table = pd.DataFrame({"kind": kinds, "x": x})
    part, whole = low(), low()
    whole.fit_again(table, y, recipe=part.fit_again(table[:200], y[:200]))
    assert selections == [200]
    assert "kind = new" in whole.features_.feature_names_out_
    assert np.abs(whole.predict(table) - y).mean() < 0.2


def test_other_columns_classes_and_many_more_rows_are_selected_anew(selections: list[int]) -> None:
    X, y = make_friedman1(500, n_features=5, random_state=0)
    labels = np.where(y > np.median(y), "a", "b")
    recipe = low().fit_again(X[:200], y[:200])
    low().fit_again(X[:301], y[:301], recipe=recipe)
    assert selections.pop() == 301
    low().fit_again(X[:299], y[:299], recipe=recipe)
    flat = X.copy()
    flat[:200, 2] = 1.0
    low().fit_again(flat[:240], y[:240], recipe=low().fit_again(flat[:200], y[:200]))
    labels[200:] = "c"
    low(LPNNClassifier).fit_again(X[:240], labels[:240], recipe=low(LPNNClassifier).fit_again(X[:200], labels[:200]))
    assert selections == [200, 200, 240, 200, 240]


def test_few_rows_for_many_columns_are_selected_anew(selections: list[int]) -> None:
    """What few rows say of many columns is luck of the rows."""
    X, y = make_friedman1(120, n_features=6, random_state=0)
    low().fit_again(X, y, recipe=low().fit_again(X[:100], y[:100]))
    assert selections == [100, 120]


def test_a_sum_that_is_worse_than_reported_is_not_kept(selections: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_friedman1(240, n_features=5, random_state=0)
    recipe = low().fit_again(X[:200], y[:200])
    monkeypatch.setattr(refit, "as_reported", lambda *_: False)
    low().fit_again(X, y, recipe=recipe)
    assert selections == [200, 240]


def test_weights_count() -> None:
    X, y = load_iris(return_X_y=True)
    first, second = low(LPNNClassifier), low(LPNNClassifier)
    recipe = first.fit_again(X, y)
    second.fit_again(X, y, sample_weight=np.where(y == 2, 20.0, 1.0), recipe=recipe)
    assert second.predict_proba(X)[:, 2].mean() > first.predict_proba(X)[:, 2].mean() + 0.01
