"""A batch of ladders laid out for evaluation: members side by side, rows last, a cache's worth of rows at a time.

As one wider ladder (`polyladder.polynomial.widen`) an ensemble's weights are mostly zeros. Here every product with the
inputs, those of all members, the first layer's and all gates', is one matrix product, and each later layer is a batch
of small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial

CACHE_NUMBERS = 2**17
"""Numbers of one chunk of rows: 1 MiB in float64, a processor's second cache."""

LEAST_ROWS = 64
"""Rows of a chunk at least: fewer make small products."""


@dataclass(frozen=True, eq=False)
class Layout:
    """B ladders of one shape, ready to be evaluated.

    Attributes:
        reads_x: the first layer and then the gates of all layers, intercepts as last columns. Shape (S, d + 1), where
            S = B (k_1 + k_1 + k_2 + ... + k_L).
        W: layers from the second on. Shapes (B, k_l, k_(l-1)).
        b: their intercepts. Shapes (B, k_l, 1).
        widths: k_1, ..., k_L.
        readout: Shape (B, m, k_L).
        offset: Shape (B, m, 1).
    """

    reads_x: Tensor
    W: tuple[Tensor, ...]
    b: tuple[Tensor, ...]
    widths: tuple[int, ...]
    readout: Tensor
    offset: Tensor

    @classmethod
    def of(cls, ladders: LadderPolynomial) -> Layout:
        """The layout of a batch of ladders, of shape (B,) and with at least one layer."""
        first = [torch.cat([ladders.W[0], ladders.b[0].unsqueeze(-1)], -1).flatten(0, 1)]
        gates = [torch.cat([V, c.unsqueeze(-1)], -1).flatten(0, 1) for V, c in zip(ladders.V, ladders.c, strict=True)]
        return cls(
            torch.cat(first + gates),
            tuple(W.contiguous() for W in ladders.W[1:]),
            tuple(b.unsqueeze(-1).contiguous() for b in ladders.b[1:]),
            ladders.hidden,
            ladders.readout.contiguous(),
            ladders.offset.unsqueeze(-1).contiguous(),
        )

    def members(self, x: Tensor) -> Tensor:
        """Outputs of every member at rows x (n, d). Shape (B, n, m)."""
        B, m, _ = self.readout.shape
        out = self.readout.new_empty(B, m, len(x))
        for rows, h in self.last_states(x):
            torch.baddbmm(self.offset, self.readout, h, out=out[..., rows])
        return out.mT

    def mean(self, x: Tensor) -> Tensor:
        """Mean over the members at rows x (n, d). Shape (n, m)."""
        B, m, k = self.readout.shape
        flat = (self.readout / B).transpose(0, 1).reshape(m, B * k)
        offset = self.offset.mean(0)
        out = self.readout.new_empty(m, len(x))
        for rows, h in self.last_states(x):
            torch.addmm(offset, flat, h.reshape(B * k, -1), out=out[:, rows])
        return out.mT

    def last_states(self, x: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """Slices of the rows, and the last states there, (B, k_L, rows): valid until the next slice is asked for."""
        B = len(self.readout)
        size = max(LEAST_ROWS, CACHE_NUMBERS // len(self.reads_x))
        inputs = x.new_ones(x.shape[1] + 1, min(size, len(x)))
        for start in range(0, len(x), size):
            rows = slice(start, min(start + size, len(x)))
            part = inputs[:, : rows.stop - rows.start]
            part[:-1] = x[rows].mT
            products = self.reads_x @ part
            at, gates = B * self.widths[0], []
            for k in self.widths:
                gates.append(products[at : at + B * k].view(B, k, -1))
                at += B * k
            h = products[: B * self.widths[0]].view(B, self.widths[0], -1).mul_(gates[0])
            for W, b, gate in zip(self.W, self.b, gates[1:], strict=True):
                h = torch.baddbmm(b, W, h).mul_(gate)
            yield rows, h
