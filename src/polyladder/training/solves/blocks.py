"""The blocks of a ladder and their normal equations, for many ladders at once.

With every other block fixed, the output is linear in one block: for a layer or a gate of width k that reads q inputs,
f_o = rest + sum_i g_oi (block_i . h), where g_oi is the derivative of output o with respect to the block's output i.
That is a linear regression on the k q features g (x) h. Solving it is `polyladder.training.solves.sweep`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.interrupt import check_interrupt

CHUNK_NUMBERS = 2**22
"""How many numbers the features of one chunk of rows may hold: 32 MiB in float64, about a processor's last cache."""


@dataclass
class Blocks:
    """The weights of B ladders, intercepts appended as last columns, and their states at the training rows.

    Rows come last everywhere: a state has shape (B, width + 1, n) and ends with a row of ones.

    Attributes:
        x: inputs with a row of ones, shared by all ladders. Shape (d + 1, n).
        W: layers. Shapes (B, k_l, k_(l-1) + 1).
        V: gates. Shapes (B, k_l, d + 1).
        R: readout. Shape (B, m, k_L + 1).
        h: states h^1, ..., h^L. Shapes (B, k_l + 1, n).
        f: outputs. Shape (B, m, n).
    """

    x: Tensor
    W: list[Tensor]
    V: list[Tensor]
    R: Tensor
    h: list[Tensor]
    f: Tensor

    @property
    def count(self) -> int:
        """B, the number of ladders."""
        return self.R.shape[0]

    def below(self, layer: int) -> Tensor:
        """What layer number ``layer`` (from 0) reads: x, or the state under it."""
        return self.h[layer - 1] if layer else self.x

    def forward(self) -> None:
        """Recompute every state and the output from the weights."""
        for l in range(len(self.W)):
            torch.mul(self.W[l] @ self.below(l), self.V[l] @ self.x, out=self.h[l][:, :-1])
        self.f = self.R @ self.below(len(self.W))

    def weights(self) -> list[Tensor]:
        """Layers, gates and readout."""
        return [*self.W, *self.V, self.R]

    def select(self, keep: Tensor) -> Blocks:
        """The ladders at the given positions."""
        pick = [[t[keep] for t in part] for part in (self.W, self.V, self.h)]
        return Blocks(self.x, pick[0], pick[1], self.R[keep], pick[2], self.f[keep])

    def polynomial(self) -> LadderPolynomial:
        """The ladders as one batch of shape (B,)."""
        return as_ladders(self.weights())


def as_ladders(blocks: Sequence[Tensor]) -> LadderPolynomial:
    """Layers, gates and readout, intercepts as last columns, as ladders; any shape in front is their batch shape."""
    depth = len(blocks) // 2
    return LadderPolynomial(
        W=tuple(w[..., :-1] for w in blocks[:depth]),
        b=tuple(w[..., -1] for w in blocks[:depth]),
        V=tuple(v[..., :-1] for v in blocks[depth:-1]),
        c=tuple(v[..., -1] for v in blocks[depth:-1]),
        readout=blocks[-1][..., :-1],
        offset=blocks[-1][..., -1],
    )


def blocks_of(polynomial: LadderPolynomial, x: Tensor) -> Blocks:
    """The blocks of a batch of ladders at rows x of shape (n, d)."""
    depth = len(polynomial.batch_shape)

    def flat(weight: Tensor, intercept: Tensor) -> Tensor:
        joined = torch.cat([weight, intercept.unsqueeze(-1)], -1).detach()
        return joined.flatten(0, depth - 1) if depth else joined.unsqueeze(0)

    W = [flat(w, b) for w, b in zip(polynomial.W, polynomial.b, strict=True)]
    V = [flat(v, c) for v, c in zip(polynomial.V, polynomial.c, strict=True)]
    R = flat(polynomial.readout, polynomial.offset)
    n = x.shape[0]
    columns = torch.cat([x.mT, x.new_ones(1, n)])
    h = [x.new_ones(R.shape[0], w.shape[1] + 1, n) for w in W]
    blocks = Blocks(columns, W, V, R, h, x.new_empty(0))
    blocks.forward()
    return blocks


@dataclass(frozen=True)
class NormalEquations:
    """The quadratic of one block: (gram + ridge) theta = moment.

    Attributes:
        gram: weighted mean of features times features. Shape (B, p, p).
        moment: weighted mean of features times response. Shape (B, p, r).
    """

    gram: Tensor
    moment: Tensor


# Equal widths need two of these, the first layer's and the others'. Large ones take 64 MB, so few are kept.
@lru_cache(maxsize=4)
def gram_positions(k: int, q: int) -> Tensor:
    """Where entry (i a, j b) of the Gram matrix of g (x) h stands in the table of pairs of g times pairs of h."""

    def among_pairs(size: int) -> Tensor:
        i, j = torch.triu_indices(size, size)
        table = torch.empty(size, size, dtype=torch.long)
        table[i, j] = table[j, i] = torch.arange(len(i))
        return table

    left, right = among_pairs(k)[:, None, :, None], among_pairs(q)[None, :, None, :]
    return (left * (q * (q + 1) // 2) + right).reshape(-1).to(torch.int32)


def pairs(h: Tensor) -> Tensor:
    """All products of two entries. Shape (..., k, n) to (..., k (k + 1) / 2, n)."""
    k = h.shape[-2]
    out = h.new_empty(*h.shape[:-2], k * (k + 1) // 2, h.shape[-1])
    start = 0
    for i in range(k):
        torch.mul(h[..., i : i + 1, :], h[..., i:, :], out=out[..., start : start + k - i, :])
        start += k - i
    return out


def normal_equations(g: Tensor, h: Tensor, response: Tensor, weight: Tensor, total: Tensor) -> NormalEquations:
    """Normal equations of a block that reads h and whose output i moves output o by g_oi.

    The Gram matrix of the features g (x) h has entries sum_n w g_i g_j h_a h_b: it is the product of two short tables
    of pairs, which costs a quarter of multiplying the features themselves, whatever the number of outputs. Rows are
    taken in chunks, so that memory depends on the block alone.

    Args:
        g: derivatives. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n), shared, or (B, q, n).
        response: what g (x) h should sum to. Shape (B, m, n).
        weight: of every row. Shape (B, n) or (1, n).
        total: the sum of weights to divide by. Shape (B,) or (1,).
    """
    B, m, k, n = g.shape
    q = h.shape[-2]
    table = g.new_zeros(B, k * (k + 1) // 2, q * (q + 1) // 2)
    moment = g.new_zeros(B, k, q)
    for rows in chunks(n, B * (table.shape[1] + table.shape[2])):
        left, right = g[..., rows], h[..., rows]
        root = weight[:, None, rows].sqrt()
        products = pairs(left[:, 0] * root)
        for o in range(1, m):
            products += pairs(left[:, o] * root)
        table += products @ pairs(right).mT
        wanted = (response[..., rows] * weight[:, None, rows]).unsqueeze(2)
        moment += (left * wanted).sum(1) @ right.mT if m > 1 else (left[:, 0] * wanted[:, 0]) @ right.mT
    scale = total.reshape(-1, 1, 1)
    table /= scale
    gram = table.flatten(1).index_select(1, gram_positions(k, q).to(table.device)).reshape(B, k * q, k * q)
    return NormalEquations(gram, moment.reshape(B, k * q, 1) / scale)


def readout_equations(h: Tensor, response: Tensor, weight: Tensor, total: Tensor) -> NormalEquations:
    """Normal equations of the readout: every output is regressed on the same states.

    Args:
        h: last states; the inputs of a ladder without layers. Shape (B, q, n), or (q, n), shared.
        response: what the outputs should be. Shape (B, m, n).
        weight: of every row. Shape (B, n) or (1, n).
        total: the sum of weights to divide by. Shape (B,) or (1,).
    """
    h = h if h.dim() == 3 else h.expand(len(response), -1, -1)
    weighted = h * weight.unsqueeze(1)
    scale = total.reshape(-1, 1, 1)
    return NormalEquations(weighted @ h.mT / scale, weighted @ response.mT / scale)


def chunks(n: int, numbers_a_row: int) -> Iterator[slice]:
    """Slices of the rows that keep a chunk's features within `CHUNK_NUMBERS`."""
    size = max(256, CHUNK_NUMBERS // numbers_a_row)
    count = math.ceil(n / size)
    size = math.ceil(n / count)
    for start in range(0, n, size):
        check_interrupt()
        yield slice(start, min(start + size, n))


def balance(blocks: Blocks, scales: list[tuple[Tensor, Tensor, Tensor]]) -> None:
    """Rescale every unit's layer row, gate row and outgoing column against each other, for free.

    Only the product of the three scales enters the function, so the ridge penalty a A + c C + e E (squared norms times
    ridge weights) is least where the three terms are equal. The function does not change; the penalty only falls.
    Without a ridge the norms themselves are made equal, so that they cannot drift apart.

    Args:
        blocks: rescaled in place; states and outputs are left to `Blocks.forward`.
        scales: for each layer the ridge weights of its layer, its gate and what reads it. Shapes (B,).
    """
    for l, ridge in enumerate(scales):
        reader = blocks.W[l + 1] if l + 1 < len(blocks.W) else blocks.R
        width = blocks.W[l].shape[1]
        outgoing = reader[..., :width]
        norms = (blocks.W[l].square().sum(2), blocks.V[l].square().sum(2), outgoing.square().sum(1))
        weighted = [norm * r.clamp_min(1e-100).unsqueeze(1) for norm, r in zip(norms, ridge, strict=True)]
        # Logarithms: a product of three small norms underflows long before any of them does.
        logs = [t.log() for t in weighted]
        level = (logs[0] + logs[1] + logs[2]) / 3
        alive = level.isfinite()
        factors = [torch.where(alive, ((level - log) / 2).exp(), torch.ones_like(log)) for log in logs]
        blocks.W[l] = blocks.W[l] * factors[0].unsqueeze(2)
        blocks.V[l] = blocks.V[l] * factors[1].unsqueeze(2)
        outgoing *= factors[2].unsqueeze(1)
