"""A kernel over some inputs, of which candidates of several degrees are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyladder.training.kernels.directions import Directions
from polyladder.training.kernels.relevance import Array, Relevance


@dataclass(frozen=True, eq=False)
class Block:
    """A kernel over some inputs.

    Attributes:
        features: how its columns were made, in a word.
        columns: positions of its inputs among those of the polynomial.
        x: the inputs of all rows. Shape (n, d).
        groups: the number of each input's group. Shape (d,).
        scales: the relevance of the groups.
        directions: of the kernel.
        along: t of the compared rows. Shape (chosen, m).
    """

    features: str
    columns: NDArray[np.intp]
    x: Array
    groups: NDArray[np.intp]
    scales: Relevance
    directions: Directions
    along: Array
