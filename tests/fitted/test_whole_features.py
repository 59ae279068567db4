"""Features of a table in parts, against those of the whole table."""

from __future__ import annotations

import operator

import numpy as np
import polars as pl
import pytest

from polyladder.fitted.features import Features
from polyladder.fitted.whole_features import Summarize, features_of
from polyladder.tables.partitions import LocalPartitions


def frame(n=2000):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3)) * [1, 100, 1e-3] + [5, 0, 1e3]
    x[rng.random((n, 3)) < 0.02] = np.nan
    text = rng.choice(["a", "b", None], n).tolist()
    text[n - 1] = "only once"
    return pl.DataFrame({"u": x[:, 0], "v": x[:, 1], "w": x[:, 2], "t": text}).with_columns(constant=pl.lit(1.0))


@pytest.mark.parametrize("size", [90, 2000])
def test_equal_to_the_whole_table_where_the_sample_is_all_of_it(size):
    table = frame()
    rows = LocalPartitions([(part, np.zeros(len(part))) for part in table.iter_slices(size)])
    found = features_of(rows.fold(Summarize(10**6), operator.add), Features())
    whole = Features("standard", True, "impute").fit(table)
    # Rows that witness an extreme stand in the sample too: the median of 2,000 rows may move by a row.
    assert found.feature_names_out_ == whole.feature_names_out_
    np.testing.assert_allclose(found.scaler_.mean_, whole.scaler_.mean_, rtol=1e-4)
    np.testing.assert_allclose(found.scaler_.scale_, whole.scaler_.scale_, rtol=1e-4)
    np.testing.assert_array_equal(found.low_, whole.low_)
    np.testing.assert_array_equal(found.high_, whole.high_)
    # Witnesses have no share in the mean.
    np.testing.assert_allclose(found.mean_, whole.mean_, atol=1e-9)


def test_periods_and_ramps_in_parts():
    table = frame()
    rows = LocalPartitions([(part, np.zeros(len(part))) for part in table.iter_slices(300)])
    summary = rows.fold(Summarize(10**6), operator.add)
    found = features_of(summary, Features(ramps=3, periods={"u": 2}))
    whole = Features(ramps=3, periods={"u": 2}).fit(table)
    assert found.feature_names_out_ == whole.feature_names_out_
    assert (np.bincount(found.ramps_.column) == 3).all()
    waves = [k for k, name in enumerate(found.feature_names_out_) if " of u / 2" in name]
    np.testing.assert_allclose(found.transform(table)[:, waves], whole.transform(table)[:, waves], atol=1e-2)
    with pytest.raises(ValueError, match="whole=False and reach=None"):
        features_of(summary, Features(reach=5.0))


def test_a_small_sample_still_knows_ranges_categories_and_scales():
    table = frame().fill_nan(None).fill_null(strategy="forward").drop_nulls()
    rows = LocalPartitions([(part, np.zeros(len(part))) for part in table.iter_slices(300)])
    summary = rows.fold(Summarize(50), operator.add)
    assert len(summary.sample.y) == 50
    found, whole = features_of(summary, Features("piecewise")), Features("piecewise", True, "impute").fit(table)
    np.testing.assert_allclose(found.scaler_.mean_, whole.scaler_.mean_, rtol=1e-12)
    np.testing.assert_allclose(found.scaler_.scale_, whole.scaler_.scale_, rtol=1e-9)
    np.testing.assert_array_equal(found.high_, whole.high_)
    assert [n for n in found.feature_names_out_ if "t = " in n] == [n for n in whole.feature_names_out_ if "t = " in n]
    assert found.ramps_ is not None


def test_parts_with_other_columns_are_refused():
    parts = LocalPartitions([(pl.DataFrame({"a": [1.0]}), np.zeros(1)), (pl.DataFrame({"b": [1.0]}), np.zeros(1))])
    with pytest.raises(ValueError, match="same columns"):
        parts.fold(Summarize(5), operator.add)


def test_the_ranks_of_a_samples_quantiles_keep_to_their_bound():
    # Dvoretzky, Kiefer, Wolfowitz: of all ranks at once, with a probability of 1 - 1e-6.
    n, size = 60_000, 3000
    bound = np.sqrt(np.log(2e6) / (2 * size))
    values = np.sort(np.random.default_rng(0).lognormal(sigma=3.0, size=n))  # sorted: parts do not look alike
    rows = LocalPartitions([(part[:, None], np.zeros(len(part))) for part in np.split(values, 12)])
    sample = rows.fold(Summarize(size), operator.add).sample.table.numbers[:, 0]
    shares = np.linspace(0, 1, 501)
    ranks = np.searchsorted(values, np.quantile(sample, shares)) / n
    assert 0 < np.abs(ranks - shares).max() < bound
