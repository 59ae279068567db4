"""What fits cost in seconds of one core, from measured rates: block solves, gradient steps and draws of a ladder.

What a number of seconds buys is decided elsewhere: in `work.py` for block solves, in `training_size.py` for gradient
steps, in `posterior_size.py` for draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from polyladder.training.solves.block_step import block_operations, direct_operations
from polyladder.training.solves.stages import Stage

RATE = 4e10
"""Operations of one core in a second: in double precision for block solves, in single precision for training."""

BLOCK = 3e-4
"""Seconds that a block takes in addition, whatever its size."""

STEP = 2e-3
"""Seconds that a gradient step takes in addition, whatever its size."""

SLOWER = 3.0
"""How much longer a draw of a block takes than its operations would in a large matrix product."""


@dataclass(frozen=True)
class Shape:
    """What the cost of one ladder depends on.

    Attributes:
        n: rows.
        d: inputs.
        width: units per layer.
        order: of the ladder.
        outputs: of the ladder.
    """

    n: int
    d: int
    width: int
    order: int
    outputs: int

    def _blocks(self, operations: Callable[[int, int, int, int], float], n: int) -> float:
        """The operations of all blocks on n rows: one block a layer reads the inputs, the others the layer below."""
        m, k = self.outputs, self.width
        return self.order * operations(m, k, n, self.d + 1) + max(0, self.order - 2) * operations(m, k, n, k + 1)

    def sweep_operations(self, share: float = 1.0, gram_rows: int | None = None) -> float:
        """Operations of one sweep of block solves on a share of the rows."""
        return self._blocks(partial(block_operations, gram_rows=gram_rows), max(1, round(share * self.n)))

    def sweep_seconds(self, share: float = 1.0, gram_rows: int | None = None) -> float:
        """Seconds of one sweep of block solves on a share of the rows."""
        return self.sweep_operations(share, gram_rows) / RATE + 2 * (self.order - 1) * BLOCK

    def seconds(self, stages: tuple[Stage, ...]) -> float:
        """Seconds of block solves in stages."""
        return sum(s.sweeps * self.sweep_seconds(s.share) for s in stages)

    def draw_seconds(self) -> float:
        """Seconds of one sweep of draws over all blocks, as Gibbs sampling makes them."""
        return SLOWER * self._blocks(direct_operations, self.n) / RATE

    def pass_seconds(self, batch: int) -> float:
        """Seconds of gradient steps in one pass over the rows, a batch of them for each step."""
        weights = self.width * (self.order * self.d + (self.order - 2) * self.width + self.outputs)
        return 6.0 * weights * self.n / RATE + STEP * math.ceil(self.n / batch)


def usual_seconds(n: int, d: int, outputs: int) -> float:
    """What a hundred rounds of histogram-based boosting take, fitted to measured times."""
    return outputs * (0.12 + 0.0065 * d + 5e-7 * n * d)
