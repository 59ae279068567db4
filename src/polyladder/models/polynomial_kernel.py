"""`PolynomialKernel`: a sum of powers of affine functions, its directions learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from polyladder.models.batched import BatchedModule, Seeds, per_model, positive_integer
from polyladder.models.initial import draw_normal
from polyladder.models.ladder import flat, product
from polyladder.polynomial.ladder import check_rows


class PolynomialKernel(BatchedModule):
    r"""A network of polynomial kernels, or a batch of them; the outputs share directions, not weights.

    .. math:: f_o(x) = \sum_{k=1}^{K} \pi_{ok} (\lambda + p_k \cdot x)^q

    There is no other intercept: the constant is the sum of the weights times a power of lambda.
    `polyladder.from_polynomial_kernel` makes a ladder of it: ``from_polynomial_kernel(net.weights,
    net.intercept.unsqueeze(-1), net.directions, net.degree)``.

    Args:
        in_features: d, the number of inputs.
        rank: K, the number of directions.
        out_features: m, the number of outputs.
        degree: q, at least 1.
        intercept: lambda, or where it starts; one or one per model. With 0 every monomial has degree q.
        learn_intercept: whether lambda is a parameter; otherwise it keeps its value.
        batch_shape: leading shape of every parameter; () is a single network.
        seed: one integer, one per model, or None for torch's global stream. A model's start depends on its own alone.
        dtype: of the parameters.
        device: of the parameters.

    Attributes:
        weights: pi. Shape (*batch_shape, m, K).
        directions: p, one per row. Shape (*batch_shape, K, d).
        intercept: lambda. Shape batch_shape.

    Example:
        >>> net = PolynomialKernel(in_features=8, rank=4, out_features=1, degree=4, batch_shape=(3,))
        >>> net(torch.zeros(5, 8)).shape
        torch.Size([3, 5, 1])
    """

    def __init__(
        self,
        in_features: int,
        rank: int,
        out_features: int,
        degree: int,
        intercept: float | Tensor = 1.0,
        learn_intercept: bool = False,
        batch_shape: Sequence[int] = (),
        seed: Seeds = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.in_features = positive_integer("in_features", in_features)
        self.rank = positive_integer("rank", rank)
        self.out_features = positive_integer("out_features", out_features)
        self.degree = positive_integer("degree", degree)
        self.learn_intercept = bool(learn_intercept)
        self.batch_shape = torch.Size(positive_integer("batch_shape", size) for size in batch_shape)
        start = per_model("intercept", intercept, self.batch_shape, 0.0, math.inf)

        def empty(*shape: int) -> Tensor:
            return torch.empty(*self.batch_shape, *shape, dtype=dtype, device=device)

        self.weights = nn.Parameter(empty(self.out_features, self.rank))
        self.directions = nn.Parameter(empty(self.rank, self.in_features))
        value = start.to(self.weights)
        self.intercept: Tensor
        if self.learn_intercept:
            self.intercept = nn.Parameter(value)
        else:
            self.register_buffer("intercept", value)
        self.reset_parameters(seed)

    @property
    def order(self) -> int:
        """The polynomial order: the degree."""
        return self.degree

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        names = ("in_features", "rank", "out_features", "degree", "learn_intercept")
        return {name: vars(self)[name] for name in names}

    @torch.no_grad()
    def reset_parameters(self, seed: Seeds = None) -> None:
        """Draw new directions and weights; lambda stays.

        For standardized inputs p . x has standard deviation s = 1 / q, or 1 if lambda is 0: (lambda + p . x)^q then has
        moderate values, and a bump of lambda still counts. The weights undo its second moment, so that the output
        has a deviation of about 1.
        """
        if self.weights.device.type == "meta":
            return
        draw_normal([(self.directions, 1.0 / math.sqrt(self.in_features)), (self.weights, 1.0)], self.batch_shape, seed)
        shift = self.intercept.double()
        spread = torch.where(shift == 0, 1.0, 1.0 / self.degree)
        moment = power_moment(shift, spread, 2 * self.degree)
        self.directions.mul_(spread[..., None, None].to(self.directions))
        self.weights.div_((self.rank * moment).sqrt()[..., None, None].to(self.weights))

    def forward(self, x: Tensor) -> Tensor:
        """Rows x of shape (n, d) or (*batch_shape, n, d) to (*batch_shape, n, m)."""
        check_rows(x, self.in_features, self.batch_shape)
        # As in the ladder: the batch is flat and rows come last.
        columns = x.mT if x.dim() == 2 else x.reshape(-1, *x.shape[-2:]).mT
        shift = self.intercept.reshape(-1, 1).expand(-1, self.rank)
        powers = product(flat(self.directions, 2), shift, columns) ** self.degree
        return (flat(self.weights, 2) @ powers).mT.reshape(*self.batch_shape, -1, self.out_features)

    def extra_repr(self) -> str:
        """The one-line summary that ``repr`` shows."""
        batch = f", batch_shape={tuple(self.batch_shape)}" if self.batch_shape else ""
        kind = "learned" if self.learn_intercept else "fixed"
        return (
            f"{self.in_features} -> {self.out_features}, degree={self.degree}, rank={self.rank}, "
            f"intercept={kind}{batch}"
        )


def power_moment(shift: Tensor, spread: Tensor, power: int) -> Tensor:
    """E[(shift + spread z)^power] for a standard normal z and an even power. Any shape."""
    # E[z^j] = (j - 1)!! for even j, and 0 for odd.
    double_factorial = 1
    total = shift**power
    for j in range(2, power + 1, 2):
        double_factorial *= j - 1
        total = total + math.comb(power, j) * double_factorial * shift ** (power - j) * spread**j
    return total
