"""Other models to compare a ladder with, on the same held-out rows: mean, linear, cubic ridge, boosted trees."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PolynomialFeatures, StandardScaler
from threadpoolctl import threadpool_limits

from polyladder.automatic.budget import Deadline, RowsToFit, fit_in_time
from polyladder.automatic.card import HeldOut, Score
from polyladder.automatic.metrics import judged
from polyladder.automatic.polynomial_ridge import ALPHAS, PolynomialRidge
from polyladder.fitted.features import Features
from polyladder.tables.table import find_categories, read_table

MONOMIALS = {"regression": 2000, "classification": 600}
"""How many monomials the polynomial ridge may have; with more, its degree is lowered."""

CELLS = 3e7
"""Rows times monomials of the polynomial of classes: 240 MB. Of more rows a sample is taken."""


def baselines(inputs: int, task: Literal["regression", "classification"]) -> dict[str, Any]:
    """Other models by name, for a table that becomes this many inputs."""
    regression = task == "regression"
    found: dict[str, Any] = {
        "mean" if regression else "most frequent": DummyRegressor() if regression else DummyClassifier()
    }
    degree = next((p for p in (3, 2) if math.comb(inputs + p, p) <= MONOMIALS[task]), 1)
    for p in (1, degree) if degree > 1 else (1,):
        name = {1: "linear", 2: "quadratic ridge", 3: "cubic ridge"}[p]
        if regression:
            # A line goes on beyond the training range, as anyone would fit it.
            linear = make_pipeline(Features(clip=False), RidgeCV((1e-8, 1e-4, *ALPHAS)))
            found[name] = linear if p == 1 else PolynomialRidge(p)
            continue
        powers = [] if p == 1 else [PolynomialFeatures(p, include_bias=False), StandardScaler(copy=False)]
        last = LogisticRegression(C=1.0 if p == 1 else 0.1, max_iter=500)
        pipeline = make_pipeline(Features(clip=p > 1), *powers, last)
        found[name] = Sampled(pipeline.steps, int(CELLS / math.comb(inputs + p, p)))
    boosting = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    found["HistGradientBoosting"] = CodedRival(boosting(random_state=0))
    return found


class Sampled(Pipeline):  # type: ignore[misc]
    """A pipeline that is fitted to at most so many rows, every class among them; ``rows_`` says to how many."""

    def __init__(self, steps: Sequence[Any], most: int) -> None:
        super().__init__(steps)
        self.most = most

    def fit(self, X: Any, y: NDArray[Any]) -> Sampled:
        """Fit to a table."""
        self.rows_ = min(len(y), self.most)
        if len(y) > self.most:
            rows, _ = train_test_split(np.arange(len(y)), train_size=self.most, random_state=0, stratify=y)
            X, y = X[np.sort(rows)], y[np.sort(rows)]
        return super().fit(X, y)


class CodedRival:
    """A model of numbers behind a table with categories, which become codes; missing cells stay missing."""

    def __init__(self, model: BaseEstimator) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> CodedRival:
        """Fit to a table."""
        self.categorical = find_categories(X)
        self.codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
        )
        matrix = self.matrix(X, fresh=True)
        few = [len(c) <= 255 for c in self.codes.categories_] if self.categorical else []
        if any(few):
            plain = matrix.shape[1] - len(few)
            self.model.set_params(categorical_features=[plain + i for i, small in enumerate(few) if small])
        self.model.fit(matrix, y)
        return self

    def matrix(self, X: Any, fresh: bool = False) -> NDArray[np.float64]:
        """The table as numbers. Shape (n, d)."""
        table = read_table(X, self.categorical)
        if not self.categorical:
            return table.numbers
        text = np.stack([table.categories[i] for i in self.categorical], 1)
        # The encoder knows NaN as missing; None would be a category of its own.
        text[text == np.array(None)] = np.nan
        return np.concatenate([table.numbers, (self.codes.fit(text) if fresh else self.codes).transform(text)], 1)

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        return self.model.classes_

    def predict(self, X: Any) -> Any:
        """Predict as the model does."""
        return self.model.predict(self.matrix(X))

    def predict_proba(self, X: Any) -> Any:
        """Probabilities as the model gives them."""
        return self.model.predict_proba(self.matrix(X))


def scores(
    models: dict[str, Any],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    task: Literal["regression", "classification"],
    tell: Callable[[str], None] = lambda name: None,
    deadline: Deadline | None = None,
) -> Iterator[tuple[Score, HeldOut]]:
    """Fit each model to the training rows and predict the others.

    Parameters
    ----------
    models : dict of name to estimator
    train, test : (X, y)
    task : {"regression", "classification"}
    tell : callable
        Called with each name before its model is fitted.
    deadline : Deadline or None
        When all must be done. The time that is left is shared among the models to come: slow ones get fewer rows, and
        when no time is left, the others are left out.
    """
    for done, (name, model) in enumerate(models.items()):
        left = math.inf if deadline is None else deadline.left() / (len(models) - done)
        if left <= 0:
            continue
        tell(name)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # One thread each: threads of boosting that wait for each other on a busy machine take minutes.
            with threadpool_limits(1, "openmp") if isinstance(model, CodedRival) else threadpool_limits():
                rows = fit_in_time([model], RowsToFit(*train), left).rows
            seconds = time.perf_counter() - began
            score, held_out = judged(name, model, *test, seconds, task)
        if isinstance(model, Sampled | PolynomialRidge):
            rows = model.rows_
        if rows < len(train[1]):
            score["rows"] = rows
        yield score, held_out
