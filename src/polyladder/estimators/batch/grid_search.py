"""`BatchedGridSearchCV`: a whole grid of settings and folds as a few programs."""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted

from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.batch.together import Request, fit_together
from polyladder.estimators.draft import draft_of
from polyladder.estimators.ensemble import EnsembleEstimator
from polyladder.fitted.model import FittedModel, fitted_model


class BatchedGridSearchCV(GridSearchCV):  # type: ignore[misc]
    """Grid search with cross-validation in which models of equal shape train together.

    Constructor, methods and attributes are those of scikit-learn's ``GridSearchCV``, and so are the scores: with
    dropout off they agree to rounding. A single fit has no time of its own: ``mean_fit_time`` is that of all of them
    divided by their number.

    Parameters
    ----------
    estimator : LPNNRegressor, LPNNClassifier, one of their rivals here, or a Pipeline that ends with one
    param_grid : dict or list of dict
    scoring, refit, cv, verbose, error_score, return_train_score
        As in ``GridSearchCV``.
    n_jobs, pre_dispatch
        Without effect: the batch takes the place of processes. Within ``joblib.parallel_config(backend="dask")``,
        ``"ray"`` or ``"loky"`` the batches go to the workers of that engine.

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
            ``groups`` for the splitter, and ``sample_weight`` (for a pipeline, ``<last step>__sample_weight``).

        Returns
        -------
        self
        """
        with draft_of(self) as draft:
            draft._search(X, y, params)
        return self

    def _search(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        X, y, groups = indexable(X, y, params.pop("groups", None))
        numbers = np.arange(_num_samples(X))
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = [(numbers[train], numbers[test]) for train, test in splitter.split(X, y, groups)]
        settings = list(ParameterGrid(self.param_grid))
        began = time.perf_counter()
        fitted = self._fit_all(X, y, settings, [train for train, _ in folds], params)
        seconds = (time.perf_counter() - began) / max(1, len(fitted))

        def fit_anew(setting: int) -> Any:
            return self._model(settings[setting]).fit(X, y, **params)

        def results(found: dict[str, Any]) -> dict[str, Any]:
            return with_settings(found, settings, seconds)

        # Scikit-learn does the scoring, the bookkeeping and the choice, over models that are fitted already: "fitting"
        # setting i on a fold looks the model up by the fold's row numbers.
        search = GridSearchCV(
            SearchedModel(fitted, fit_anew, self.estimator),
            {"setting": list(range(len(settings)))},
            scoring=self.scoring,
            refit=(lambda found: self.refit(results(found))) if callable(self.refit) else self.refit,
            cv=folds,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
        )
        # The scores take milliseconds here; on an engine's workers every one of them would wait for all the models.
        with config_context(enable_metadata_routing=False), parallel_config(backend="sequential"):
            search.fit(X, y, rows=numbers, **params)
        self.cv_results_ = results(search.cv_results_)
        self.n_splits_, self.multimetric_ = search.n_splits_, search.multimetric_
        # Without `scoring` the inner scorer would hold on to every fitted model.
        self.scorer_ = check_scoring(self.estimator) if self.scoring is None else search.scorer_
        if self.refit or not search.multimetric_:
            self.best_index_ = search.best_index_
            self.best_params_ = settings[self.best_index_]
            if not callable(self.refit):
                self.best_score_ = search.best_score_
        if self.refit:
            self.refit_time_ = search.refit_time_
            self.best_estimator_ = search.best_estimator_.model_
            best = self.best_estimator_
            if isinstance(best, EnsembleEstimator) and best.names_in is not None:
                self.feature_names_in_ = best.names_in

    @property
    def model_(self) -> FittedModel:
        """What the best estimator fitted."""
        check_is_fitted(self, "best_estimator_")
        return fitted_model(self.best_estimator_)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.target_tags, tags.input_tags = inner.target_tags, inner.input_tags
        return tags

    def _model(self, setting: dict[str, Any]) -> Any:
        return clone(self.estimator).set_params(**clone(setting, safe=False))

    def _fit_all(
        self, X: Any, y: Any, settings: list[dict[str, Any]], folds: list[Any], params: dict[str, Any]
    ) -> dict[tuple[int, bytes], Any]:
        """Fit every setting on every fold, all together.

        Returns:
            For each setting's position and fold's row numbers the fitted model, or the error that it ended with.
        """
        weight_name = self._weight_name()
        if set(params) - {weight_name}:
            raise ValueError(f"fit must be given no parameters but 'groups' and {weight_name!r}; got {sorted(params)}.")
        found: dict[tuple[int, bytes], Any] = {}
        requests: dict[tuple[int, bytes], Request] = {}
        for train in folds:
            heads: dict[str, Any] = {}
            rows, target = _safe_indexing(X, train), None if y is None else _safe_indexing(y, train)
            weight = _check_method_params(X, params=params, indices=train).get(weight_name)
            for i, setting in enumerate(settings):
                model, key = self._model(setting), (i, train.tobytes())
                last = model.steps[-1][1] if isinstance(model, Pipeline) else model
                if not isinstance(last, EnsembleEstimator):
                    raise ValueError(
                        "estimator must be an LPNNRegressor, an LPNNClassifier, one of their rivals here, or a "
                        f"Pipeline that ends with one; got {type(last).__name__}. "
                        "Use scikit-learn's GridSearchCV for others."
                    )
                found[key] = model
                try:
                    table = rows
                    if isinstance(model, Pipeline) and len(model.steps) > 1:
                        table = transformed(model, setting, rows, target, heads)
                    requests[key] = Request(last, table, target, weight)
                except Exception as error:  # the inner search deals with it as `error_score` says
                    found[key] = error
        errors = fit_together(list(requests.values()), Progress(bool(self.verbose), "Grid search"))
        return found | {key: error for key, error in zip(requests, errors, strict=True) if error is not None}

    def _weight_name(self) -> str:
        if isinstance(self.estimator, Pipeline):
            return f"{self.estimator.steps[-1][0]}__sample_weight"
        return "sample_weight"


def transformed(pipeline: Pipeline, setting: dict[str, Any], X: Any, y: Any, heads: dict[str, Any]) -> Any:
    """What the steps before the last make of the rows; equal steps are fitted once per fold."""
    last = pipeline.steps[-1][0]
    # All pipelines are clones of one, so their heads differ by the setting alone; a grid repeats its very objects.
    key = f"head {[(name, id(value)) for name, value in setting.items() if name.split('__')[0] != last]}"
    if key not in heads:
        head = pipeline[:-1]
        heads[key] = (head.fit_transform(X, y), head.steps)
    table, steps = heads[key]
    pipeline.steps[:-1] = steps
    return table


def with_settings(results: dict[str, Any], settings: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """The results of a search over positions of settings, as those of a search over the settings."""
    named: dict[str, Any] = {}
    for key, values in results.items():
        if key == "param_setting":
            named |= parameter_columns(settings)
        else:
            named[key] = values
    times = {"mean_fit_time": np.full(len(settings), seconds), "std_fit_time": np.zeros(len(settings))}
    return named | times | {"params": settings}


def parameter_columns(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """The ``param_`` columns of ``cv_results_``: masked where a setting does not name the parameter."""
    columns = {}
    for name in dict.fromkeys(name for setting in settings for name in setting):
        given = {i: setting[name] for i, setting in enumerate(settings) if name in setting}
        numeric = all(np.ndim(value) == 0 and np.asarray(value).dtype.kind in "bif" for value in given.values())
        dtype = np.result_type(*given.values()) if numeric else np.dtype(object)
        values = np.ma.MaskedArray(np.empty(len(settings), dtype=dtype), mask=True)
        for i, value in given.items():
            values[i] = value
        columns[f"param_{name}"] = values
    return columns


class SearchedModel(BaseEstimator):  # type: ignore[misc]
    """A model that was fitted elsewhere, for scikit-learn to score.

    Parameters
    ----------
    lookup : dict
        Models, or the errors they ended with, by the setting's position and the training rows' numbers.
    fit_anew : callable
        Fits a setting on all rows.
    template : estimator
        What kind of estimator the models are.
    setting : int
        Which of the settings this is.
    """

    model_: Any = None
    """The model, once it was looked up."""

    def __init__(self, lookup: Any = None, fit_anew: Any = None, template: Any = None, setting: int = 0) -> None:
        self.lookup = lookup
        self.fit_anew = fit_anew
        self.template = template
        self.setting = setting

    def __sklearn_clone__(self) -> SearchedModel:
        # A clone must share the models, not copy them.
        return SearchedModel(self.lookup, self.fit_anew, self.template, self.setting)

    def __sklearn_tags__(self) -> Any:
        return self.template.__sklearn_tags__()

    def fit(self, X: Any, y: Any = None, rows: Any = None, **params: Any) -> SearchedModel:
        """Look the model up; rows that are no fold's are all rows, for the last fit. The weights were used already."""
        key = (self.setting, rows.tobytes())
        found = self.lookup[key] if key in self.lookup else self.fit_anew(self.setting)
        if isinstance(found, Exception):
            raise found
        self.model_ = found
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The model's own score."""
        return float(self.model_.score(X, y, sample_weight=sample_weight))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.model_ is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.model_, name)
