"""What ladders read: the columns as they are, or ramps of those that matter most, and how large such ladders are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.block import Block
from polyladder.fitted.features import Features
from polyladder.training.kernels.relevance import Array

MOST_INPUTS = 72
"""Most inputs of ladders over ramps: the cost of a solve grows with their square."""

ROWS_PER_INPUT = 10
"""Fewest rows per input of ladders over ramps: with fewer, they learn the rows by heart."""


@dataclass(frozen=True, eq=False)
class Size:
    """Of ladders.

    Attributes:
        orders: to try; the second only in a close race.
        width: units per layer.
        main_width: units per layer where there are many rows.
        higher: how much higher the order is where there are many rows; that lowers the error by up to a quarter.
        gain: what the squared error on half the rows is divided by in a race: more inputs gain more by the other half.
    """

    orders: tuple[int, ...]
    width: int
    main_width: int
    higher: int
    gain: float


PLAIN = Size(orders=(6, 4), width=10, main_width=12, higher=2, gain=1.0)
RAMPED = Size(orders=(4,), width=6, main_width=6, higher=0, gain=1.1)
"""Ramps bend for themselves: a higher order or wider layers gain little, and cost more on so many inputs."""


@dataclass(frozen=True, eq=False)
class Reader:
    """What ladders of one kind read.

    Attributes:
        features: how the inputs were made, in a word.
        columns: their positions among those of the polynomial. Shape (d,).
        x: of all rows. Shape (n, d).
        scale: relevance of each input; where there are few rows they are multiplied by it. Shape (d,).
        size: of the ladders.
    """

    features: str
    columns: NDArray[np.intp]
    x: Array
    scale: Array
    size: Size


def room_for_inputs(rows: int) -> int:
    """Inputs that ladders over ramps may have."""
    return min(MOST_INPUTS, rows // ROWS_PER_INPUT)


def plain_reader(block: Block) -> Reader:
    """Ladders over all columns."""
    return Reader(block.features, block.columns, block.x, block.scales.scales[block.groups], PLAIN)


def ramp_reader(features: Features, plain: Block, ramped: Block) -> Reader | None:
    """Ladders over the ramps of the columns that matter most, and the other columns as they are.

    Args:
        features: with ramps.
        plain: a kernel over their inputs but the ramps, which come first.
        ramped: a kernel over the ramps, and the columns that have none.

    Returns:
        None where not even one column can have its ramps.
    """
    assert features.ramps_ is not None
    own = np.unique(features.groups(), return_inverse=True)[1]
    strength = ramped.scales.scales * np.sqrt(np.bincount(ramped.groups))
    first = plain.x.shape[1]
    column = np.r_[np.full(first, -1), features.ramps_.column]  # of each ramp
    room = room_for_inputs(len(plain.x)) - first
    bent: list[int] = []
    for j in sorted(set(features.ramps_.column.tolist()), key=lambda j: -strength[own[j]]):
        room -= int((column == j).sum()) - 1
        if room < 0:
            break
        bent.append(j)
    if not bent:
        return None
    columns = np.flatnonzero(np.r_[~np.isin(np.arange(first), bent), np.isin(features.ramps_.column, bent)])
    ramps = np.isin(ramped.columns, columns[columns >= first])
    x = np.concatenate([plain.x[:, columns[columns < first]], ramped.x[:, ramps]], 1)
    return Reader("piecewise", columns, x, np.ones(len(columns)), RAMPED)
