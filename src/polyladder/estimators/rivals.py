"""What the estimators of the ladder's rivals share: jobs, one-versus-rest, members that diverged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from polyladder.data.features import KINDS
from polyladder.estimators.base import Rows, TableClassifier, TableRegressor, check_choice, check_number, seeds_from
from polyladder.estimators.families import Family
from polyladder.estimators.fitting import Fitted, Job, Plan
from polyladder.estimators.jobs import JobEstimator, usual_batch_size, usual_epochs
from polyladder.models.batched import BatchedModule
from polyladder.polynomial.sparse import is_sparse

MANY_ROWS = 4000
"""From so many rows on fewer models are averaged by default."""


class RivalEstimator(JobEstimator):
    """Fits several models of one family and keeps their mean.

    A subclass says which family (`_family`), whether exact solves suit the rows (`_suits_exact_solves`) and how models
    are kept (`_keep`). Of its parameters, those named here are checked here.
    """

    def _open(
        self, X: Any, y: Any, sample_weight: Any, shared: dict[str, Any]
    ) -> tuple[list[Job], Callable[[list[Fitted]], None]]:
        self._check_parameters()
        rows = self._shared_rows(X, y, sample_weight, shared, fresh=True)
        problems = self._problems(rows, shared)
        plans = self._plans(problems[0])
        jobs = [Job(plan, problem) for problem in problems for plan in plans]
        return jobs, lambda fitted: self._finish(plans, fitted)

    def _problems(self, rows: Rows, shared: dict[str, Any]) -> list[Rows]:
        """What is fitted apart: everything at once, unless a classifier takes one class after another."""
        return [rows]

    def _check_parameters(self) -> None:
        check_number(self, "alpha", float, 0.0, "auto")
        check_number(self, "n_estimators", int, 1, "auto")
        check_choice(self, "features", KINDS)
        check_choice(self, "missing", ("error", "impute"))
        check_number(self, "max_iter", int, 1, "auto")
        check_number(self, "batch_size", int, 1, "auto")
        check_number(self, "learning_rate", float, 0.0, open_low=True)
        check_fraction(self, "validation_fraction")

    def _family(self, rows: Rows) -> Family:
        raise NotImplementedError

    def _suits_exact_solves(self, rows: Rows) -> bool:
        raise NotImplementedError

    def _keep(self, models: list[list[Any]]) -> None:
        """Store the mean of the fitted models: for each part that was fitted apart, its models."""
        raise NotImplementedError

    def _solver(self, rows: Rows) -> str:
        """Which solver "auto" means: exact solves for the squared loss on dense rows of moderate width."""
        solver = getattr(self, "solver", "adam")
        if solver != "auto":
            return str(solver)
        exact = self._loss(rows) == "squared" and not is_sparse(rows.z) and self._suits_exact_solves(rows)
        return "alternating" if exact else "adam"

    def _plans(self, rows: Rows) -> list[Plan]:
        solver, n = self._solver(rows), rows.count
        batch_size = usual_batch_size(rows) if self.batch_size == "auto" else int(self.batch_size)
        usual = 100 if solver == "alternating" else usual_epochs(batch_size, rows)
        usual_count = 1 if solver == "adam" else 4 if n < MANY_ROWS else 2
        count = usual_count if self.n_estimators == "auto" else int(self.n_estimators)
        return [
            Plan(
                solver=solver,
                hidden=(),
                iterations=usual if self.max_iter == "auto" else int(self.max_iter),
                tolerance=float(getattr(self, "tol", 0.0)),
                batch_size=min(batch_size, n),
                batch_norm=False,
                validation=float(self.validation_fraction),
                alpha=None if self.alpha == "auto" else float(self.alpha),
                dropout=float(getattr(self, "dropout", 0.0)),
                learning_rate=float(self.learning_rate),
                seed=seed,
                family=self._family(rows),
            )
            for seed in seeds_from(self.random_state, count)
        ]

    def _finish(self, plans: list[Plan], fitted: list[Fitted]) -> None:
        """Store what was found under scikit-learn's names."""
        count = len(plans)
        parts = [fitted[k : k + count] for k in range(0, len(fitted), count)]
        # A model is the models of all its parts: it has diverged if one of them has.
        good = [i for i in range(count) if not any(part[i].diverged for part in parts)]
        if not good:
            raise ValueError("Every model diverged. Lower learning_rate, or use solver='alternating'.")
        if len(good) < count:
            warnings.warn(
                f"{count - len(good)} of {count} models diverged and were left out.", ConvergenceWarning, stacklevel=3
            )
        self._keep([[part[i].polynomial for i in good] for part in parts])
        self.solver_ = plans[0].solver
        self.loss_curve_ = parts[0][good[0]].curve
        self.n_iter_ = max(len(part[i].curve) for part in parts for i in good)

    def _target_units(self, outputs: int) -> tuple[Tensor, Tensor]:
        """(scale, shift) from the units that models are fitted in to those of the target. Shapes (m,)."""
        one = torch.ones(outputs, dtype=torch.float64)
        return one, torch.zeros_like(one)

    def _takes_sparse(self) -> bool:
        return bool(getattr(self, "solver", "adam") != "alternating")


class RivalRegressor(RivalEstimator, TableRegressor):
    """Rivals for regression: the squared loss on standardized targets."""

    def _loss(self, rows: Rows) -> str:
        return "squared"

    def _target_units(self, outputs: int) -> tuple[Tensor, Tensor]:
        return self.target_scale_, self.target_mean_


class RivalClassifier(RivalEstimator, TableClassifier):
    """Rivals for classification: logistic with two classes; with several, softmax or one versus rest."""

    multiclass: Literal["softmax", "ovr"] = "softmax"

    def _loss(self, rows: Rows) -> str:
        return "logistic" if rows.outputs == 1 else "cross_entropy"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "multiclass", ("softmax", "ovr"))

    def _problems(self, rows: Rows, shared: dict[str, Any]) -> list[Rows]:
        if rows.outputs == 1 or self.multiclass == "softmax":
            return [rows]
        key = f"classes of {id(rows)}"
        if key not in shared:
            shared[key] = [Rows(rows.z, (rows.y == c).long(), rows.weight, 1) for c in range(rows.outputs)]
        found: list[Rows] = shared[key]
        return found

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of each class. Shape (n, classes).

        One versus rest: the probabilities of the separate models, divided by their sum.
        """
        scores = torch.from_numpy(self._outputs(X))
        if len(self.classes_) == 2 or self.multiclass == "softmax":
            return super().predict_proba(X)
        # In logarithms, as all classes of a row may be improbable.
        return torch.nn.functional.logsigmoid(scores).softmax(1).numpy()


def check_fraction(estimator: Any, name: str) -> None:
    """Refuse a parameter that is not a number in [0, 1), in scikit-learn's words."""
    check_number(estimator, name, float, 0.0)
    value = getattr(estimator, name)
    if value >= 1:
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be a float in the range [0, 1). "
            f"Got {value!r} instead."
        )


@torch.no_grad()
def with_weights(module: BatchedModule, weights: dict[str, Tensor]) -> Any:
    """The module with these parameters and buffers, in float64 and ``eval`` mode; it needs no gradients any more."""
    module.load_state_dict(weights, assign=True)
    return module.double().eval().requires_grad_(False)
