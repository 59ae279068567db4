"""Ladders, whose directions are fitted too: by block solves on folds or in stages, or by gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.members import times
from polyladder.polynomial.widen import widen


@dataclass(frozen=True, eq=False)
class LadderTrial(Trial):
    """Ladders whose mean is the candidate.

    Attributes:
        columns: positions of their inputs among those of the polynomial. Shape (d,).
        ladder: all of them. Batch shape (ladders,).
        excess: mean square by which ``left_out``, means of fewer ladders, scatters more than the final model does.
        unexplained: the share of the variance that they leave, where they were solved further on few rows.
    """

    model: ClassVar[str] = "ladder"

    columns: NDArray[np.intp]
    ladder: LadderPolynomial
    excess: float = 0.0
    unexplained: float = 1.0

    def add_to(self, total: Total, weight: float) -> None:
        """Add the mean."""
        total.add_ladder(times(widen(self.ladder), weight), self.columns)
