"""`BatchedGridSearchCV`: a whole grid of settings and folds as a few programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_method_params, _num_samples

from polyladder.estimators.fitting import Job, fit_jobs
from polyladder.estimators.ladder import LadderEstimator
from polyladder.estimators.progress import Progress


class BatchedGridSearchCV(GridSearchCV):  # type: ignore[misc]
    """Grid search with cross-validation in which models of equal shape train together.

    Constructor, methods and attributes are those of scikit-learn's ``GridSearchCV``, and so are the scores: with
    dropout off they agree to rounding. ``mean_fit_time`` is the time of the whole search divided by the number of fits.

    Parameters
    ----------
    estimator : LPNNRegressor, LPNNClassifier, or a Pipeline that ends with one
    param_grid : dict or list of dict
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``. ``n_jobs`` and ``pre_dispatch`` concern the scoring alone.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import BatchedGridSearchCV, LPNNRegressor
    >>> X, y = make_friedman1(120, random_state=0)
    >>> model = LPNNRegressor(order=3, n_estimators=1, max_iter=5, random_state=0)
    >>> search = BatchedGridSearchCV(model, {"alpha": [1e-4, 1e-2, 1.0]}, cv=3).fit(X, y)
    >>> search.best_params_
    {'alpha': 0.01}
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit every setting on every fold, score, and refit the best on all rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, m)
        **params : dict
            ``groups`` for the splitter, and fit parameters of the estimator such as ``sample_weight``.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        X, y, groups = indexable(X, y, params.pop("groups", None))
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y, groups))
        settings = list(ParameterGrid(self.param_grid))
        fitted = self._fit_all(X, y, settings, folds, params)
        seconds = time.perf_counter() - began

        # Scikit-learn does the scoring and the bookkeeping, over models that are fitted already: its rows are row
        # numbers, and "fitting" setting i on a fold looks the model up.
        lookup = {(i, train.tobytes()): model for (i, train), model in fitted}
        search = GridSearchCV(
            FittedModel(lookup=lookup, table=X, template=self.estimator),
            {"setting": list(range(len(settings)))},
            scoring=self.scoring,
            n_jobs=None,
            refit=self.refit if callable(self.refit) or isinstance(self.refit, str) else False,
            cv=folds,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
        )
        search.fit(np.arange(_num_samples(X)).reshape(-1, 1), y)
        results = {name: values for name, values in search.cv_results_.items() if name != "param_setting"}
        results["mean_fit_time"] = np.full(len(settings), seconds / (len(settings) * len(folds)))
        results["params"] = settings
        self.cv_results_ = results | parameter_columns(settings)
        self.scorer_, self.n_splits_, self.multimetric_ = search.scorer_, search.n_splits_, search.multimetric_
        if self.refit or not self.multimetric_:
            name = self.refit if isinstance(self.refit, str) else "score"
            best = search.best_index_ if hasattr(search, "best_index_") else int(results[f"rank_test_{name}"].argmin())
            self.best_index_, self.best_params_ = best, settings[best]
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{name}"][best]
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_.fit(X, y, **params)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _fit_all(
        self, X: Any, y: Any, settings: list[dict[str, Any]], folds: list[tuple[Any, Any]], params: dict[str, Any]
    ) -> list[tuple[tuple[int, Any], Any]]:
        """Open every (setting, fold), run all their jobs together, close them. Pairs of key and fitted model."""
        opened: list[tuple[tuple[int, Any], Any, Callable[..., None], int]] = []
        jobs: list[Job] = []
        losses = set()
        for train, _ in folds:
            shared: dict[str, Any] = {}
            rows, target = _safe_indexing(X, train), None if y is None else _safe_indexing(y, train)
            extra = _check_method_params(X, params=params, indices=train)
            for i, setting in enumerate(settings):
                model = clone(self.estimator).set_params(**clone(setting, safe=False))
                ladder = model.steps[-1][1] if isinstance(model, Pipeline) else model
                if not isinstance(ladder, LadderEstimator):
                    raise ValueError(
                        "estimator must be an LPNNRegressor, an LPNNClassifier or a Pipeline that ends with one; "
                        f"got {type(ladder).__name__}. Use scikit-learn's GridSearchCV for others."
                    )
                table = rows
                if isinstance(model, Pipeline) and len(model.steps) > 1:
                    table = transformed(model, rows, target, shared)
                new, finish = ladder._open(table, target, extra.get("sample_weight"), shared)
                losses.add(ladder._loss(new[0].rows))
                opened.append(((i, train), model, finish, len(new)))
                jobs += new
        results = iter(fit_jobs(jobs, losses.pop(), Progress(bool(self.verbose), "Grid search")))
        for _, _, finish, count in opened:
            finish([next(results) for _ in range(count)])
        return [(key, model) for key, model, _, _ in opened]


def transformed(pipeline: Pipeline, X: Any, y: Any, shared: dict[str, Any]) -> Any:
    """What the steps before the last make of the rows; equal steps are fitted once a fold."""
    head = pipeline[:-1]
    key = f"pipeline {head.get_params()}"
    if key not in shared:
        shared[key] = (head.steps, head.fit_transform(X, y))
    steps, table = shared[key]
    pipeline.steps[:-1] = steps
    return table


def parameter_columns(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """The ``param_`` columns of ``cv_results_``: masked where a setting does not name the parameter."""
    columns = {}
    for name in sorted({name for setting in settings for name in setting}):
        values = np.ma.MaskedArray(np.empty(len(settings), dtype=object), mask=True)
        for i, setting in enumerate(settings):
            if name in setting:
                values[i] = setting[name]
        columns[f"param_{name}"] = values
    return columns


class FittedModel(BaseEstimator):  # type: ignore[misc]
    """A model that was fitted elsewhere, for scikit-learn to score: rows are row numbers of a table."""

    def __init__(self, lookup: Any = None, table: Any = None, template: Any = None, setting: int = 0) -> None:
        self.lookup = lookup
        self.table = table
        self.template = template
        self.setting = setting

    def __sklearn_clone__(self) -> FittedModel:
        # A clone must share the models and the table, not copy them.
        return FittedModel(self.lookup, self.table, self.template, self.setting)

    def __sklearn_tags__(self) -> Any:
        return self.template.__sklearn_tags__()

    def fit(self, rows: Any, y: Any = None) -> FittedModel:
        """Look the model up."""
        self.model_ = self.lookup[self.setting, np.asarray(rows)[:, 0].tobytes()]
        return self

    def score(self, rows: Any, y: Any) -> float:
        """The model's own score."""
        return float(self.model_.score(self._rows(rows), y))

    def _rows(self, rows: Any) -> Any:
        return _safe_indexing(self.table, np.asarray(rows)[:, 0])

    def __getattr__(self, name: str) -> Any:
        if name not in ("classes_", "predict", "predict_proba", "decision_function") or "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = getattr(self.model_, name)
        # Scorers read the method's name, so the wrapper must keep it.
        return value if name == "classes_" else wraps(value)(lambda rows: value(self._rows(rows)))
