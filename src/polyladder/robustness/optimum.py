"""What a search for the best point answers with, and when it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from polyladder.robustness.branch import Stop
from polyladder.robustness.certificate import check_number, check_seconds

SHARE = 0.4
"""The share of the time that climbing may take; the rest is for the proof."""

SPREAD = 0.01
"""Where the optimum is near zero, the gap is measured by this part of the spread of the outputs."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best point and the proof.

    Attributes:
        x: the best point found, in the ladder's dtype. Shape (d,). Of an estimator, the inputs of its polynomial that
            the row stands for, without ramps.
        value: there; of an estimator what it predicts, of classes before the link.
        bound: no point of the box, or row between the bounds, is better than this.
        boxes: how many boxes were bounded.
        seconds: taken.
        row: of an estimator, the best row by column; None stands for a missing cell.
        meaning: what the value is: "output" of a ladder, "prediction" of an estimator, or for classes "log-odds of ..."
            or "score of ...".
        held: whether the value is the end of the range that predictions are held to: the polynomial goes beyond it.
    """

    x: Tensor
    value: float
    bound: float
    boxes: int
    seconds: float
    row: dict[str, Any] = field(default_factory=dict)
    meaning: str = "output"
    held: bool = False

    @property
    def gap(self) -> float:
        """By how much a better value may exist."""
        return abs(self.bound - self.value)


@dataclass(frozen=True)
class Search:
    """What is sought, and for how long.

    Attributes:
        output: which output.
        sign: 1 for its highest value, -1 for its lowest.
        tolerance: gap at which the search ends, as a part of the size of the value.
        max_seconds: after which it ends anyway.
        began: when, by `time.monotonic`.
    """

    output: int
    sign: int
    tolerance: float
    max_seconds: float
    began: float

    def check(self, outputs: int) -> None:
        """Refuse an output that does not exist, and a tolerance or a time that is not a number from 0 on."""
        if isinstance(self.output, bool) or not isinstance(self.output, int) or not 0 <= self.output < outputs:
            raise ValueError(f"output must be from 0 to {outputs - 1}; got {self.output!r}.")
        check_number("tolerance", self.tolerance)
        if self.max_seconds != torch.inf:
            check_seconds(self.max_seconds)

    @property
    def climbing_ends(self) -> float:
        """When climbing must end, by `time.monotonic`."""
        return self.began + SHARE * self.max_seconds

    @property
    def seconds(self) -> float:
        """Taken so far."""
        return time.monotonic() - self.began

    def weights(self, outputs: int) -> Tensor:
        """The weights of the outputs in the sum that is to be large. Shape (1, m)."""
        found = torch.zeros(1, outputs, dtype=torch.float64)
        found[0, self.output] = self.sign
        return found

    def stop(self, spread: float, ceiling: float = torch.inf) -> Stop:
        """When the proof ends, given the spread of the outputs; values above the ceiling count as the ceiling."""
        absolute = torch.tensor([self.tolerance * SPREAD * spread], dtype=torch.float64)
        return Stop(max(0.0, self.max_seconds - self.seconds), self.tolerance, absolute, ceiling=ceiling)
