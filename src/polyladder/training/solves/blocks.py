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

CHUNK_NUMBERS = 2**20
"""How many numbers the features of one chunk of rows may hold: 8 MiB in float64, to stay in the last cache."""

SINGLE_ROWS = 1000
"""From this many rows on Gram matrices are summed in single precision."""


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
        precision: that Gram matrices are summed in.
        gram_rows: how many rows, evenly spread, Gram matrices are summed over; None for all.
    """

    x: Tensor
    W: list[Tensor]
    V: list[Tensor]
    R: Tensor
    h: list[Tensor]
    f: Tensor
    precision: torch.dtype = torch.float64
    gram_rows: int | None = None

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

    def put(self, block: int, theta: Tensor) -> None:
        """Replace a layer or a gate, by its position among `weights`; states and outputs are left as they were."""
        depth = len(self.W)
        (self.W if block < depth else self.V)[block % depth] = theta

    def features(self, block: int) -> tuple[Tensor, Tensor]:
        """Derivatives of the outputs by what a layer or gate computes, (B, m, k, n), and what it reads.

        They are computed from the weights and the states below: the states above may be out of date.

        Returns:
            The second is of shape (q, n) or (B, q, n).
        """
        depth = len(self.W)
        layer = block % depth
        slope = self.R[..., :-1].unsqueeze(-1)
        for l in range(depth - 1, layer, -1):
            slope = self.W[l][:, None, :, :-1].mT @ (slope * (self.V[l] @ self.x).unsqueeze(1))
        if block < depth:
            return slope * (self.V[layer] @ self.x).unsqueeze(1), self.below(layer)
        return slope * (self.W[layer] @ self.below(layer)).unsqueeze(1), self.x

    def select(self, keep: Tensor) -> Blocks:
        """The ladders at the given positions."""
        pick = [[t[keep] for t in part] for part in (self.W, self.V, self.h)]
        chosen = (self.x, pick[0], pick[1], self.R[keep], pick[2], self.f[keep])
        return Blocks(*chosen, self.precision, self.gram_rows)

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


def blocks_of(
    polynomial: LadderPolynomial, x: Tensor, precision: torch.dtype | None = None, gram_rows: int | None = None
) -> Blocks:
    """The blocks of a batch of ladders at rows x.

    Args:
        polynomial: any ``batch_shape``.
        x: Shape (n, d).
        precision: of Gram matrices; by default as `gram_dtype` says.
        gram_rows: how many rows Gram matrices are summed over; None for all.
    """
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
    dtype = gram_dtype(n) if precision is None else precision
    blocks = Blocks(columns, W, V, R, h, x.new_empty(0), dtype, gram_rows)
    blocks.forward()
    return blocks


def blocks_without_rows(polynomial: LadderPolynomial) -> Blocks:
    """The blocks of a batch of ladders whose rows are elsewhere."""
    return blocks_of(polynomial, polynomial.readout.new_empty(0, polynomial.in_features))


def gram_dtype(n: int) -> torch.dtype:
    """The type that a fit to n rows sums its Gram matrices in."""
    return torch.float32 if n >= SINGLE_ROWS else torch.float64


@dataclass(frozen=True)
class NormalEquations:
    """The quadratic of one block: (gram + ridge) theta = moment.

    Attributes:
        gram: weighted mean of features times features. Shape (B, p, p).
        moment: weighted mean of features times response. Shape (B, p, r).
    """

    gram: Tensor
    moment: Tensor


# Equal widths need two of these, the first layer's and the others'. Large ones take 128 MB, so few are kept.
@lru_cache(maxsize=4)
def gram_positions(k: int, q: int) -> Tensor:
    """Where entry (i a, j b) of the Gram matrix of g (x) h stands in the table of pairs of g times pairs of h."""

    def among_pairs(size: int) -> Tensor:
        i, j = order_of_pairs(size)
        table = torch.empty(size, size, dtype=torch.long)
        table[i, j] = table[j, i] = torch.arange(len(i))
        return table

    left, right = among_pairs(k)[:, None, :, None], among_pairs(q)[None, :, None, :]
    return (left * (q * (q + 1) // 2) + right).reshape(-1)


def order_of_pairs(k: int) -> tuple[Tensor, Tensor]:
    """Which entries `pairs` multiplies: (i, i + s), counted around, for one shift s after the other."""
    at = torch.arange(k * (k + 1) // 2)
    first = at % k
    return first, (first + at // k) % k


def pairs(h: Tensor, out: Tensor | None = None) -> Tensor:
    """All products of two entries, as `order_of_pairs` says. Shape (..., k, n) to (..., k (k + 1) / 2, n)."""
    *batch, k, n = h.shape
    if out is None:
        out = h.new_empty(*batch, k * (k + 1) // 2, n)
    # All shifts are one product of h with windows of itself, which costs a fraction of one call per entry. With k even,
    # only half of the last shift is needed: the other half would repeat the same pairs.
    half, whole = k // 2, (k + 1) // 2
    around = torch.cat([h, h[..., :half, :]], -2)
    *steps, row, one = around.stride()
    windows = around.as_strided((*batch, whole, k, n), (*steps, row, row, one))
    torch.mul(h.unsqueeze(-3), windows, out=out[..., : whole * k, :].view(*batch, whole, k, n))
    if whole == half:
        torch.mul(h[..., :half, :], h[..., half:, :], out=out[..., whole * k :, :])
    return out


def normal_equations(
    g: Tensor,
    h: Tensor,
    response: Tensor,
    weight: Tensor,
    total: Tensor,
    precision: torch.dtype | None = None,
) -> NormalEquations:
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
        precision: that the Gram matrix is computed in; g's own by default. The moment is always of g's type.
    """
    B, m, k, n = g.shape
    q = h.shape[-2]
    P, Q = k * (k + 1) // 2, q * (q + 1) // 2
    dtype = g.dtype if precision is None else precision
    # Where h is shared, its few pairs stand in front: a product is faster with its long side last.
    shared = h.dim() == 2
    table, moment = g.new_zeros((Q, B * P) if shared else (B, P, Q), dtype=dtype), g.new_zeros(B, k, q)
    scale = total.reshape(-1, 1, 1)
    rooms: dict[int, tuple[Tensor, Tensor]] = {}
    for rows in chunks(n, B * P + (Q if shared else B * Q)):
        left, right = g[..., rows], h[..., rows]
        size = right.shape[-1]
        if size not in rooms:  # reused by every chunk: new memory costs as much as the products themselves
            rooms[size] = (table.new_empty(B, P, size), table.new_empty(*h.shape[:-2], Q, size))
        products, doubles = rooms[size]
        pairs(right.to(dtype), doubles)
        summed_pairs(left, (weight[:, None, rows] / scale).sqrt(), products)
        if shared:
            table.addmm_(doubles, products.view(B * P, size).mT)
        else:
            table.baddbmm_(products, doubles.mT)
        wanted = response[..., rows] * weight[:, None, rows]
        moment += (left[:, 0] * wanted if m == 1 else (left * wanted.unsqueeze(2)).sum(1)) @ right.mT
    if shared:
        table = table.view(Q, B, P).permute(1, 2, 0).contiguous()
    positions = gram_positions(k, q).to(table.device).expand(B, -1)
    gram = table.flatten(1).gather(1, positions).reshape(B, k * q, k * q).to(g.dtype)
    return NormalEquations(gram, moment.reshape(B, k * q, 1) / scale)


def block_moment(g: Tensor, h: Tensor, response: Tensor, weight: Tensor) -> Tensor:
    """Weighted sum of g h' times the response.

    Args:
        g: derivatives. Shape (B, m, k, n).
        h: what the block reads. Shape (B or 1, q, n).
        response: shape (B, m, n).
        weight: of every row. Shape (B or 1, 1, n).

    Returns:
        Shape (B, k, q).
    """
    out = g.new_zeros(g.shape[0], g.shape[2], h.shape[1])
    for rows in row_chunks(g):
        wanted = (response[..., rows] * weight[..., rows]).unsqueeze(2)
        out += (g[..., rows] * wanted).sum(1) @ h[..., rows].mT
    return out


def row_chunks(g: Tensor) -> Iterator[slice]:
    """Slices of the rows whose products with g (B, m, k, n) stay small."""
    B, m, k, n = g.shape
    return chunks(n, B * m * k)


def summed_pairs(g: Tensor, root: Tensor, out: Tensor) -> None:
    """Pairs of g (B, m, k, n) times root (B or 1, 1, n), summed over the outputs m, into out (B, k (k + 1) / 2, n)."""
    pairs((g[:, 0] * root).to(out.dtype), out)
    for o in range(1, g.shape[1]):
        out += pairs((g[:, o] * root).to(out.dtype))


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


def balance(blocks: Blocks, alpha: Tensor) -> None:
    """Rescale every unit's layer row, gate row and outgoing column against each other without changing the function.

    Only the product of the three scales enters the function, so the ridge penalty a A + c C + e E (squared norms times
    ridge weights) is least where the three terms are equal. The function does not change; the penalty only falls.
    Without a ridge the norms themselves are made equal, so that they cannot drift apart.

    Args:
        blocks: rescaled in place; states and outputs are left to `Blocks.forward`.
        alpha: ridge weights of layers, gates and readout. Shape (2 L + 1, B).
    """
    depth = len(blocks.W)
    for l in range(depth):
        # What reads a layer is the next layer or, above the last, the readout.
        reader, above = (blocks.W[l + 1], l + 1) if l + 1 < depth else (blocks.R, -1)
        ridge = alpha[[l, depth + l, above]]
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
