"""Ladders that are summed into one model, as a batch of one shape whose mean is the sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from polyladder.polynomial.ladder import LadderPolynomial, stack_ladders
from polyladder.polynomial.substitute import reading
from polyladder.polynomial.widen import lengthen


def placed(ladder: LadderPolynomial, columns: NDArray[np.intp], inputs: int) -> LadderPolynomial:
    """The same function of more inputs, of which it reads those at the given positions."""

    def spread(weight: Tensor) -> Tensor:
        wide = weight.new_zeros(*weight.shape[:-1], inputs)
        wide[..., torch.from_numpy(columns.astype(np.int64))] = weight
        return wide

    return reading(ladder, lambda weight, intercept: (spread(weight), intercept))


def with_outputs(ladder: LadderPolynomial, first: int, outputs: int) -> LadderPolynomial:
    """The same function among more outputs, from the first one given on; the others are zero."""
    after = outputs - first - ladder.out_features
    readout, offset = pad(ladder.readout, (0, 0, first, after)), pad(ladder.offset, (first, after))
    return LadderPolynomial(ladder.W, ladder.b, ladder.V, ladder.c, readout, offset)


def times(ladder: LadderPolynomial, factor: float) -> LadderPolynomial:
    """A multiple of a ladder."""
    return LadderPolynomial(ladder.W, ladder.b, ladder.V, ladder.c, factor * ladder.readout, factor * ladder.offset)


def as_members(parts: Sequence[LadderPolynomial]) -> LadderPolynomial:
    """Ladders of any widths and depths, with at least one layer, as a batch whose mean is their sum.

    Shallower ladders get identity rungs on top, narrower ones units that are always zero.
    """
    depth = max(len(p.W) for p in parts)
    longer = [lengthen(p, depth) for p in parts]
    hidden = [max(p.hidden[l] for p in longer) for l in range(depth)]
    return stack_ladders([times(padded(p, hidden), len(parts)) for p in longer])


def padded(ladder: LadderPolynomial, hidden: Sequence[int]) -> LadderPolynomial:
    """The same function with at least these widths."""
    lacking = [k - own for k, own in zip(hidden, ladder.hidden, strict=True)]
    below = [0, *lacking[:-1]]
    return LadderPolynomial(
        W=tuple(pad(W, (0, q, 0, k)) for W, q, k in zip(ladder.W, below, lacking, strict=True)),
        b=tuple(pad(b, (0, k)) for b, k in zip(ladder.b, lacking, strict=True)),
        V=tuple(pad(V, (0, 0, 0, k)) for V, k in zip(ladder.V, lacking, strict=True)),
        c=tuple(pad(c, (0, k)) for c, k in zip(ladder.c, lacking, strict=True)),
        readout=pad(ladder.readout, (0, lacking[-1])),
        offset=ladder.offset,
    )
