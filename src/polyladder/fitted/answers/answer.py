"""What every answer is: the way from the outputs of ladders to what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray[Any, Any]
Guard = tuple[tuple[float, ...], tuple[float, ...]]
"""Lowest and highest value of each output."""


class Answer:
    """Subclasses are frozen dataclasses.

    Outputs have shape (members, n, m), in the target's units.
    """

    by_member = False
    """Whether it reads the outputs of every ladder; else their mean, of shape (1, n, m), is enough."""

    @property
    def note(self) -> str:
        """What a reader of an export must know of its numbers, in sentences; by default nothing."""
        return ""

    def predict(self, outputs: Tensor) -> Array:
        """Numbers (n,) or (n, m), or labels (n,)."""
        raise NotImplementedError

    def label(self, name: str, output: int) -> str:
        """What an output of the ladders is, where ``name`` is what is predicted."""
        raise NotImplementedError


class Numeric(Answer):
    """What the answers of numbers share.

    Attributes:
        flat: whether the target was one column without a second dimension, so that predictions are.
    """

    flat: bool

    def shaped(self, values: Tensor) -> Array:
        """Numbers (..., m) in the shape of the target that was given."""
        return np.asarray((values[..., 0] if self.flat else values).numpy())

    def label(self, name: str, output: int) -> str:
        """The name of what is predicted."""
        return name


def held(values: Tensor, guard: Guard | None) -> Tensor:
    """Values (..., m) within the guard's range."""
    return values if guard is None else values.clamp(*guard_range(guard))


def guard_range(guard: Guard) -> tuple[Tensor, Tensor]:
    """The ends of a guard. Shapes (m,)."""
    low, high = (torch.tensor(side, dtype=torch.float64) for side in guard)
    return low, high
