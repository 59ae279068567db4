"""`BatchedGridSearchCV` beside scikit-learn's `GridSearchCV`: the same results from a few programs."""

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.validation import check_is_fitted

from polyladder import BatchedGridSearchCV, GradientTraining, LPNNClassifier, LPNNRegressor
from polyladder.estimators.batch import fitting, together
from polyladder.training.solves import ridge_path

N = 60
STEPS = GradientTraining(dropout=0.0)
EXACT = LPNNRegressor(order=3, width=3, n_estimators=1, max_iter=4, random_state=0)
ADAM = LPNNRegressor(order=3, width=4, solver="adam", n_estimators=1, gradient=STEPS, max_iter=5, random_state=0)
EXACT_CLASSES = LPNNClassifier(order=3, width=3, solver="alternating", n_estimators=1, max_iter=4, random_state=0)
ADAM_CLASSES = LPNNClassifier(order=3, width=4, gradient=STEPS, max_iter=5, random_state=0)
GRID: dict[str, Any] = {"alpha": [1e-4, 10.0]}


def rates(*values: float) -> list[GradientTraining]:
    return [replace(STEPS, learning_rate=value) for value in values]


def table(classes: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows and noisy numbers, or that many classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=N)
    return X, np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)) if classes else y


def both(estimator: Any, grid: Any, X: Any, y: Any, fit: Any = None, **options: Any) -> tuple[Any, Any]:
    """Scikit-learn's search and ours, fitted."""
    return tuple(
        Search(estimator, grid, **options).fit(X, y, **(fit or {})) for Search in (GridSearchCV, BatchedGridSearchCV)
    )


def assert_same(theirs: Any, ours: Any, tolerance: float = 1e-6) -> None:
    """Equal keys and, but for the times, equal values of ``cv_results_``; the same choice."""
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for key, expected in theirs.cv_results_.items():
        found = ours.cv_results_[key]
        if key == "params":
            assert found == expected
        elif key.startswith("param_"):
            assert found.dtype == expected.dtype, key
            assert found.tolist() == expected.tolist(), key
        elif key.endswith("_time"):
            assert found.shape == expected.shape
        else:
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=key)
    for name in ("best_index_", "best_params_", "n_splits_", "multimetric_"):
        assert hasattr(ours, name) == hasattr(theirs, name), name
        assert getattr(ours, name, None) == getattr(theirs, name, None), name
    assert hasattr(ours, "best_score_") == hasattr(theirs, "best_score_")
    assert getattr(ours, "best_score_", 0.0) == pytest.approx(getattr(theirs, "best_score_", 0.0), rel=tolerance)


# The same results


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [EXACT, ADAM], ids=["alternating", "adam"])
def test_regression(estimator: Any) -> None:
    X, y = table()
    several = clone(estimator).set_params(n_estimators=2)
    theirs, ours = both(several, {"alpha": [1e-4, 1e-1, 10.0]}, X, y, cv=3, return_train_score=True)
    assert_same(theirs, ours)
    assert np.ptp(theirs.cv_results_["mean_test_score"]) > 0.01  # the settings differ
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-6)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))
    assert ours.refit_time_ > 0
    assert ours.n_features_in_ == 3
    check_is_fitted(ours)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [EXACT_CLASSES, ADAM_CLASSES], ids=["alternating", "adam"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classification(estimator: Any, classes: int) -> None:
    X, y = table(classes)
    theirs, ours = both(estimator, GRID, X, y, cv=2, scoring="neg_log_loss")
    assert_same(theirs, ours)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(ours.classes_, np.arange(classes))


PATH = {"alpha": [1e-6, 1e-4, 1e-2, 1.0]}


@pytest.mark.parametrize(
    "classes", [0, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_path_of_ridge_weights(classes: int, weighted: bool) -> None:
    """Several seeds, the usual sweeps; weights are fractions, so that they are no repetitions."""
    X, y = table(classes)
    model = clone(EXACT_CLASSES if classes else EXACT).set_params(n_estimators=2, max_iter="auto")
    weight = {"sample_weight": np.random.default_rng(1).uniform(0.2, 2.0, N)} if weighted else {}
    theirs, ours = both(model, PATH, X, y, fit=weight, cv=2, scoring="neg_log_loss" if classes else None)
    assert_same(theirs, ours, tolerance=1e-5)
    assert len(set(theirs.cv_results_["mean_test_score"])) == 4


def test_a_path_makes_its_first_sweeps_once_per_fold_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def counted(start: Any, x: Any, y: Any, stages: Any, **options: Any) -> Any:
        made.append((len(start), stages[0].sweeps))
        return fit_in_stages(start, x, y, stages, **options)

    fit_in_stages = ridge_path.fit_in_stages
    monkeypatch.setattr(ridge_path, "fit_in_stages", counted)
    monkeypatch.setattr(fitting.torch, "get_num_threads", lambda: 1)
    model = clone(EXACT).set_params(n_estimators=2, max_iter=8)
    BatchedGridSearchCV(model, PATH, cv=2, refit=False).fit(*table())
    assert made == [(2, 7), (8, 1)] * 2


def test_a_setting_does_not_depend_on_the_other_ridge_weights() -> None:
    scores = [
        BatchedGridSearchCV(EXACT, {"alpha": alphas}, cv=2, refit=False).fit(*table()).cv_results_["mean_test_score"][0]
        for alphas in ([1e-3], [1e-3, 10.0], [1e-3, 1e-6, 1e-3, 0.0])
    ]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-7)


@pytest.mark.slow
def test_tables_beyond_double_precision() -> None:
    """More than 500 rows train in float32, alone as in a batch."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1010, 2))
    theirs, ours = both(clone(ADAM).set_params(max_iter=2), GRID, X, X[:, 0] * X[:, 1], cv=2)
    assert_same(theirs, ours, tolerance=1e-4)


@pytest.mark.slow
def test_precision_belongs_to_the_fold_and_not_to_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five folds of 48 rows are more than 100 together, and still train in float64 as each does alone."""
    monkeypatch.setattr(fitting, "SMALL_TABLE", 100)
    X, y = table()
    assert_same(*both(ADAM, GRID, X, y, cv=5), tolerance=1e-9)


def test_several_targets() -> None:
    X, y = table()
    assert_same(*both(EXACT, GRID, X, np.column_stack([y, X]), cv=2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "scoring", ["neg_mean_absolute_error", make_scorer(mean_absolute_error, greater_is_better=False)]
)
def test_one_score(scoring: Any) -> None:
    assert_same(*both(EXACT, GRID, *table(), cv=2, scoring=scoring))


@pytest.mark.slow
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "neg_brier_score"])
def test_scores_of_two_classes(scoring: str) -> None:
    assert_same(*both(ADAM_CLASSES, GRID, *table(2), cv=2, scoring=scoring))


def test_a_scorer_of_ones_own_sees_the_model_and_the_rows() -> None:
    def scorer(model: Any, X: Any, y: Any) -> float:
        assert X.shape == (len(y), 3)
        return float(-model.polynomial_.readout.square().mean() - np.abs(model.predict(X) - y).mean() + X.mean())

    assert_same(*both(EXACT, GRID, *table(), cv=2, scoring=scorer))


def test_a_scorer_may_give_several_scores() -> None:
    def scorer(model: Any, X: Any, y: Any) -> dict[str, float]:
        error = model.predict(X) - y
        return {"bias": -abs(float(error.mean())), "spread": -float(error.std())}

    theirs, ours = both(EXACT, GRID, *table(), cv=2, scoring=scorer, refit="spread")
    assert_same(theirs, ours)
    assert ours.multimetric_


# Choosing


SEVERAL = ["r2", "neg_mean_absolute_error"]


@pytest.mark.slow
@pytest.mark.parametrize("refit", ["neg_mean_absolute_error", False])
def test_several_scores(refit: Any) -> None:
    theirs, ours = both(EXACT, GRID, *table(), cv=2, scoring=SEVERAL, refit=refit, return_train_score=True)
    assert_same(theirs, ours)
    assert hasattr(ours, "best_estimator_") == bool(refit)
    assert set(ours.scorer_) == set(SEVERAL)


def test_several_scores_and_no_choice_are_refused() -> None:
    with pytest.raises(ValueError, match="For multi-metric scoring, the parameter refit must be set to a scorer key"):
        BatchedGridSearchCV(EXACT, GRID, cv=2, scoring=SEVERAL).fit(*table())


def test_without_refit_there_is_a_choice_and_no_model() -> None:
    theirs, ours = both(EXACT, GRID, *table(), cv=2, refit=False)
    assert_same(theirs, ours)
    assert not hasattr(ours, "best_estimator_")
    with pytest.raises(AttributeError, match="predict"):
        ours.predict(table()[0])


def test_a_choice_of_ones_own() -> None:
    def largest_alpha(results: dict[str, Any]) -> int:
        assert results["params"][0] == {"alpha": 1e-4}
        return int(np.argmax(results["param_alpha"]))

    theirs, ours = both(EXACT, GRID, *table(), cv=2, refit=largest_alpha)
    assert_same(theirs, ours)
    assert ours.best_params_ == {"alpha": 10.0}
    assert ours.best_estimator_.alpha == 10.0
    np.testing.assert_allclose(ours.predict(table()[0]), theirs.predict(table()[0]))


# Splitting


@pytest.mark.slow
@pytest.mark.parametrize(
    "cv",
    [
        KFold(3, shuffle=True, random_state=1),
        ShuffleSplit(2, test_size=0.3, random_state=0),
        TimeSeriesSplit(2),
        PredefinedSplit(np.arange(N) % 4 - 1),
        [(list(range(30)), list(range(30, N))), (list(range(20, N)), list(range(20)))],
        [(np.arange(N) < 40, np.arange(N) >= 40)],
        [(np.arange(N), np.arange(N))],
    ],
    ids=["shuffled", "random", "time", "predefined", "lists", "masks", "all rows"],
)
def test_any_splitter(cv: Any) -> None:
    assert_same(*both(EXACT, GRID, *table(), cv=cv))


@pytest.mark.slow
@pytest.mark.parametrize("cv", [GroupKFold(3), LeaveOneGroupOut()])
def test_groups(cv: Any) -> None:
    assert_same(*both(EXACT, GRID, *table(), fit={"groups": np.arange(N) % 3}, cv=cv))


@pytest.mark.slow
def test_classes_are_stratified() -> None:
    X, y = table(2)
    order = np.argsort(y, kind="stable")
    theirs, ours = both(ADAM_CLASSES, GRID, X[order], y[order], cv=2)
    assert_same(theirs, ours)
    stratified = BatchedGridSearchCV(ADAM_CLASSES, GRID, cv=StratifiedKFold(2)).fit(X[order], y[order])
    np.testing.assert_allclose(stratified.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [EXACT_CLASSES, ADAM_CLASSES], ids=["alternating", "adam"])
def test_a_fold_that_lacks_a_class(estimator: Any) -> None:
    X, y = table(3)
    folds = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2)), (np.arange(40), np.arange(40, N))]
    assert_same(*both(estimator, GRID, X, y, cv=folds))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [np.arange(N) % 3 + 1.0, np.linspace(0.1, 2.0, N), np.arange(N) / N])
@pytest.mark.parametrize("estimator", [EXACT, ADAM], ids=["alternating", "adam"])
def test_sample_weight(estimator: Any, weight: Any) -> None:
    X, y = table()
    theirs, ours = both(estimator, GRID, X, y, fit={"sample_weight": weight}, cv=2)
    assert_same(theirs, ours)
    plain = BatchedGridSearchCV(estimator, GRID, cv=2).fit(X, y)
    assert not np.allclose(plain.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_a_fold_whose_weights_are_whole_beside_one_whose_are_not() -> None:
    weight = np.where(np.arange(N) < 30, 2.0, 0.5)
    folds = [(np.arange(30), np.arange(30, N)), (np.arange(30, N), np.arange(30))]
    assert_same(*both(ADAM, GRID, *table(), fit={"sample_weight": weight}, cv=folds))


# Grids


@pytest.mark.slow
def test_a_list_of_grids_and_mixed_shapes() -> None:
    grid = [
        {"alpha": [1e-3, "auto"], "width": [2, 3]},
        {"solver": ["adam"], "max_iter": [2, 3], "gradient": rates(1e-3, 1e-2)},
        {"order": [2, 4], "features": ["quantile"]},
    ]
    theirs, ours = both(EXACT, grid, *table(), cv=2)
    assert_same(theirs, ours)
    assert len(ours.cv_results_["params"]) == 10


def test_equal_shapes_share_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def run(group: Any, *args: Any) -> Any:
        sizes.append(len(group))
        return train_by_gradient(group, *args)

    train_by_gradient = fitting.train_by_gradient
    monkeypatch.setattr(fitting, "train_by_gradient", run)
    grid = {"alpha": [0.0, 1e-3], "gradient": rates(1e-3, 1e-2), "width": [3, 4]}
    BatchedGridSearchCV(ADAM, grid, cv=2, refit=False).fit(*table())
    assert sizes == [8, 8]  # four settings on two folds, for each of two widths


def test_equal_features_are_fitted_once_a_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []

    def run(jobs: Any, *args: Any) -> Any:
        tables.append(len({id(job.rows) for job in jobs}))
        return fit_jobs(jobs, *args)

    fit_jobs = fitting.fit_jobs
    monkeypatch.setattr(together, "fit_jobs", run)
    BatchedGridSearchCV(EXACT, GRID | {"features": ["standard", "quantile"]}, cv=3, refit=False).fit(*table())
    assert tables == [6]


@pytest.mark.slow
def test_random_state_may_be_left_open() -> None:
    search = BatchedGridSearchCV(clone(EXACT).set_params(random_state=None), GRID, cv=2).fit(*table())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    generator = np.random.RandomState(0)
    assert_same(*both(clone(EXACT).set_params(random_state=generator), GRID, *table(), cv=2))


# Pipelines and frames


@pytest.mark.slow
def test_a_pipeline_that_ends_with_a_ladder() -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("expand", PolynomialFeatures(2)), ("ladder", EXACT)])
    grid = {"ladder__alpha": [1e-3, 1.0], "expand__degree": [1, 2], "scale": [StandardScaler(), "passthrough"]}
    X, y = table()
    theirs, ours = both(pipeline, grid, X, y, cv=2, refit=False)
    # Ranks are left out: the ladder scales its inputs itself, so two settings tie but for rounding.
    for key in ("split0_test_score", "split1_test_score", "mean_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-6)
    fitted = BatchedGridSearchCV(pipeline, {"ladder__alpha": [1e-3, 1.0]}, cv=2).fit(X, y)
    assert isinstance(fitted.best_estimator_, Pipeline)
    assert fitted.predict(X).shape == (N,)


def test_steps_before_the_ladder_are_fitted_once_a_fold() -> None:
    fits = []

    class Counting(StandardScaler):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            fits.append(len(X))
            return super().fit(X, y, sample_weight)

    pipeline = Pipeline([("scale", Counting()), ("ladder", EXACT)])
    BatchedGridSearchCV(pipeline, {"ladder__alpha": [1e-3, 1.0, 2.0]}, cv=3, refit=False).fit(*table())
    assert fits == [40, 40, 40]


@pytest.mark.slow
def test_weights_reach_the_ladder_of_a_pipeline() -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("ladder", EXACT)])
    fit = {"ladder__sample_weight": np.linspace(0.1, 2.0, N)}
    assert_same(*both(pipeline, {"ladder__alpha": [1e-3, 1.0]}, *table(), fit=fit, cv=2))


@pytest.mark.slow
def test_as_a_step_of_a_pipeline() -> None:
    X, y = table()
    pipeline = make_pipeline(PCA(2), BatchedGridSearchCV(EXACT, GRID, cv=2))
    theirs = make_pipeline(PCA(2), GridSearchCV(EXACT, GRID, cv=2))
    np.testing.assert_allclose(cross_val_score(pipeline, X, y, cv=2), cross_val_score(theirs, X, y, cv=2), rtol=1e-6)
    assert pipeline.fit(X, y)[-1].best_params_ == theirs.fit(X, y)[-1].best_params_


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories(frame: Any) -> None:
    X, y = table()
    columns = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down").tolist()}
    theirs, ours = both(EXACT, GRID, frame(columns), y, cv=2)
    assert_same(theirs, ours)
    assert ours.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.slow
def test_a_search_can_be_pickled_and_does_not_carry_its_folds() -> None:
    X, y = table()
    search = BatchedGridSearchCV(EXACT, {"alpha": list(np.logspace(-4, 1, 20))}, cv=2).fit(X, y)
    stored = pickle.dumps(search)
    np.testing.assert_array_equal(pickle.loads(stored).predict(X), search.predict(X))
    assert len(stored) < 2 * len(pickle.dumps(search.best_estimator_))


def test_metadata_routing_does_not_disturb() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        search = BatchedGridSearchCV(EXACT, GRID, cv=2).fit(*table())
    assert_same(GridSearchCV(EXACT, GRID, cv=2).fit(*table()), search)


# Words and refusals


def test_time_is_shared_out() -> None:
    search = BatchedGridSearchCV(EXACT, GRID, cv=2).fit(*table())
    assert len(set(search.cv_results_["mean_fit_time"])) == 1
    assert search.cv_results_["mean_fit_time"][0] > 0
    assert (search.cv_results_["std_fit_time"] == 0).all()


def test_verbose_shows_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    BatchedGridSearchCV(EXACT, GRID, cv=2, verbose=1).fit(*table())
    out, err = capfd.readouterr()
    assert out == ""
    assert [line.startswith("Grid search") for line in err.splitlines() if line.strip()] == [True]
    BatchedGridSearchCV(EXACT, GRID, cv=2).fit(*table())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", [Ridge(), make_pipeline(StandardScaler(), Ridge())])
def test_other_estimators_are_refused(estimator: Any) -> None:
    grid = {"ridge__alpha" if isinstance(estimator, Pipeline) else "alpha": [1.0]}
    with pytest.raises(ValueError, match=r"estimator must be an LPNN.*got Ridge\. Use scikit-learn's GridSearchCV"):
        BatchedGridSearchCV(estimator, grid).fit(*table())


def test_other_fit_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="fit must be given no parameters but 'groups' and 'sample_weight'; got"):
        BatchedGridSearchCV(EXACT, GRID).fit(*table(), epochs=3)


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_setting_that_fails_scores_as_told() -> None:
    grid = {"alpha": [1e-3, -1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(EXACT, grid, cv=2).fit(*table())
    with pytest.warns(FitFailedWarning, match="'alpha' parameter of LPNNRegressor must be a float"):
        ours = BatchedGridSearchCV(EXACT, grid, cv=2).fit(*table())
    assert np.isnan(ours.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert_same(theirs, ours)
    with pytest.raises(ValueError, match="'alpha' parameter of LPNNRegressor must be a float"):
        BatchedGridSearchCV(EXACT, grid, cv=2, error_score="raise").fit(*table())


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_a_setting_that_diverges_scores_as_told() -> None:
    grid = {"gradient": [replace(step, batch_norm=False) for step in rates(1e-2, 1e30)]}
    model = clone(ADAM).set_params(order=6)
    with pytest.warns(FitFailedWarning, match="Every model diverged"):
        ours = BatchedGridSearchCV(model, grid, cv=2).fit(*table())
    assert np.isnan(ours.cv_results_["mean_test_score"]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("grid", "sentence"), [({"depth": [1]}, "Invalid parameter 'depth'"), ({"alpha": 1.0}, "Parameter grid|sequence")]
)
def test_bad_grids_are_refused(grid: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        BatchedGridSearchCV(EXACT, grid, cv=2).fit(*table())
