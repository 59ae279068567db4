"""What every candidate is once it was solved: its predictions of rows left out, and a part of a sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.problem import Problem
from polyladder.training.kernels.relevance import Array


@dataclass(frozen=True, eq=False)
class Trial(ABC):
    """A candidate that was solved.

    Attributes:
        model: what it is, in a word; features and order as a `Candidate` says.
        left_out: predictions of the compared rows by fits without them; NaN where there are none. Shape (chosen, m).
    """

    model: ClassVar[str]

    excess = 0.0
    """Mean square by which ``left_out`` scatters more than the final model does."""

    features: str
    order: int
    left_out: Array

    def on_all(self, problem: Problem, x: Array) -> Self:
        """The same solved on all rows, where it was compared on some and can be.

        Args:
            problem: what is predicted.
            x: the inputs of lines. Shape (n, d).
        """
        return self

    @abstractmethod
    def add_to(self, total: Total, weight: float) -> None:
        """Add what it is, as a ladder or a part of one, to a sum."""
