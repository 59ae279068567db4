"""`FactorizationMachine`: an affine function plus all interactions of two, or two and three, different inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from polyladder.models.batched import BatchedModule, Seeds, positive_integer
from polyladder.models.initial import draw_normal
from polyladder.models.ladder import flat, product
from polyladder.polynomial.ladder import check_rows
from polyladder.polynomial.sparse import power

INTERACTION = 0.1
"""Standard deviation of each order's part of the output at the start, for standardized inputs."""


class FactorizationMachine(BatchedModule):
    r"""A factorization machine of order 2 or 3, or a batch of them; every output has factors of its own.

    .. math:: f(x) = w_0 + w \cdot x + \sum_{i<j} \langle s_i, s_j \rangle x_i x_j
              + \sum_{i<j<k} \langle t_i, t_j, t_k \rangle x_i x_j x_k

    The two orders have separate factors, s and t. `polyladder.from_factorization_machine` makes a ladder of it:
    ``from_factorization_machine(net.offset, net.linear, net.factors, net.factors3, several_outputs=True)``.

    Args:
        in_features: d, the number of inputs.
        rank: length of the vectors s_i and t_i.
        out_features: m, the number of outputs.
        order: 2 or 3.
        batch_shape: leading shape of every parameter; () is a single machine.
        seed: one integer, one per model, or None for torch's global stream. A model's start depends on its own alone.
        dtype: of the parameters.
        device: of the parameters.

    Attributes:
        offset: w_0. Shape (*batch_shape, m).
        linear: w. Shape (*batch_shape, m, d).
        factors: s, whose column i belongs to input i. Shape (*batch_shape, m, rank, d).
        factors3: t, in the same way, or None for order 2.

    Example:
        >>> net = FactorizationMachine(in_features=8, rank=4, out_features=1, order=3, batch_shape=(3,))
        >>> net(torch.zeros(5, 8)).shape
        torch.Size([3, 5, 1])
    """

    def __init__(
        self,
        in_features: int,
        rank: int,
        out_features: int,
        order: int = 2,
        batch_shape: Sequence[int] = (),
        seed: Seeds = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if order not in (2, 3):
            raise ValueError(f"order must be 2 or 3; got {order!r}.")
        self.in_features = positive_integer("in_features", in_features)
        self.rank = positive_integer("rank", rank)
        self.out_features = positive_integer("out_features", out_features)
        self.order = int(order)
        self.batch_shape = torch.Size(positive_integer("batch_shape", size) for size in batch_shape)

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(*self.batch_shape, self.out_features, *shape, dtype=dtype, device=device))

        self.offset = parameter()
        self.linear = parameter(self.in_features)
        self.factors = parameter(self.rank, self.in_features)
        self.factors3 = parameter(self.rank, self.in_features) if self.order == 3 else None
        self.reset_parameters(seed)

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        return {name: vars(self)[name] for name in ("in_features", "rank", "out_features", "order")}

    @torch.no_grad()
    def reset_parameters(self, seed: Seeds = None) -> None:
        """Start at small interactions and no affine part.

        An order q sums rank * C(d, q) products of q factors and q inputs, so factors of deviation s give the output
        the deviation sqrt(rank * C(d, q)) * s^q, which is set to INTERACTION.
        """
        parts = [(2, self.factors)] + ([(3, self.factors3)] if self.factors3 is not None else [])
        scales = [
            (t, (INTERACTION / math.sqrt(self.rank * max(1, math.comb(self.in_features, q)))) ** (1 / q))
            for q, t in parts
        ]
        draw_normal(scales, self.batch_shape, seed)
        self.offset.zero_()
        self.linear.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """Rows x of shape (n, d) or (*batch_shape, n, d) to (*batch_shape, n, m)."""
        check_rows(x, self.in_features, self.batch_shape)
        # As in the ladder: the batch is flat and rows come last.
        columns = x.mT if x.dim() == 2 else x.reshape(-1, *x.shape[-2:]).mT
        y = product(flat(self.linear, 2), flat(self.offset, 1), columns)
        for order, factors in ((2, self.factors), (3, self.factors3)):
            if factors is not None:
                # All factors of all outputs of a model are rows of one matrix.
                rows = factors.reshape(-1, self.out_features * self.rank, self.in_features)
                kernel = anova_kernel(rows, columns, order)
                y = y + kernel.view(-1, self.out_features, self.rank, kernel.shape[-1]).sum(-2)
        return y.mT.reshape(*self.batch_shape, -1, self.out_features)

    def extra_repr(self) -> str:
        """The one-line summary that ``repr`` shows."""
        batch = f", batch_shape={tuple(self.batch_shape)}" if self.batch_shape else ""
        return f"{self.in_features} -> {self.out_features}, order={self.order}, rank={self.rank}{batch}"


def anova_kernel(factors: Tensor, columns: Tensor, order: int) -> Tensor:
    r"""The sum of s_i x_i s_j x_j ... over all sets of ``order`` different inputs.

    .. math:: A_q = \frac1q \sum_{r=1}^{q} (-1)^{r+1} A_{q-r} P_r, \quad A_0 = 1, \quad P_r = \sum_i (s_i x_i)^r

    Args:
        factors: s, one per row. Shape (B, k, d).
        columns: x, shared or one set a model, rows last. Shape (d, n) or (B, d, n).
        order: q, at least 1.

    Returns:
        Shape (B, k, n).

    Cost: q matrix products; the sets are never listed.
    """
    powers = {r: product(factors**r, None, power(columns, r)) for r in range(1, order + 1)}
    kernels = {1: powers[1]}
    for q in range(2, order + 1):
        total = (-1) ** (q + 1) * powers[q]
        for r in range(1, q):
            total = total + (-1) ** (r + 1) * kernels[q - r] * powers[r]
        kernels[q] = total / q
    return kernels[order]
