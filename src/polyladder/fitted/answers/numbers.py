"""The answer of a regression."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from polyladder.fitted.answers.answer import Array, Guard, Numeric, held
from polyladder.fitted.spread import Spread


@dataclass(frozen=True)
class Numbers(Numeric):
    """The mean over the ladders, held to the guard's range where there is one.

    Attributes:
        guard: lowest and highest value of each output, or None.
        flat: whether the target was one column without a second dimension, so that predictions are.
        span: least and greatest value of each output in training, where they are known.
        spread: how far new observations lie from predictions, where that was learned.
    """

    guard: Guard | None
    flat: bool = False
    span: Guard | None = None
    spread: Spread | None = None

    def predict(self, outputs: Tensor) -> Array:
        """Numbers (n,) or (n, m)."""
        return self.shaped(held(outputs.mean(0), self.guard))
