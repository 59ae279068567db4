"""The same held-out rows for a ladder and for what anyone would try first: mean, linear, cubic ridge, boosted trees."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PolynomialFeatures, StandardScaler
from threadpoolctl import threadpool_limits

from polyladder.automatic.card import HeldOut, Score
from polyladder.tables.features import Features
from polyladder.tables.table import find_categories, read_table

MONOMIALS = {"regression": 2000, "classification": 600}
"""How many monomials the polynomial ridge may have; beyond, its degree is lowered."""

ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def baselines(inputs: int, task: Literal["regression", "classification"]) -> dict[str, Any]:
    """Other models by name, for a table that becomes this many inputs."""
    regression = task == "regression"
    found: dict[str, Any] = {
        "mean" if regression else "most frequent": DummyRegressor() if regression else DummyClassifier()
    }
    degree = next((p for p in (3, 2) if math.comb(inputs + p, p) <= MONOMIALS[task]), 1)
    for p in (1, degree) if degree > 1 else (1,):
        name = {1: "linear", 2: "quadratic ridge", 3: "cubic ridge"}[p]
        last = RidgeCV(ALPHAS) if regression else LogisticRegression(C=1.0 if p == 1 else 0.1, max_iter=500)
        powers = [] if p == 1 else [PolynomialFeatures(p, include_bias=False), StandardScaler()]
        found[name] = make_pipeline(Features(missing="impute"), *powers, last)
    boosting = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    found["HistGradientBoosting"] = Coded(boosting(random_state=0))
    return found


class Coded:
    """A model of numbers behind a table with categories, which become codes; missing cells stay missing."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> Coded:
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
) -> Iterator[tuple[Score, HeldOut]]:
    """Fit each model to the training rows and predict the others.

    Parameters
    ----------
    models : dict of name to estimator
    train, test : (X, y)
    task : {"regression", "classification"}
    tell : callable
        Called with each name before its model is fitted.
    """
    for name, model in models.items():
        tell(name)
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # One thread each: threads of boosting that wait for each other on a busy machine take minutes.
            with threadpool_limits(1, "openmp") if isinstance(model, Coded) else threadpool_limits():
                model.fit(*train)
            seconds = time.perf_counter() - began
            yield judged(name, model, *test, seconds, task)


def judged(name: str, model: Any, X: Any, y: NDArray[Any], seconds: float, task: str) -> tuple[Score, HeldOut]:
    """The scores of a fitted model on rows that it did not see, and its predictions."""
    predicted = model.predict(X)
    score: Score = {"model": name, "seconds": seconds}
    held_out: HeldOut = {"observed": y.tolist(), "predicted": predicted.tolist()}
    if task == "regression":
        score["rmse"] = float(root_mean_squared_error(y, predicted))
        score["r2"] = float(r2_score(y, predicted)) if len(y) > 1 else math.nan
        return score, held_out
    probability = model.predict_proba(X)
    score["error"] = float(np.mean(predicted != y))
    score["log_loss"] = float(log_loss(y, probability, labels=model.classes_))
    held_out["probability"] = probability.tolist()
    return score, held_out
