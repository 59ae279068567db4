"""Ladders in which every value lies within [-1, 1], as computing on encrypted numbers requires."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from polyladder.convert.exported.ranges import Array, input_box, size_of
from polyladder.fitted.model import FittedModel
from polyladder.polynomial.ball import Ball, affine
from polyladder.polynomial.ladder import LadderPolynomial


@dataclass(frozen=True)
class Sum:
    """matrix x + vector, where no entry of x exceeds 1 and no entry of the result does. Shapes (k, j) and (k,)."""

    matrix: Array
    vector: Array


@dataclass(frozen=True)
class NormalLadder:
    """h <- (inner of h) * (gate of z) on every rung but the last; there one pair of factors per output and unit.

    Attributes:
        rungs: (inner, gate) of all rungs but the last.
        last: for each output the (inner, gate) whose products are summed; without rungs at all, gates alone.
    """

    rungs: tuple[tuple[Sum, Sum], ...]
    last: tuple[tuple[Sum | None, Sum], ...]


@dataclass(frozen=True)
class NormalModel:
    """The ladders of a model over inputs divided by ``scale``; their outputs' mean is the sum of all, plus ``offset``.

    Attributes:
        scale: largest size of each input. Shape (d,).
        ladders: one for each member.
        offset: added by whoever decrypts. Shape (m,).
        sizes: what the sums are to be multiplied by. Shape (m,).
        depth: rungs.
    """

    scale: Array
    ladders: tuple[NormalLadder, ...]
    offset: Array
    sizes: Array
    depth: int


Factors = list[tuple[Sum, Sum, Array]]
"""For each rung of a ladder both factors, normalized, and the size by which their product is divided."""


def normalized(model: FittedModel) -> NormalModel:
    """The model with every value inside divided by its proven size."""
    scale = np.maximum(size_of(input_box(model)), 1e-12)
    p = model.ladders
    members = [(factors(single, scale), single.readout.numpy()) for single in p]
    # All ladders add to the same sums, so they share one size per output: that of the readouts, offsets left out.
    each = [np.maximum(np.abs(readout) @ (rungs[-1][2] if rungs else scale), 1e-30) for rungs, readout in members]
    sizes = np.sum(each, 0)
    ladders = tuple(normal_ladder(rungs, readout / sizes[:, None], scale) for rungs, readout in members)
    return NormalModel(scale, ladders, p.offset.mean(0).numpy(), sizes / len(p), len(p.W))


def factors(p: LadderPolynomial, scale: Array) -> Factors:
    """The rungs of a ladder over inputs divided by a scale."""
    size, found = scale, []
    for W, b, V, c in p.layers():
        inner, above = shrunk(W.numpy() * size, b.numpy())
        gate, beside = shrunk(V.numpy() * scale, c.numpy())
        size = above * beside
        found.append((inner, gate, size))
    return found


def shrunk(matrix: Array, vector: Array) -> tuple[Sum, Array]:
    """Matrix x + vector divided by its proven size while no entry of x exceeds 1, and that size."""
    x = torch.zeros(1, matrix.shape[1], dtype=torch.float64)
    largest = affine(Ball(x, torch.ones_like(x)), torch.as_tensor(matrix), torch.as_tensor(vector))
    size = np.maximum(size_of(largest), 1e-30)
    return Sum(matrix / size[:, None], vector / size), size


def normal_ladder(rungs: Factors, readout: Array, scale: Array) -> NormalLadder:
    """One ladder; its readout goes into the inner factors of the last rung, which saves a level."""
    if not rungs:
        return NormalLadder((), tuple((None, Sum((row * scale)[None], np.zeros(1))) for row in readout))
    inner, gate, size = rungs[-1]
    last = tuple((Sum(inner.matrix * row[:, None], inner.vector * row), gate) for row in readout * size)
    return NormalLadder(tuple((u, g) for u, g, _ in rungs[:-1]), last)
