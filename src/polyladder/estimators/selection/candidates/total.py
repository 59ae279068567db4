"""A weighted sum of candidates, as ladders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.block import Block
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.members import placed
from polyladder.training.kernels.directions import kernel_ladder, linear_ladder, power_ladder
from polyladder.training.kernels.relevance import Array


@dataclass
class Total:
    """What candidates have added so far.

    Attributes:
        inputs: of the polynomial.
        outputs: m, of the polynomial.
        slopes: of its linear part. Shape (m, inputs).
        offset: of its linear part. Shape (m,).
        ladders: that are summed as they are.
        kernels: coefficients of each degree over the directions of each block, by the number of the block.
    """

    inputs: int
    outputs: int
    slopes: Array = field(init=False)
    offset: Array = field(init=False)
    ladders: list[LadderPolynomial] = field(default_factory=list)
    kernels: dict[int, tuple[Block, dict[int, Array]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.slopes, self.offset = np.zeros((self.outputs, self.inputs)), np.zeros(self.outputs)

    def add_kernel(self, block: Block, degree: int, coefficients: Array) -> None:
        """Add a kernel of one degree, with coefficients (directions, m)."""
        _, degrees = self.kernels.setdefault(id(block), (block, {}))
        degrees[degree] = degrees.get(degree, 0.0) + coefficients

    def add_ladder(self, ladder: LadderPolynomial, columns: NDArray[np.intp]) -> None:
        """Add a ladder over some inputs."""
        self.ladders.append(placed(ladder, columns, self.inputs))

    def parts(self) -> list[LadderPolynomial]:
        """Ladders whose sum it is; kernels over the same directions share one."""
        found, slopes, offset = list(self.ladders), self.slopes.copy(), self.offset.copy()
        for block, degrees in self.kernels.values():
            higher = {degree: a for degree, a in degrees.items() if degree > 1}
            if 1 in degrees:
                stretched = block.directions.stretch(1) * block.directions.slopes
                slopes[:, block.columns] += degrees[1].T @ stretched
                offset += degrees[1].sum(0)
            found += [placed(each, block.columns, self.inputs) for each in self.kernel_ladders(block, higher)]
        if not found or slopes.any() or offset.any():
            found.append(linear_ladder(slopes, offset))
        return found

    def kernel_ladders(self, block: Block, degrees: dict[int, Array]) -> Sequence[LadderPolynomial]:
        """Kernels of degrees above 1 over one block."""
        if not degrees:
            return []
        if self.outputs == 1:
            return [kernel_ladder(block.directions, {p: a[:, 0] for p, a in degrees.items()})]
        return [power_ladder(block.directions, p, a) for p, a in degrees.items()]
