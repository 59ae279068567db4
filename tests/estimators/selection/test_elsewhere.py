"""A choice whose candidates are solved by other processes is the same choice (dask: tests/training/test_spread.py)."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from polyladder import LPNNClassifier
from polyladder.estimators.selection.elsewhere import SPREAD_ROWS, workers_for


def test_only_large_tables_are_sent_and_only_where_there_are_workers():
    assert workers_for(SPREAD_ROWS) == 0
    with joblib.parallel_config("loky", n_jobs=2):
        assert workers_for(SPREAD_ROWS - 1) == 0
        assert workers_for(SPREAD_ROWS) == 2


@pytest.mark.slow
def test_classes_on_loky_are_chosen_as_here():
    X, y = make_friedman1(SPREAD_ROWS, n_features=5, noise=1.0, random_state=0)
    y = (y > np.median(y)).astype(int)
    model = LPNNClassifier(effort="low", random_state=0)
    here = clone(model).fit(X, y)
    with joblib.parallel_config("loky", n_jobs=2):
        model.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), here.predict_proba(X), rtol=1e-6, atol=1e-6)
    for mine, theirs in zip(here.selection_.candidates, model.selection_.candidates, strict=True):
        assert (mine.model, mine.features, mine.order) == (theirs.model, theirs.features, theirs.order)
        assert mine.weight == pytest.approx(theirs.weight, abs=1e-6)
