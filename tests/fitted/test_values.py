"""The columns of a table as the polynomial sees them, there and back."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.explain.explanation import explain
from polyladder.fitted.values import scaled, table_of, typical_inputs, unscaled, values_of

TINY: dict[str, Any] = {
    "order": 2,
    "width": 2,
    "n_estimators": 1,
    "max_iter": 1,
    "missing": "impute",
    "random_state": 0,
}


def mixed(n: int = 60) -> pl.DataFrame:
    """Numbers, a constant, numbers with gaps, and categories with gaps."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(3, 2, n), rng.exponential(1, n)
    b[::5] = np.nan
    kind = rng.choice(np.array(["p", "p", "q", None], dtype=object), n)
    return pl.DataFrame({"a": a, "still": np.full(n, 7.0), "kind": kind, "b": b}, strict=False)


def fitted(features: str = "standard") -> tuple[Any, Any, Any]:
    X = mixed()
    model = LPNNRegressor(**TINY, features=features).fit(X, X["a"].to_numpy())
    return model, model.read_table(X), model.model_.described_by(X)


def test_every_column_knows_its_inputs() -> None:
    model, _, read = fitted()
    columns = read.columns
    assert [column.role for column in columns] == ["numeric", "constant", "category", "numeric"]
    out = model.features_.feature_names_out_
    named = {column.name: [out[i] for i in column.inputs] for column in columns}
    assert named == {
        "a": ["a"],
        "still": [],
        "kind": ["kind = p", "kind = q", "kind = missing"],
        "b": ["b", "b is missing"],
    }


def test_columns_are_described_in_their_own_units() -> None:
    X = mixed()
    a, _, kind, b = fitted()[2].columns
    assert (a.low, a.high, a.fill) == (X["a"].min(), X["a"].max(), pytest.approx(np.median(X["a"])))
    assert a.typical == pytest.approx(np.median(X["a"]))
    assert b.fill == pytest.approx(np.nanmedian(X["b"].to_numpy()))
    assert sum(b.counts) == 48
    assert kind.typical == "p"
    assert dict(zip(kind.categories, kind.counts, strict=True)) == {
        value: float((X["kind"].to_numpy() == value).sum()) for value in ("p", "q", None)
    }


@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_without_notes_the_typical_value_is_the_one_of_mean_transform(features: str) -> None:
    model, _, _ = fitted(features)
    columns = model.model_.columns
    for column in (columns[0], columns[3]):
        assert column.counts == ()
        assert scaled(model.model_, column, np.array([column.typical]))[0] == pytest.approx(0, abs=0.02)
    assert columns[2].typical == "p"


@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_values_go_to_a_table_and_back(features: str) -> None:
    model, table, read = fitted(features)
    values = values_of(read.columns, table)
    assert len(values) == 60
    assert values[0][1] is None
    assert values[0][3] is None
    again = table_of(read.columns, values)
    np.testing.assert_array_equal(model.features_.transform_table(again), model.features_.transform_table(table))


@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_scaling_is_the_transform_of_one_column_and_can_be_undone(features: str) -> None:
    model, table, read = fitted(features)
    for column in (read.columns[0], read.columns[3]):
        x = mixed()[column.name].to_numpy()
        present = ~np.isnan(x)
        z = scaled(read, column, x[present])
        np.testing.assert_allclose(
            z, model.features_.transform_table(table)[present, column.main], rtol=1e-9, atol=1e-9
        )
        for value, back in zip(z[:10], x[present][:10], strict=True):
            assert unscaled(read, column, float(value)) == pytest.approx(back, rel=1e-5, abs=1e-6)
        assert unscaled(read, column, 1e3) == pytest.approx(column.high, rel=1e-6)


def test_the_typical_row_has_medians_and_the_most_frequent_category() -> None:
    model, _, read = fitted()
    X = mixed()
    row = pl.DataFrame(
        {"a": [np.median(X["a"])], "still": [7.0], "kind": ["p"], "b": [np.nanmedian(X["b"].to_numpy())]}
    )
    np.testing.assert_allclose(typical_inputs(read), model.inputs(row), rtol=1e-9, atol=1e-12)


def with_gaps() -> tuple[pl.DataFrame, Any]:
    """A column that has one value wherever it has any, and matters by its gaps alone."""
    rng = np.random.default_rng(0)
    a, gone = rng.normal(size=60), rng.random(60) < 0.4
    X = pl.DataFrame({"a": a, "b": np.where(gone, np.nan, 5.0)})
    model = LPNNRegressor(**{**TINY, "max_iter": 20}, guard=False).fit(X, a + 3 * gone)
    return X, model


def test_a_constant_with_gaps_is_known_by_its_gaps() -> None:
    X, model = with_gaps()
    table = model.read_table(X)
    read = model.model_.described_by(X)
    assert [(column.role, column.inputs) for column in read.columns] == [("numeric", (0,)), ("constant", (1,))]
    values = values_of(read.columns, table)
    assert {row[1] for row in values} == {None, 5.0}
    again = table_of(read.columns, values)
    np.testing.assert_array_equal(model.features_.transform_table(again), model.features_.transform_table(table))
    assert typical_inputs(read)[0, 1] == 0


def test_gaps_of_a_constant_have_a_strength() -> None:
    X, model = with_gaps()
    found = explain(model, X).strengths
    ranked = found.columns
    assert found.positions == (1, 0)
    z, step = model.inputs(X), torch.tensor([0.0, 1e-5], dtype=torch.float64)
    slope = (model.polynomial_(z + step) - model.polynomial_(z - step)) / 2e-5
    assert ranked[0][1] == pytest.approx(slope.square().mean().sqrt().item() * z[:, 1].numpy().std(), rel=1e-6)
