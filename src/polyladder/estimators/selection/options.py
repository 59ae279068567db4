"""What a choice is asked for, and how much work it may be: a few sizes for each effort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyladder.estimators.gradient_training import GradientTraining
from polyladder.fitted.features import Features

SWEEPS = 6
"""Sweeps of the ladders that are tried, unless a number is given."""


@dataclass(frozen=True)
class Effort:
    """Sizes of a choice.

    Attributes:
        evidence_rows: rows that the relevance of inputs is estimated on.
        evidence_steps: steps of that estimate.
        directions: of a kernel, at most.
        choice_rows: most rows that candidates are compared on, where classes are predicted.
        number_rows: most rows that candidates are compared on, where numbers are predicted.
        folds: that classes and ladders are fitted on.
        degrees: of kernels over plain features.
        ramp_degrees: of kernels over piecewise features.
        ladder_cost: operations that the ladders of all folds may take.
        fold_ladders: ladders per fold and order; of many rows, where one part is held out, twice as many.
        training: what the usual length of gradient training is multiplied by.
    """

    evidence_rows: int
    evidence_steps: int
    directions: int
    choice_rows: int
    number_rows: int
    folds: int
    degrees: tuple[int, ...]
    ramp_degrees: tuple[int, ...]
    ladder_cost: float
    fold_ladders: int
    training: float


EFFORTS = {
    "low": Effort(120, 20, 100, 2000, 2000, 4, (1, 2, 3, 4, 6), (1, 2), 0.0, 0, 0.4),
    "default": Effort(220, 35, 300, 5000, 3000, 5, (1, 2, 3, 4, 6, 8), (1, 2, 3), 6e10, 2, 1.0),
    "high": Effort(500, 80, 600, 20_000, 20_000, 8, (1, 2, 3, 4, 6, 8), (1, 2, 3), 1e12, 4, 3.0),
}


@dataclass(frozen=True)
class Options:
    """What a choice is made of. None stands for sizes that are left open.

    Attributes:
        name: of the estimator, for messages.
        features: unfitted; their kinds, ramps and margins are tried.
        kinds: of features to try.
        piecewise: whether ramps are tried.
        ramped: whether trained ladders may have ramps, or one scale for all columns, as suits the rows.
        effort: how much work it may be.
        width: units per layer.
        models: ladders for each fold, or that are trained.
        iterations: sweeps at most, or epochs.
        ladder_seconds: that the ladders of a sum may take on all rows.
        max_seconds: that all may take.
        tolerance: see `polyladder.fit_alternating`.
        alpha: ridge weight or L2 weight of ladders, or "auto".
        steps: how gradient steps are taken.
        seed: of everything random.
        verbose: whether to say what was decided.
    """

    name: str
    features: Features
    kinds: tuple[str, ...]
    piecewise: bool
    ramped: bool
    effort: Effort
    width: int | None
    models: int | None
    iterations: int | None
    ladder_seconds: float
    max_seconds: float | None
    tolerance: float
    alpha: float | Literal["auto"]
    steps: GradientTraining
    seed: int
    verbose: bool

    @property
    def per_fold(self) -> int:
        """Ladders for each fold."""
        return self.effort.fold_ladders if self.models is None else self.models

    @property
    def sweeps(self) -> int:
        """Sweeps of ladders, at most."""
        return SWEEPS if self.iterations is None else self.iterations
