"""`Feedforward`: ordinary networks, with a ReLU or a square as activation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from polyladder.models.batched import BatchedModule, Seeds, per_model, positive_integer
from polyladder.models.initial import draw_normal
from polyladder.models.ladder import flat, product
from polyladder.models.normalization import BatchNorm, Dropout
from polyladder.polynomial.ladder import check_rows

SPREAD = 0.5
"""Standard deviation, at the start, of what a quadratic unit adds to its intercept of 1."""


class Feedforward(BatchedModule):
    r"""A feed-forward network, or a batch of them.

    Implements: eq. (1).

    .. math:: h^0 = x, \quad h^l = \mathrm{dropout}(\mathrm{BN}(\sigma(W^l h^{l-1} + b^l)))

    followed by a linear readout. With the square as activation it is in ``eval`` mode a polynomial of order
    2 ** len(hidden), whose monomials `polyladder.feedforward_coefficients` writes out.

    Args:
        in_features: d, the number of inputs.
        hidden: the widths k_1, ..., k_L.
        out_features: m, the number of outputs.
        activation: ``"relu"``, or ``"quadratic"`` for u ** 2.
        batch_norm: whether each activation is followed by batch norm, eq. (11).
        dropout: rate after each activation, one or one per model. In [0, 1).
        batch_shape: leading shape of every parameter; () is a single network.
        seed: one integer, one per model, or None for torch's global stream. A model's start depends on its own alone.
        dtype: of the parameters.
        device: of the parameters.

    Example:
        >>> net = Feedforward(in_features=8, hidden=(50, 50), out_features=1, activation="quadratic", batch_shape=(3,))
        >>> net.order
        4
        >>> net(torch.zeros(5, 8)).shape
        torch.Size([3, 5, 1])
    """

    def __init__(
        self,
        in_features: int,
        hidden: Sequence[int],
        out_features: int,
        activation: Literal["relu", "quadratic"] = "relu",
        batch_norm: bool = False,
        dropout: float | Tensor = 0.0,
        batch_shape: Sequence[int] = (),
        seed: Seeds = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        if activation not in ("relu", "quadratic"):
            raise ValueError(f"activation must be 'relu' or 'quadratic'; got {activation!r}.")
        self.in_features = positive_integer("in_features", in_features)
        self.hidden = tuple(positive_integer("hidden", width) for width in hidden)
        self.out_features = positive_integer("out_features", out_features)
        self.batch_shape = torch.Size(positive_integer("batch_shape", size) for size in batch_shape)
        self.activation, self.batch_norm = activation, bool(batch_norm)
        rates = per_model("dropout", dropout, self.batch_shape, 0.0, 1.0)

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(*self.batch_shape, *shape, dtype=dtype, device=device))

        inputs = (self.in_features, *self.hidden)
        self.W = nn.ParameterList(parameter(k, i) for k, i in zip(self.hidden, inputs, strict=False))
        self.b = nn.ParameterList(parameter(k) for k in self.hidden)
        self.readout = parameter(self.out_features, inputs[-1])
        self.offset = parameter(self.out_features)
        self.norms = nn.ModuleList(
            BatchNorm(k, self.batch_shape, dtype, device) for k in self.hidden if self.batch_norm
        )
        self.dropout = Dropout(rates, device)
        self.reset_parameters(seed)

    @property
    def order(self) -> int:
        """The polynomial order in ``eval`` mode, which only a quadratic network has."""
        if self.activation != "quadratic" and self.hidden:
            raise ValueError("activation must be 'quadratic' for a network to have an order; got 'relu'.")
        return int(2 ** len(self.hidden))

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        names = ("in_features", "hidden", "out_features", "activation", "batch_norm")
        return {name: vars(self)[name] for name in names}

    @torch.no_grad()
    def reset_parameters(self, seed: Seeds = None) -> None:
        """Draw new weights such that, for standardized inputs, the scale of h^l is the same at every depth.

        ReLU: W h ~ N(0, 2), so that E[h^2] = 1, and b = 0. Square: W h ~ N(0, SPREAD^2) and b = 1, so that a unit
        starts near the linear 1 + 2 W h, and E[h^2] = 1 + 6 SPREAD^2 + 3 SPREAD^4 unless batch norm makes it 1.
        Squares around 0 forget the sign of their input, and layers of them train to far worse networks.
        """
        relu = self.activation == "relu"
        spread = math.sqrt(2.0) if relu else SPREAD
        moment = 1.0 if relu or self.batch_norm else 1 + 6 * SPREAD**2 + 3 * SPREAD**4
        moments = [1.0, *(moment for _ in self.hidden)]
        weights = [(W, spread / math.sqrt(W.shape[-1] * e)) for W, e in zip(self.W, moments, strict=False)]
        weights.append((self.readout, 1.0 / math.sqrt(self.readout.shape[-1] * moments[-1])))
        draw_normal(weights, self.batch_shape, seed)
        for intercept in self.b:
            intercept.fill_(0.0 if relu else 1.0)
        self.offset.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """Rows x of shape (n, d) or (*batch_shape, n, d) to (*batch_shape, n, m)."""
        check_rows(x, self.in_features, self.batch_shape)
        # As in the ladder: the batch is flat and rows come last, (B, k, n).
        h = x.mT if x.dim() == 2 else x.reshape(-1, *x.shape[-2:]).mT
        for l in range(len(self.hidden)):
            u = product(flat(self.W[l], 2), flat(self.b[l], 1), h)
            # clamp, not relu, whose derivative is read from its output: dropout overwrites that.
            h = u.square() if self.activation == "quadratic" else u.clamp(min=0)
            if self.batch_norm:
                h = self.norms[l](h)
            h = self.dropout(h)
        y = product(flat(self.readout, 2), flat(self.offset, 1), h).mT
        return y.reshape(*self.batch_shape, *y.shape[1:])

    def extra_repr(self) -> str:
        """The one-line summary that ``repr`` shows."""
        batch = f", batch_shape={tuple(self.batch_shape)}" if self.batch_shape else ""
        return (
            f"{self.in_features} -> {list(self.hidden)} -> {self.out_features}, activation={self.activation}, "
            f"batch_norm={self.batch_norm}{batch}"
        )
