"""A wide ladder taken apart into ladders that share no unit: what `widen` and `lengthen` put together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from polyladder.polynomial.ladder import LadderPolynomial


def separate(polynomial: LadderPolynomial) -> list[LadderPolynomial]:
    """Ladders whose sum the polynomial is, none of which reads a unit of another.

    Rungs on top that only pass on what is below are taken off. The offset goes to the first ladder.

    Args:
        polynomial: without a batch, with at least one layer.
    """
    ends = np.cumsum([0, *polynomial.hidden])
    reads = [W.nonzero().numpy() for W in polynomial.W[1:]]
    readers = np.concatenate([pairs[:, 0] + ends[l + 1] for l, pairs in enumerate(reads)] or [np.empty(0, int)])
    read = np.concatenate([pairs[:, 1] + ends[l] for l, pairs in enumerate(reads)] or [np.empty(0, int)])
    links = coo_array((np.ones(len(read)), (readers, read)), shape=(ends[-1], ends[-1]))
    _, labels = connected_components(links, directed=False)
    layers = [labels[start:stop] for start, stop in pairwise(ends)]
    # Units that read none below them, or that none above reads, go with the first ladder that has units in all layers.
    whole = sorted(set.intersection(*(set(layer.tolist()) for layer in layers))) or [-1]
    found: list[LadderPolynomial] = []
    for label in whole:
        own = [layer == label if found else ~np.isin(layer, whole[1:]) for layer in layers]
        units = [torch.from_numpy(np.flatnonzero(each)) for each in own]
        found.append(shortened(part_of(polynomial, units, offset=not found)))
    return found


def part_of(polynomial: LadderPolynomial, units: list[torch.Tensor], offset: bool) -> LadderPolynomial:
    """The ladder of some units of each layer, which read no others."""
    p = polynomial
    below = [torch.arange(p.in_features), *units[:-1]]
    return LadderPolynomial(
        W=tuple(W[own][:, lower] for W, own, lower in zip(p.W, units, below, strict=True)),
        b=tuple(b[own] for b, own in zip(p.b, units, strict=True)),
        V=tuple(V[own] for V, own in zip(p.V, units, strict=True)),
        c=tuple(c[own] for c, own in zip(p.c, units, strict=True)),
        readout=p.readout[:, units[-1]],
        offset=p.offset if offset else torch.zeros_like(p.offset),
    )


def shortened(polynomial: LadderPolynomial) -> LadderPolynomial:
    """The same function without the rungs on top that change nothing (W = I, b = 0, V = 0, c = 1)."""
    p, depth = polynomial, len(polynomial.W)
    while depth > 1 and passes_on(p.W[depth - 1], p.b[depth - 1], p.V[depth - 1], p.c[depth - 1]):
        depth -= 1
    return LadderPolynomial(p.W[:depth], p.b[:depth], p.V[:depth], p.c[:depth], p.readout, p.offset)


def passes_on(W: torch.Tensor, b: torch.Tensor, V: torch.Tensor, c: torch.Tensor) -> bool:
    """Whether a layer's states are those of the layer below."""
    same = W.shape[0] == W.shape[1] and torch.equal(W, torch.eye(len(W), dtype=W.dtype))
    return same and not bool(b.any()) and not bool(V.any()) and bool((c == 1).all())
