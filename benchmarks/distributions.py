"""Rivals that predict a distribution for every row, as distributions.toml and distributions_more.toml name them.

    pip install -c constraints.txt ngboost==0.5.11 catboost==1.2.10 mapie==1.6.0
    PYTHONPATH=. OMP_NUM_THREADS=1 polyladder reproduce benchmarks/distributions.toml

POLYLADDER_DATA names the data folder; what is stored already is not run again, and `--only /NGBoost` runs one model.
Each is used with its own defaults and on one thread. Only scaling is added, where a model needs it; and boosters, which
fit small tables too closely by default, are also run with as many trees as held-out training rows ask for.
"""

from __future__ import annotations

import importlib
import logging
import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import ndtr, ndtri
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Array = np.ndarray[Any, Any]

VERSIONS = {"ngboost": "0.5.11", "catboost": "1.2.10", "mapie": "1.6.0"}
"""What was measured with, by the name under which each is installed and imported."""

CENTRAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Levels of the intervals whose ends, with the median, stand for a distribution that is known by quantiles alone."""

HELD_OUT = 0.2
"""Share of the training rows that choose the number of trees, or that conformal intervals are moved by."""

MOST_TREES, PATIENCE = 2000, 50
"""Of NGBoost, where held-out rows choose: most trees, as in its publication, and trees without gain before it stops."""


@dataclass(frozen=True)
class Normals:
    """A normal distribution for each row, in units of the target.

    Attributes:
        mean: shape (n,).
        std: shape (n,).
    """

    mean: Array
    std: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        half = ndtri((1 + level) / 2) * self.std
        return self.mean - half, self.mean + half

    def logpdf(self, y: Array) -> Array:
        return -0.5 * ((y - self.mean) / self.std) ** 2 - np.log(self.std) - 0.5 * math.log(2 * math.pi)

    def crps(self, y: Array) -> Array:
        z = (y - self.mean) / self.std
        density = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        return self.std * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi))


@dataclass(frozen=True)
class Quantiles:
    """Quantiles of each row's target; no density.

    Attributes:
        levels: rising, symmetric about 1/2. Shape (q,).
        values: rising along the first axis. Shape (q, n).
    """

    levels: Array
    values: Array

    def interval(self, level: float) -> tuple[Array, Array]:
        ends = [np.flatnonzero(np.isclose(self.levels, end)) for end in ((1 - level) / 2, (1 + level) / 2)]
        if not all(len(end) for end in ends):
            raise ValueError(f"level must be that of two known quantiles; got {level}. Known are {self.levels}.")
        return self.values[ends[0][0]], self.values[ends[1][0]]

    def crps(self, y: Array) -> Array:
        """Twice the integral of the pinball loss over all levels, by trapezoids; at 0 and 1 the loss is 0."""
        off = y - self.values
        loss = np.maximum(self.levels[:, None] * off, (self.levels[:, None] - 1) * off)
        ends = np.zeros((1, len(y)))
        levels = np.concatenate([[0.0], self.levels, [1.0]])
        return 2 * trapezoid(np.concatenate([ends, loss, ends]), levels, axis=0)


def needed(package: str, module: str = "") -> ModuleType:
    """A package that only rivals need, or the sentence that says how to install it."""
    try:
        return importlib.import_module(module or package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        wanted = f"{package}=={VERSIONS[package]}"
        raise ModuleNotFoundError(
            f"{package} must be installed for this rival; got none. pip install -c constraints.txt {wanted}",
            name=package,
        ) from error


class NaturalBoosting:
    """NGBoost: a normal distribution, boosted by natural gradients.

    With ``choose_trees`` the number of trees is the best one on held-out rows, and the last fit has all rows, as in the
    publication.
    """

    packages = ("ngboost", "scikit-learn")

    def __init__(self, random_state: int, choose_trees: bool = False) -> None:
        self.random_state, self.choose_trees = random_state, choose_trees

    def fit(self, X: Array, y: Array) -> NaturalBoosting:
        boosting = needed("ngboost").NGBRegressor
        options = {"verbose": False, "random_state": self.random_state}
        if self.choose_trees:
            seen, held, y_seen, y_held = train_test_split(X, y, test_size=HELD_OUT, random_state=self.random_state)
            trial = boosting(n_estimators=MOST_TREES, **options)
            trial.fit(seen, y_seen, X_val=held, Y_val=y_held, early_stopping_rounds=PATIENCE)
            options["n_estimators"] = trial.best_val_loss_itr + 1
        self.model_ = boosting(**options).fit(X, y)
        return self

    def predict(self, X: Array) -> Array:
        return self.predict_distribution(X).mean

    def predict_distribution(self, X: Array) -> Normals:
        found = self.model_.pred_dist(X).params
        return Normals(found["loc"], found["scale"])


class UncertainTrees:
    """CatBoost with a mean and a variance for every row (``RMSEWithUncertainty``).

    The target is scaled, without which the variances are worse. With ``choose_trees`` the number of trees is the best
    one on held-out rows, and the last fit has all rows.
    """

    packages = ("catboost",)

    def __init__(self, random_state: int, choose_trees: bool = False) -> None:
        self.random_state, self.choose_trees = random_state, choose_trees

    def fit(self, X: Array, y: Array) -> UncertainTrees:
        boosting = needed("catboost").CatBoostRegressor
        self.center_, self.scale_ = float(y.mean()), float(y.std())
        z = (y - self.center_) / self.scale_
        options = {"loss_function": "RMSEWithUncertainty", "random_seed": self.random_state, "thread_count": 1}
        options |= {"verbose": False, "allow_writing_files": False}
        if self.choose_trees:
            seen, held, z_seen, z_held = train_test_split(X, z, test_size=HELD_OUT, random_state=self.random_state)
            trial = boosting(**options).fit(seen, z_seen, eval_set=(held, z_held))
            options["iterations"] = trial.get_best_iteration() + 1
        self.model_ = boosting(**options).fit(X, z)
        return self

    def predict(self, X: Array) -> Array:
        return self.predict_distribution(X).mean

    def predict_distribution(self, X: Array) -> Normals:
        mean, variance = self.model_.predict(X, prediction_type="RMSEWithUncertainty", thread_count=1).T
        return Normals(self.center_ + self.scale_ * mean, self.scale_ * np.sqrt(variance))


class NoisyProcess:
    """scikit-learn's Gaussian process: Matern 5/2 with one length per input, and noise; three starts."""

    packages = ("scikit-learn",)

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Array, y: Array) -> NoisyProcess:
        smooth = Matern(np.full(X.shape[1], 3.0), (1e-2, 1e4), nu=2.5)
        kernel = ConstantKernel(1.0, (1e-3, 1e6)) * smooth + WhiteKernel(1e-2, (1e-8, 10.0))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=2, random_state=self.random_state
        )
        self.model_ = make_pipeline(StandardScaler(), process).fit(X, y)
        return self

    def predict(self, X: Array) -> Array:
        return self.model_.predict(X)

    def predict_distribution(self, X: Array) -> Normals:
        return Normals(*self.model_.predict(X, return_std=True))


class ConformalQuantiles:
    """scikit-learn's boosted quantiles on most training rows, and MAPIE's conformal intervals by the others.

    Each interval is that of two boosters, moved by what the held-out rows ask for. Its ends, with the median, are the
    quantiles of the distribution; where they cross, they are put in order.
    """

    packages = ("mapie", "scikit-learn")

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Array, y: Array) -> ConformalQuantiles:
        conformal = needed("mapie", "mapie.regression").ConformalizedQuantileRegressor
        # MAPIE turns on messages of the whole process where nobody listens yet, and then writes one per crossing.
        logging.getLogger().addHandler(logging.NullHandler())
        seen, held, y_seen, y_held = train_test_split(X, y, test_size=HELD_OUT, random_state=self.random_state)

        def boosted(level: float) -> GradientBoostingRegressor:
            booster = GradientBoostingRegressor(loss="quantile", alpha=level, random_state=self.random_state)
            return booster.fit(seen, y_seen)

        self.median_ = boosted(0.5)
        self.intervals_ = []
        for level in CENTRAL:
            parts = [boosted((1 - level) / 2), boosted((1 + level) / 2), self.median_]
            self.intervals_.append(conformal(parts, confidence_level=level, prefit=True).conformalize(held, y_held))
        return self

    def predict(self, X: Array) -> Array:
        """The median: the boosters know no mean."""
        return self.median_.predict(X)

    def predict_distribution(self, X: Array) -> Quantiles:
        ends = [each.predict_interval(X)[1][:, :, 0] for each in self.intervals_]
        lower, upper = [each[:, 0] for each in reversed(ends)], [each[:, 1] for each in ends]
        central = np.array(CENTRAL)
        levels = np.concatenate([(1 - central[::-1]) / 2, [0.5], (1 + central) / 2])
        return Quantiles(levels, np.sort([*lower, self.predict(X), *upper], axis=0))
