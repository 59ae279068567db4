"""How much work a choice may be: a few sizes for each effort."""

from __future__ import annotations

from dataclasses import dataclass


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
