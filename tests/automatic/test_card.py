"""What a model card says, held to counting by hand."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from polyladder import FeedforwardRegressor, LPNNClassifier, LPNNRegressor
from polyladder.automatic.card import KEPT_ROWS, half_width, make_card, residual_quantiles
from polyladder.estimators.store import versions


def fitted():
    rng = np.random.default_rng(0)
    X = pl.DataFrame(
        {"load (kg)": [1.0, None, *rng.uniform(2, 9, 38)], "kind": ["a", "b", "a", None] * 10, "z": rng.normal(size=40)}
    )
    y = X["load (kg)"].fill_null(5.0).to_numpy() * 3
    return LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X, y), X, y


def test_columns_are_described() -> None:
    model, X, _ = fitted()
    card = make_card(model, X, target="price [EUR]", seed=3, source="t.csv", notes=["mended"])
    load, kind, _ = card["columns"]
    assert (load["name"], load["kind"], load["unit"], load["missing"]) == ("load (kg)", "number", "kg", 1)
    values = X["load (kg)"].drop_nulls()
    assert (load["minimum"], load["maximum"], load["median"]) == (values.min(), values.max(), values.median())
    assert sum(load["density"]["counts"]) == 39
    assert load["density"]["edges"][0] == values.min()
    assert (kind["categories"], kind["density"]["counts"], kind["missing"]) == (["a", "b"], [20, 10], 10)
    assert (card["target"], card["unit"], card["task"], card["rows"]) == ("price [EUR]", "EUR", "regression", 40)
    assert card["notes"] == ["mended"]
    assert card["settings"]["width"] == 2
    assert card["versions"] == versions()
    assert json.loads(json.dumps(card, allow_nan=False)) == card


def test_strengths_are_those_of_columns() -> None:
    model, X, _ = fitted()
    strengths = make_card(model, X)["strengths"]
    assert strengths is not None
    assert sorted(strengths["positions"]) == [0, 1, 2]
    assert [X.columns[i] for i in strengths["positions"]] == [name for name, _ in strengths["columns"]]
    assert strengths["positions"][0] == 0  # the load, its flag for missing values included
    assert len(strengths["pairs"]) == 3
    rival = FeedforwardRegressor(hidden=(2,), max_iter=1).fit(X, np.arange(40.0))
    assert make_card(rival, X)["strengths"] is None


def test_sparse_rows_have_no_card() -> None:
    X = csr_array(np.eye(8))
    model = FeedforwardRegressor(hidden=(2,), max_iter=1).fit(X, np.arange(8.0))
    with pytest.raises(ValueError, match=r"dense table to have a card; got one of sparse rows\. Fit it"):
        make_card(model, X)


def test_residual_quantiles_are_order_statistics() -> None:
    found = residual_quantiles({"observed": [0.0] * 9, "predicted": [1, -2, 3, -4, 5, -6, 7, -8, 9]})
    # With 9 residuals the half width of level p is the ceil(10 p)-th smallest; beyond 90 % there is none.
    assert (found["10"], found["50"], found["51"], found["90"]) == (1.0, 5.0, 6.0, 9.0)
    assert "91" not in found
    assert half_width({"residual_quantiles": found}, 90) == 9.0
    with pytest.raises(ValueError, match="interval must be a whole percentage from 1 to 90; got 95"):
        half_width({"residual_quantiles": found}, 95)


def test_intervals_of_residual_quantiles_cover_as_promised() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        known, unseen = np.abs(rng.standard_t(3, size=(2, 50)))
        half = residual_quantiles({"observed": known.tolist(), "predicted": [0.0] * 50})["80"]
        covered.append(np.mean(unseen <= half))
    # Exactly ceil(0.8 * 51) / 51 = 0.804 on average.
    assert np.mean(covered) == pytest.approx(41 / 51, abs=4 * np.std(covered) / 20)


def test_classes_and_many_held_out_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(["no", "yes"] * 20)
    model = LPNNClassifier(order=2, width=2, solver="alternating", n_estimators=1, max_iter=1, random_state=0).fit(X, y)
    n = 2 * KEPT_ROWS + 1
    held_out = {"observed": ["no"] * n, "predicted": ["no"] * n, "probability": [[0.9, 0.1]] * n}
    card = make_card(model, X, held_out=held_out)
    assert (card["task"], card["classes"], card["residual_quantiles"]) == ("classification", ["no", "yes"], {})
    assert len(card["held_out"]["observed"]) == len(card["held_out"]["probability"]) <= KEPT_ROWS
    assert [column["name"] for column in card["columns"]] == ["x0", "x1"]
