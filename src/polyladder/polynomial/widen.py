"""The mean of several ladders as one wider ladder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def widen(polynomials: Iterable[LadderPolynomial]) -> LadderPolynomial:
    """The mean of the given ladders, as one ladder with block-diagonal weights.

    Widths and depths may differ: a shallower ladder is first lengthened by identity rungs (`lengthen`), so the result
    has the highest order among them. An ensemble thus stays one exact polynomial.

    Args:
        polynomials: at least one; equal inputs, outputs and ``batch_shape``. A batch of ladders may be given as such:
            iterating over it yields its members.
    """
    members = list(polynomials)
    if not members:
        raise ValueError("widen must be given at least one ladder; got none.")
    shapes = {(p.in_features, p.out_features, tuple(p.batch_shape)) for p in members}
    if len(shapes) != 1:
        raise ValueError(
            f"widen must be given ladders of equal inputs, outputs and batch_shape; got {sorted(shapes)} "
            "as (inputs, outputs, batch_shape)."
        )
    if len(members) == 1:
        return members[0]
    depth = max(len(p.W) for p in members)
    members = [lengthen(p, depth) for p in members]
    layers = list(zip(*(p.layers() for p in members), strict=True))
    columns = [list(zip(*layer, strict=True)) for layer in layers]
    if not columns:
        readout = torch.stack([p.readout for p in members]).mean(0)
    else:
        readout = torch.cat([p.readout for p in members], -1) / len(members)
    return LadderPolynomial(
        # Every first layer reads the same x, so its rows are stacked; later layers read their own member only.
        W=tuple(torch.cat(W, -2) if l == 0 else block_diagonal(W) for l, (W, *_) in enumerate(columns)),
        b=tuple(torch.cat(b, -1) for _, b, _, _ in columns),
        V=tuple(torch.cat(V, -2) for _, _, V, _ in columns),
        c=tuple(torch.cat(c, -1) for _, _, _, c in columns),
        readout=readout,
        offset=torch.stack([p.offset for p in members]).mean(0),
    )


def lengthen(polynomial: LadderPolynomial, depth: int) -> LadderPolynomial:
    """The same function as a ladder of more layers: identity rungs (W = I, b = 0, V = 0, c = 1) stand on top.

    Args:
        polynomial: any ``batch_shape``.
        depth: how many layers the result has; at least those of the polynomial.
    """
    if depth < len(polynomial.W):
        raise ValueError(f"depth must be at least the {len(polynomial.W)} layers of the ladder; got {depth}.")
    missing, batch = depth - len(polynomial.W), tuple(polynomial.batch_shape)
    zero = polynomial.readout.new_zeros(*batch, polynomial.readout.shape[-1])
    return replace(
        polynomial,
        W=polynomial.W + (torch.diag_embed(zero + 1),) * missing,
        b=polynomial.b + (zero,) * missing,
        V=polynomial.V + (zero.new_zeros(*zero.shape, polynomial.in_features),) * missing,
        c=polynomial.c + (zero + 1,) * missing,
    )


def sharing(ladder: LadderPolynomial) -> LadderPolynomial:
    """The same ladder, weights that equal others being the same tensor: it is held and stored once."""
    known: list[Tensor] = []

    def once(weight: Tensor) -> Tensor:
        for each in known:
            if each.shape == weight.shape and torch.equal(each, weight):
                return each
        known.append(weight)
        return weight

    return ladder.map(once)


def block_diagonal(blocks: tuple[Tensor, ...]) -> Tensor:
    """Blocks (*batch_shape, r_i, c_i) along the diagonal of a (*batch_shape, sum r_i, sum c_i) matrix."""
    columns = sum(block.shape[-1] for block in blocks)
    rows, left = [], 0
    for block in blocks:
        rows.append(torch.nn.functional.pad(block, (left, columns - left - block.shape[-1])))
        left += block.shape[-1]
    return torch.cat(rows, -2)
