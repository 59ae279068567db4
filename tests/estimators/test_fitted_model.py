import numpy as np
import pytest
from scipy import sparse

from polyladder import FeedforwardRegressor, LPNNRegressor
from polyladder.fitted.model import fitted_model
from polyladder.fitted.steps import Affine, Clip, Fill, IsCategory, IsMissing
from polyladder.tables.describe import describe_columns
from tests.export.estimators import fitted


def test_columns_and_steps_of_a_mixed_table():
    model = fitted_model(fitted("gaps and categories")[0])
    assert [(c.name, c.kind) for c in model.columns] == [
        ("flat (m)", "number"),
        ("often zero", "number"),
        ('signed "s"', "number"),
        ("color", "category"),
        ("always", "number"),
    ]
    assert [type(step) for step in model.steps[1].steps] == [Fill, Clip, Affine]
    assert model.steps[3].steps == (IsMissing(),)
    assert model.steps[4].steps == (IsCategory("blue"),)
    assert model.steps[7].steps == (IsCategory(None),)
    assert fitted_model(model) is model


def test_columns_of_zeros_and_ones_are_known():
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 2, 40), rng.uniform(0, 1, 40), np.r_[0.0, 1.0, rng.uniform(0, 1, 38)]], 1)
    for features in ("standard", "quantile", "yeo-johnson"):
        model = LPNNRegressor(order=2, width=2, max_iter=2, features=features, random_state=0).fit(X, X[:, 1])
        assert [column.binary for column in fitted_model(model).columns] == [True, False, False]
        model.card_ = {"columns": describe_columns(model.read_table(X))}
        assert [column.binary for column in fitted_model(model).columns] == [True, False, False]


def test_numbers_that_stand_for_missing_ones_are_not_far_beyond_the_training_range():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    X[::7, 0] = np.nan
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X[:40], y[:40])
    model.calibrate(X[40:], y[40:])
    rows = np.array([[np.nan, 0.3], [-999.0, 0.3]])
    scales = model.predict_distribution(rows).scale[:, 0]
    assert scales[1] > 1.1 * scales[0]
    model.card_ = {"columns": [{"written": {"kind": "number", "missing": -999.0}}, {}]}
    for _ in range(2):
        missing, coded = model.predict_distribution(rows).scale[:, 0].tolist()
        assert missing == coded == scales[0]
        model.calibrate(X[40:], y[40:])  # knows the code by now


def test_models_without_a_ladder_or_of_sparse_rows_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(TypeError, match="must be a ladder or a fitted estimator with one behind it"):
        fitted_model(FeedforwardRegressor(max_iter=1).fit(X, X[:, 0]))
    rows = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match="dense table"):
        fitted_model(LPNNRegressor(solver="adam", max_iter=1, width=2).fit(rows, X[:, 0]))
