"""How one model is to be fitted: a plan, made from an estimator's parameters and what is usual for its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyladder.estimators.batch.families import Family
from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.rows import TrainingRows
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.solves.stages import Stage


@dataclass(frozen=True)
class ModelPlan:
    """How one model is to be fitted. Plans that differ only in alpha, dropout, learning rate and seed share a program.

    Attributes:
        family: what kind of model.
        solver: "alternating" or "adam".
        iterations: sweeps, exact steps or epochs.
        stages: of block solves of ladders, in place of sweeps on all rows; () for those.
        tolerance: of exact solves.
        batch_size: of Adam.
        validation: fraction of the rows that Adam holds out to stop early; 0 for none.
        alpha: ridge weight or L2 weight; None to have it estimated.
        dropout: rate.
        learning_rate: of Adam.
        seed: of the model.
    """

    family: Family
    solver: str
    iterations: int
    tolerance: float = 0.0
    batch_size: int = 32
    validation: float = 0.0
    alpha: float | None = None
    dropout: float = 0.0
    learning_rate: float = 1e-3
    seed: int = 0
    stages: tuple[Stage, ...] = ()

    @property
    def shape(self) -> tuple[object, ...]:
        """What plans must agree on to share a program."""
        common = (self.solver, self.family, self.iterations, self.alpha is None)
        if self.solver == "alternating":
            return (*common, self.tolerance, self.stages)
        return (*common, self.batch_size, self.validation)


@dataclass(frozen=True)
class Job:
    """A plan, the rows to carry it out on and, optionally, a ladder to start from."""

    plan: ModelPlan
    rows: TrainingRows
    start: LadderPolynomial | None = None


@dataclass(frozen=True)
class Usual:
    """What "auto" means for exact solves: how many models are averaged, and how long each is solved."""

    models: int
    iterations: int
    stages: tuple[Stage, ...] = ()


def make_plans(
    parameters: Mapping[str, Any],
    steps: GradientTraining,
    family: Family,
    solver: str,
    rows: TrainingRows,
    usual: Usual,
) -> list[ModelPlan]:
    """One plan for each model of an ensemble.

    Args:
        parameters: of the estimator; those that it does not have are not needed.
        steps: how gradient steps are taken.
        family: of the models.
        solver: that was settled on.
        rows: to fit.
        usual: for exact solves; Adam has one model and as many epochs as the rows need.
    """

    def given(name: str, otherwise: int) -> int:
        return otherwise if parameters[name] == "auto" else int(parameters[name])

    batch_size = usual_batch_size(rows) if steps.batch_size == "auto" else int(steps.batch_size)
    if solver == "adam":
        usual = Usual(1, usual_epochs(batch_size, rows))
    stages = usual.stages if parameters["max_iter"] == "auto" else ()
    sweeps = sum(stage.sweeps for stage in stages) or usual.iterations
    return [
        ModelPlan(
            family,
            solver,
            iterations=given("max_iter", sweeps),
            tolerance=float(parameters.get("tol", 0.0)),
            batch_size=min(batch_size, rows.count),
            validation=float(steps.validation_fraction),
            alpha=None if parameters["alpha"] == "auto" else float(parameters["alpha"]),
            dropout=float(steps.dropout),
            learning_rate=float(steps.learning_rate),
            seed=seed,
            stages=stages,
        )
        for seed in seeds_from(parameters["random_state"], given("n_estimators", usual.models))
    ]


def usual_batch_size(rows: TrainingRows) -> int:
    """Rows of a step of Adam. A step on sparse rows updates long weights, so that many rows should share it."""
    if is_sparse(rows.z) and rows.count >= 20_000:
        return 1024
    return 32 if rows.count < 1000 else 128


def usual_epochs(batch_size: int, rows: TrainingRows) -> int:
    """Epochs of Adam: enough for a few thousand steps."""
    least = 10 if is_sparse(rows.z) else 40
    return min(400, max(least, math.ceil(4000 * batch_size / rows.count)))
