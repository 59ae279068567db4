"""`LPNN`: the ladder as a trainable PyTorch module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from polyladder.models.batched import BatchedModule, Seeds, per_model, positive_integer
from polyladder.models.initial import draw_normal
from polyladder.models.normalization import BatchNorm, Dropout
from polyladder.polynomial.ladder import check_rows
from polyladder.polynomial.sparse import is_sparse


class LPNN(BatchedModule):
    r"""A ladder polynomial neural network, or a batch of them.

    Implements: eq. (1), eq. (2), eq. (4), eq. (7).

    .. math:: h^0 = x, \quad h^l = \mathrm{dropout}(\mathrm{BN}((W^l h^{l-1} + b^l) * (V^l x + c^l)))

    followed by a linear readout. In ``eval`` mode it is a polynomial of order ``len(hidden) + 1``, which
    `polyladder.merge` returns as a `polyladder.LadderPolynomial`.

    Args:
        in_features: d, the number of inputs.
        hidden: the widths k_1, ..., k_L.
        out_features: m, the number of outputs.
        gate_bias: whether the gates have intercepts c, started at 1. False gives the paper's literal eq. (7).
        batch_norm: whether each activation is followed by batch norm, eq. (11).
        dropout: rate after each activation, one or one per model. In [0, 1).
        batch_shape: leading shape of every parameter; () is a single network.
        seed: one integer, one per model, or None for torch's global stream. A model's start depends on its own alone.
        dtype: of the parameters.
        device: of the parameters.

    Example:
        >>> net = LPNN(in_features=8, hidden=(50, 50, 50), out_features=1, batch_norm=True, batch_shape=(3,))
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
        gate_bias: bool = True,
        batch_norm: bool = False,
        dropout: float | Tensor = 0.0,
        batch_shape: Sequence[int] = (),
        seed: Seeds = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        self.in_features = positive_integer("in_features", in_features)
        self.hidden = tuple(positive_integer("hidden", width) for width in hidden)
        self.out_features = positive_integer("out_features", out_features)
        self.batch_shape = torch.Size(positive_integer("batch_shape", size) for size in batch_shape)
        self.gate_bias, self.batch_norm = bool(gate_bias), bool(batch_norm)
        rates = per_model("dropout", dropout, self.batch_shape, 0.0, 1.0)

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(*self.batch_shape, *shape, dtype=dtype, device=device))

        inputs = (self.in_features, *self.hidden)
        self.W = nn.ParameterList(parameter(k, i) for k, i in zip(self.hidden, inputs, strict=False))
        self.b = nn.ParameterList(parameter(k) for k in self.hidden)
        self.V = nn.ParameterList(parameter(k, self.in_features) for k in self.hidden)
        self.c = nn.ParameterList(parameter(k) for k in self.hidden if self.gate_bias)
        self.readout = parameter(self.out_features, inputs[-1])
        self.offset = parameter(self.out_features)
        self.norms = nn.ModuleList(
            BatchNorm(k, self.batch_shape, dtype, device) for k in self.hidden if self.batch_norm
        )
        self.dropout = Dropout(rates, device)
        self.reset_parameters(seed)

    @property
    def order(self) -> int:
        """The polynomial order in ``eval`` mode: layers + 1."""
        return len(self.hidden) + 1

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        names = ("in_features", "hidden", "out_features", "gate_bias", "batch_norm")
        return {name: vars(self)[name] for name in names}

    @torch.no_grad()
    def reset_parameters(self, seed: Seeds = None) -> None:
        """Draw new weights such that, for standardized inputs, the scale of h^l is the same at every depth.

        A gate V x + c has second moment E[g^2] = 1 + GATE^2 with c = 1 and V ~ N(0, GATE^2 / d), or 1 without an
        intercept and V ~ N(0, 1 / d). Weights W ~ N(0, 1 / (E[g^2] k)) undo that factor. A small GATE starts near a
        linear network: with large ones the factors of many layers compound, and a few rows dominate the gradient.
        """
        gate = GATE if self.gate_bias else 1.0
        keep = 1.0 / math.sqrt(1.0 + gate**2) if self.gate_bias else 1.0
        random: list[tuple[Tensor, float]] = []
        for W, V in zip(self.W, self.V, strict=True):
            random += [(W, keep / math.sqrt(W.shape[-1])), (V, gate / math.sqrt(self.in_features))]
        random.append((self.readout, 1.0 / math.sqrt(self.readout.shape[-1])))
        draw_normal(random, self.batch_shape, seed)
        for intercept in [*self.b, self.offset]:
            intercept.zero_()
        for intercept in self.c:
            intercept.fill_(1.0)

    def forward(self, x: Tensor) -> Tensor:
        """Rows x of shape (n, d) or (*batch_shape, n, d) to (*batch_shape, n, m)."""
        check_rows(x, self.in_features, self.batch_shape)
        # Inside, the batch is flat and rows come last, (B, k, n): batch-norm statistics then run over contiguous
        # memory, a shared x makes each gate of all models one matrix product, and intercepts ride along in it.
        columns = x.mT if x.dim() == 2 else x.reshape(-1, *x.shape[-2:]).mT
        h = columns
        for l in range(len(self.hidden)):
            gate = product(flat(self.V[l], 2), flat(self.c[l], 1) if self.gate_bias else None, columns)
            h = product(flat(self.W[l], 2), flat(self.b[l], 1), h) * gate
            if self.batch_norm:
                h = self.norms[l](h)
            h = self.dropout(h)
        y = product(flat(self.readout, 2), flat(self.offset, 1), h).mT
        return y.reshape(*self.batch_shape, *y.shape[1:])

    def extra_repr(self) -> str:
        """The one-line summary that ``repr`` shows."""
        batch = f", batch_shape={tuple(self.batch_shape)}" if self.batch_shape else ""
        return (
            f"{self.in_features} -> {list(self.hidden)} -> {self.out_features}, order={self.order}, "
            f"gate_bias={self.gate_bias}, batch_norm={self.batch_norm}{batch}"
        )


GATE = 0.5
"""Standard deviation of a gate's input-dependent part at the start, for standardized inputs."""


def flat(t: Tensor, trailing: int) -> Tensor:
    """Gather the batch dimensions into one leading dimension."""
    return t.reshape(-1, *t.shape[t.dim() - trailing :])


def product(weight: Tensor, intercept: Tensor | None, h: Tensor) -> Tensor:
    """Weight (B, k, i) times columns h (i, n), shared, or (B, i, n), plus intercept (B, k). Shape (B, k, n).

    Shared columns may be sparse: the transpose of a CSR tensor of rows.
    """
    if h.dim() == 2:
        rows = weight.reshape(-1, weight.shape[-1])
        if is_sparse(h):
            y = rows @ h
            y = y if intercept is None else y + intercept.reshape(-1, 1)
        else:
            y = rows @ h if intercept is None else torch.addmm(intercept.reshape(-1, 1), rows, h)
        return y.reshape(*weight.shape[:-1], -1)
    return weight @ h if intercept is None else torch.baddbmm(intercept.unsqueeze(-1), weight, h)
