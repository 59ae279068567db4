"""A ladder without the units that nothing reads: the same function, and often a much smaller one."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def trim(polynomial: LadderPolynomial) -> LadderPolynomial:
    """The same function without units whose output is multiplied by zeros alone; at least one stays per layer.

    Members of an ensemble of several widths are padded to one shape; this takes the padding off again.

    Args:
        polynomial: without a batch.
    """
    assert not polynomial.batch_shape
    read = used(polynomial.readout)
    kept = [read]
    for W in reversed(polynomial.W[1:]):
        read = used(W[read])
        kept.insert(0, read)
    if not polynomial.W:
        return polynomial
    below = [torch.arange(polynomial.in_features, device=polynomial.device), *kept[:-1]]
    return LadderPolynomial(
        W=tuple(W[own][:, lower] for W, own, lower in zip(polynomial.W, kept, below, strict=True)),
        b=tuple(b[own] for b, own in zip(polynomial.b, kept, strict=True)),
        V=tuple(V[own] for V, own in zip(polynomial.V, kept, strict=True)),
        c=tuple(c[own] for c, own in zip(polynomial.c, kept, strict=True)),
        readout=polynomial.readout[:, kept[-1]],
        offset=polynomial.offset,
    )


def used(weight: Tensor) -> Tensor:
    """Columns (i,) of a weight (o, i) that are not all zeros, in order; the first one if all are."""
    found = (weight != 0).any(0).nonzero().squeeze(-1)
    return found if len(found) else torch.zeros(1, dtype=torch.long, device=weight.device)
