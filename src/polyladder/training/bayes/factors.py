"""A factorized Gaussian over the blocks of a ladder: second moments up and down, and the equations of each block.

Every entry of every block is independent of every other. For one row, write the ladder with its intercepts absorbed,
eq. (8) and eq. (9): below a block stands the state [h, 1], above it the vector z with f = z . [h, 1]. They are random
and independent of each other, and both have second moments in closed form: upward by eq. (15), downward by its mirror
image

    E[z z'] below = M' T M + diag(sum_i T_ii S_i.) + what the intercepts add,   T = E[(g * z)(g * z)'],

for a layer of means M and variances S under a gate g. The expected squared error is then quadratic in the means of any
one block, with the Gram matrix sum_n T_ij H_ab, and linear in its variances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights, diagonal_over_rows
from polyladder.training.solves.blocks import NormalEquations, as_ladders, gram_positions, order_of_pairs

CHUNK_NUMBERS = 2**18
"""Numbers in one second-moment tensor of a chunk of rows; 2 MB in float64, so that the passes stay in cache."""


Block = tuple[Tensor, Tensor]
"""Means and variances of one block of B ladders, each of shape (B, rows, columns)."""


@dataclass
class Factors:
    """Means and variances of B ladders' blocks, intercepts appended as last columns.

    Attributes:
        W: layers, as (mean, variance). Shapes (B, k_l, k_(l-1) + 1).
        V: gates. Shapes (B, k_l, d + 1).
        R: readout. Shape (B, m, k_L + 1).
    """

    W: list[Block]
    V: list[Block]
    R: Block

    def blocks(self) -> list[Block]:
        """All blocks: layers, gates, readout."""
        return [*self.W, *self.V, self.R]

    def weights(self) -> GaussianWeights:
        """As Gaussian weights of batch shape (B,)."""
        means, variances = zip(*self.blocks(), strict=True)
        return GaussianWeights(as_ladders(means), as_ladders(variances))


@dataclass
class RowMoments:
    """A chunk of rows and the moments of the ladders' states at them. Rows come last, or in the middle of a matrix.

    Attributes:
        x: inputs with a row of ones. Shape (d + 1, n).
        y: targets. Shape (m, n).
        weight: of the rows. Shape (B, n) or (1, n).
        u: mean of W h + b in every layer. Shapes (B, k_l, n).
        U: its second moment. Shapes (B, k_l, n, k_l).
        Z: second moment of z at the present layer, each output divided by its noise. Shape (B, k_l + 1, n, k_l + 1).
        zy: mean of z times the target, summed over outputs and divided by their noise. Shape (B, k_l + 1, n).
    """

    x: Tensor
    y: Tensor
    weight: Tensor
    u: list[Tensor]
    U: list[Tensor]
    Z: Tensor
    zy: Tensor

    def climb(self, factors: Factors) -> None:
        """Recompute the moments of all layers, from the first to the last."""
        self.u, self.U = [], []
        for l, (mean, variance) in enumerate(factors.W):
            if l == 0:
                # The inputs are fixed: their second moment is the square of the mean, and nothing is correlated.
                u, own = mean @ self.x, variance @ self.x.square()
                U = u.unsqueeze(-1) * u.mT.unsqueeze(-3)
            else:
                h, H = self.state(factors, l)
                u, own = mean @ h, variance @ diagonal_over_rows(H).mT
                U = sandwich(mean, H)
            diagonal_over_rows(U).add_(own.mT)
            self.u.append(u)
            self.U.append(U)

    def state(self, factors: Factors, layer: int) -> tuple[Tensor, Tensor]:
        """Mean (B, k + 1, n) and second moment (B, k + 1, n, k + 1) of what layer number ``layer`` (from 0) reads."""
        if layer == 0:
            x = self.x.unsqueeze(0)
            return x, x.unsqueeze(-1) * x.mT.unsqueeze(-3)
        g, variance = self.gate(factors, layer - 1)
        h = torch.cat([self.u[layer - 1] * g, torch.ones_like(g[:, :1])], 1)
        H = h.new_empty(*h.shape, h.shape[1])
        torch.mul(self.U[layer - 1], g.unsqueeze(-1), out=H[:, :-1, :, :-1])
        H[:, :-1, :, :-1] *= g.mT.unsqueeze(-3)
        diagonal_over_rows(H[:, :-1, :, :-1]).addcmul_(variance.mT, diagonal_over_rows(self.U[layer - 1]))
        H[:, -1], H[..., -1] = h.mT, h
        return h, H

    def gate(self, factors: Factors, layer: int) -> tuple[Tensor, Tensor]:
        """Mean and variance of a layer's gate. Shapes (B, k, n)."""
        mean, variance = factors.V[layer]
        return mean @ self.x, variance @ self.x.square()

    def top(self, factors: Factors, noise: Tensor) -> None:
        """Start z at the readout, given the noise variances (B, m)."""
        mean, variance = factors.R
        n = self.x.shape[-1]
        scaled = mean / noise.unsqueeze(-1)
        Z = scaled.mT @ mean + torch.diag_embed((variance / noise.unsqueeze(-1)).sum(1))
        self.Z = Z.unsqueeze(2).expand(-1, -1, n, -1)
        self.zy = scaled.mT @ self.y

    def through_gate(self, factors: Factors, layer: int) -> tuple[Tensor, Tensor]:
        """Second moment of z times the gate, the last entry kept as it is, and its mean times the target."""
        g, variance = self.gate(factors, layer)
        one = torch.ones_like(g[:, :1])
        g = torch.cat([g, one], 1)
        T = self.Z * g.unsqueeze(-1) * g.mT.unsqueeze(-3)
        diagonal_over_rows(T)[..., :-1].addcmul_(variance.mT, diagonal_over_rows(self.Z)[..., :-1])
        return T, self.zy * g

    def descend(self, factors: Factors, layer: int) -> None:
        """Move z from above a layer to below it."""
        T, ty = self.through_gate(factors, layer)
        mean, variance = factors.W[layer]
        k = mean.shape[1]
        Z = sandwich(mean.mT, T[:, :k, :, :k])
        diagonal_over_rows(Z).add_(diagonal_over_rows(T)[..., :k] @ variance)
        # z below = M' (g * z) + (0, ..., 0, the last entry of z): the intercepts above this layer.
        cross = mean.mT @ T[:, :k, :, k]
        Z[:, -1] += cross.mT
        Z[..., -1] += cross
        Z[:, -1, :, -1] += T[:, k, :, k]
        self.Z, self.zy = Z, mean.mT @ ty[:, :k]
        self.zy[:, -1] += ty[:, k]

    def layer_equations(self, factors: Factors, layer: int) -> tuple[Tensor, Tensor]:
        """The chunk's part of the table of pairs, and of the moment, for a layer."""
        T, ty = self.through_gate(factors, layer)
        h, H = self.state(factors, layer)
        response = (ty[:, :-1] - T[:, :-1, :, -1]) * self.weight.unsqueeze(1)
        return packed(T[:, :-1, :, :-1] * self.weight[:, None, :, None]) @ packed(H).mT, response @ h.mT

    def gate_equations(self, layer: int) -> tuple[Tensor, Tensor]:
        """The chunk's part of the table of pairs, and of the moment, for a gate."""
        k = self.U[layer].shape[1]
        T = self.Z[:, :k, :, :k] * self.U[layer] * self.weight[:, None, :, None]
        response = (self.zy[:, :k] - self.Z[:, :k, :, k]) * self.u[layer] * self.weight.unsqueeze(1)
        x = self.x.unsqueeze(0)
        return packed(T) @ packed(x.unsqueeze(-1) * x.mT.unsqueeze(-3)).mT, response @ x.mT

    def readout_equations(self, factors: Factors) -> tuple[Tensor, Tensor]:
        """The chunk's part of the Gram matrix (B, q, q), and of the moment (B, m, q), of the readout; noise one."""
        h, H = self.state(factors, len(factors.W))
        return (H * self.weight[:, None, :, None]).sum(2), (self.y * self.weight.unsqueeze(1)) @ h.mT


def row_chunks(factors: Factors, x: Tensor, y: Tensor, weight: Tensor) -> list[RowMoments]:
    """The rows x (n, d), with targets y (n, m) and weights (B, n) or (1, n), in chunks; no moments computed yet."""
    columns = torch.cat([x.mT, x.new_ones(1, len(x))])
    widest = max(mean.shape[2] for mean, _ in factors.blocks())
    size = max(1, CHUNK_NUMBERS // (len(factors.R[0]) * widest**2))
    nothing = x.new_empty(0)
    parts = [torch.split(t, size, 1) for t in (columns, y.mT, weight)]
    return [RowMoments(a, b, c, [], [], nothing, nothing) for a, b, c in zip(*parts, strict=True)]


def equations(parts: Iterator[tuple[Tensor, Tensor]]) -> NormalEquations:
    """Gram matrix (B, k q, k q) and moment (B, k q, 1) of a layer or a gate from the chunks' tables of pairs."""
    table, moment = next(parts)
    for other, more in parts:
        table, moment = table + other, moment + more
    B, k, q = moment.shape
    gram = table.flatten(1).gather(1, gram_positions(k, q).to(table.device).expand(B, -1)).reshape(B, k * q, k * q)
    return NormalEquations(gram, moment.reshape(B, k * q, 1))


def sandwich(M: Tensor, S: Tensor) -> Tensor:
    """M S M' for every row: M (B, i, a), S (B, a, n, a), the result (B, i, n, i)."""
    half = S.flatten(1, 2) @ M.mT  # (B, a n, i)
    return (M @ half.reshape(len(half), S.shape[1], -1)).reshape(len(M), M.shape[1], S.shape[2], M.shape[1])


def packed(S: Tensor) -> Tensor:
    """The different entries of symmetric (B, k, n, k), in the order of pairs. Shape (B, k (k + 1) / 2, n)."""
    i, j = order_of_pairs(S.shape[1])
    return S.movedim(2, -1)[:, i.to(S.device), j.to(S.device)]
