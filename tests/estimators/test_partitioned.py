"""Estimators fitted to batches and to dask collections, against the same rows in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import make_friedman1

import polyladder
from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.fitted.features import Features
from tests.estimators.batches import Batches


def rows(n=900):
    X, y = make_friedman1(n, n_features=6, noise=0.5, random_state=0)
    return X, y


@pytest.mark.slow
def test_batches_as_in_memory_whatever_their_size():
    X, y = rows()
    model = LPNNRegressor(order=3, width=6, n_estimators=1, max_iter=3, random_state=0)
    small = model.fit_batches(Batches(X, y, 70)).predict(X)
    large = LPNNRegressor(**model.get_params()).fit_batches([(X, y)])
    # The sample is the same rows however they are parted, and so is the fit, in double precision below 1,000 rows.
    np.testing.assert_allclose(small, large.predict(X), rtol=1e-6, atol=1e-6)
    whole = Features().fit(X)
    np.testing.assert_allclose(large.features_.scaler_.scale_, whole.scaler_.scale_, rtol=1e-12)
    np.testing.assert_allclose(large.features_.low_, whole.low_)
    assert large.score(X, y) > 0.97
    assert large.target_.mean.item() == pytest.approx(y.mean())


@pytest.mark.slow
def test_frames_with_categories_missing_numbers_and_classes(tmp_path):
    X, y = rows(1500)
    frame = pd.DataFrame(X).add_prefix("c")
    frame["kind"] = np.where(y > 14, "high", "low")
    frame.loc[1400, "kind"] = "rare"
    frame.loc[3, "c2"] = np.nan
    labels = np.where(y > 14, "b", "a")
    parts = [(frame.iloc[i : i + 400], labels[i : i + 400]) for i in range(0, 1500, 400)]
    model = LPNNClassifier(order=2, width=4, n_estimators=1, random_state=0).fit_batches(parts)
    assert model.score(frame, labels) > 0.97
    assert "kind = rare" in model.features_.feature_names_out_
    assert "c2 is missing" in model.features_.feature_names_out_
    model.save(tmp_path / "m.ladder")
    np.testing.assert_array_equal(polyladder.load(tmp_path / "m.ladder").predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match=r"c2.*impute"):
        LPNNClassifier(order=2, missing="error").fit_batches(parts)


@pytest.mark.slow
def test_dask_collections_equal_batches():
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    X, y = rows()
    settings = {"order": 3, "width": 5, "n_estimators": 1, "max_iter": 2, "random_state": 0}
    torch.set_num_threads(1)
    batches = LPNNRegressor(**settings).fit_batches(Batches(X, y, 300)).predict(X)
    arrays = LPNNRegressor(**settings).fit(da.from_array(X, (300, -1)), da.from_array(y, 300))
    np.testing.assert_allclose(arrays.predict(X), batches, rtol=1e-6, atol=1e-6)
    table = pd.DataFrame(X).add_prefix("c").assign(y=y)
    frames = dd.from_pandas(table, npartitions=3)
    framed = LPNNRegressor(**settings).fit(frames.drop(columns="y"), frames["y"])
    np.testing.assert_allclose(framed.predict(table.drop(columns="y")), batches, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="rechunk"):
        LPNNRegressor(**settings).fit(da.from_array(X, (300, 3)), da.from_array(y, 300))


@pytest.mark.slow
def test_order_is_chosen_on_the_sample():
    X, y = rows(2000)
    model = LPNNRegressor(width=4, n_estimators=1, max_iter=1, random_state=0).fit_batches([(X, y)])
    assert 2 <= model.order_ <= 5
    assert model.score(X, y) > 0.95


def test_parts_of_dask_ml_are_learned_one_after_another():
    wrappers = pytest.importorskip(
        "dask_ml.wrappers", reason="dask-ml is not installed: Incremental is NOT tested here"
    )
    import dask.array as da

    X, y = rows()
    settings = {"order": 3, "width": 5, "n_estimators": 1, "max_iter": 5, "random_state": 0}
    wrapped = wrappers.Incremental(LPNNRegressor(**settings), shuffle_blocks=False)
    parts = da.from_array(X, (300, -1))
    wrapped.fit(parts, da.from_array(y, 300))
    by_hand = LPNNRegressor(**settings)
    for X_part, y_part in Batches(X, y, 300):
        by_hand.partial_fit(X_part, y_part)
    np.testing.assert_allclose(wrapped.predict(parts).compute(), by_hand.predict(X))


def test_gross_errors_in_parts_pull_little():
    X, y = rows(800)
    wrong = y.copy()
    wrong[::10] += 400
    model = LPNNRegressor(order=2, width=6, n_estimators=1, loss="huber", random_state=0)
    model.fit_batches(Batches(X, wrong, 300))
    assert (model.target_.low.item(), model.target_.high.item()) == (wrong.min(), wrong.max())
    assert model.target_.loss.settled
    clean = LPNNRegressor(**(model.get_params() | {"loss": "squared"})).fit_batches(Batches(X, y, 300))
    misled = LPNNRegressor(**clean.get_params()).fit_batches(Batches(X, wrong, 300))
    errors = [np.sqrt(np.mean((each.predict(X) - y) ** 2)) for each in (clean, model, misled)]
    assert errors[1] < 1.2 * errors[0]
    assert errors[2] > 5 * errors[1]
