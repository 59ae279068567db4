"""`TanhNetwork`: the one-layer network of Table 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from polyladder import BatchedModule, draw_normal


class TanhNetwork(BatchedModule):
    r"""w' tanh(W x + b) + c, or a batch of such networks.

    Args:
        in_features: d.
        units: k.
        out_features: m.
        batch_shape: leading shape of every parameter.
        seed: one integer, one per model, or None.
    """

    def __init__(
        self,
        in_features: int,
        units: int,
        out_features: int,
        batch_shape: Sequence[int] = (),
        seed: int | Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.units, self.out_features = in_features, units, out_features
        self.batch_shape = torch.Size(batch_shape)
        self.W = nn.Parameter(torch.empty(*batch_shape, units, in_features))
        self.b = nn.Parameter(torch.zeros(*batch_shape, units))
        self.readout = nn.Parameter(torch.empty(*batch_shape, out_features, units))
        self.offset = nn.Parameter(torch.zeros(*batch_shape, out_features))
        scales = [(self.W, 1 / math.sqrt(in_features)), (self.readout, 1 / math.sqrt(units))]
        draw_normal([(weight.data, scale) for weight, scale in scales], self.batch_shape, seed)

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        return {"in_features": self.in_features, "units": self.units, "out_features": self.out_features}

    def forward(self, x: Tensor) -> Tensor:
        """Rows x of shape (n, d) or (*batch_shape, n, d) to (*batch_shape, n, m)."""
        h = torch.tanh(x @ self.W.mT + self.b.unsqueeze(-2))
        return h @ self.readout.mT + self.offset.unsqueeze(-2)
