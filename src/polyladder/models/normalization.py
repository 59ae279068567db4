"""Batch norm and dropout for many models at once. Inside a model, activations have shape (B, k, n), rows last."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from polyladder.models.processes import process_count, sum_over_processes


class BatchNorm(nn.Module):
    r"""Batch norm with statistics of its own for every unit of every model.

    Implements: eq. (11).

    .. math:: \bar h = \gamma (h - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta

    The paper divides by (sigma + epsilon); frameworks, and this module, by the root. In ``eval`` mode mu and sigma
    are the running statistics, so the layer is affine and merges into the next weight.
    """

    momentum = 0.1
    eps = 1e-5

    def __init__(
        self,
        width: int,
        batch_shape: Sequence[int],
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        shape = (*batch_shape, width)
        self.gamma = nn.Parameter(torch.ones(shape, dtype=dtype, device=device))
        self.beta = nn.Parameter(torch.zeros(shape, dtype=dtype, device=device))
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.zeros(shape, dtype=dtype, device=device))
        self.register_buffer("variance", torch.ones(shape, dtype=dtype, device=device))

    def forward(self, h: Tensor) -> Tensor:
        """Normalize h of shape (B, k, n) over its last dimension."""
        if self.training and h.shape[-1] < 2:
            raise ValueError(
                f"Batch norm must see at least 2 rows in train mode; got {h.shape[-1]}. "
                "Call .eval() or drop the last batch."
            )
        if self.training and process_count() > 1:
            return self.normalized_over_processes(h)
        # Each unit of each model is a channel of one image: PyTorch's fused kernel then does them all in one call.
        y = F.batch_norm(
            h.reshape(1, -1, h.shape[-1]),
            self.mean.view(-1),
            self.variance.view(-1),
            self.gamma.view(-1),
            self.beta.view(-1),
            self.training,
            self.momentum,
            self.eps,
        )
        return y.reshape(h.shape)

    def normalized_over_processes(self, h: Tensor) -> Tensor:
        """The same in train mode, with statistics over the rows of all processes, whose numbers of rows may differ."""
        units = h.reshape(-1, h.shape[-1])
        sums = torch.cat([units.sum(-1), units.new_tensor([units.shape[-1]])])
        sums = sum_over_processes(sums)
        count = sums[-1]
        mean = sums[:-1] / count
        centered = units - mean.unsqueeze(-1)
        variance = sum_over_processes(centered.square().sum(-1)) / count
        with torch.no_grad():
            self.mean.view(-1).lerp_(mean, self.momentum)
            self.variance.view(-1).lerp_(variance * count / (count - 1), self.momentum)
        scale = self.gamma.view(-1) / (variance + self.eps).sqrt()
        return (centered * scale.unsqueeze(-1) + self.beta.view(-1, 1)).reshape(h.shape)

    def affine(self) -> tuple[Tensor, Tensor]:
        """The (scale, shift) that ``eval`` mode applies: h-bar = scale * h + shift. Shapes (*batch_shape, k)."""
        scale = self.gamma / (self.variance + self.eps).sqrt()
        return scale, self.beta - scale * self.mean

    def extra_repr(self) -> str:
        """The width, for ``repr``."""
        return str(self.gamma.shape[-1])


class Dropout(nn.Module):
    """Dropout with a rate for each model; kept values are scaled by 1 / (1 - rate)."""

    def __init__(self, rates: Tensor, device: torch.device | str | None = None) -> None:
        super().__init__()
        self.rate: Tensor
        self.register_buffer("rate", rates.to(device))

    def forward(self, h: Tensor) -> Tensor:
        """Drop entries of h, shape (B, k, n), in train mode and in place: what makes h never needs its own output."""
        if not self.training or not self.rate.any():
            return h
        rate = self.rate.reshape(-1, 1, 1)
        # 16 random bits are enough, and one 64-bit draw gives four such numbers. Whole numbers minus a whole level,
        # clamped to [0, 1], are the mask: comparisons and booleans cost several times more on a CPU.
        bits = torch.empty(math.ceil(h.numel() / 4), dtype=torch.int64, device=h.device).random_(-(2**63), None)
        drawn = bits.view(torch.int16)[: h.numel()].view(h.shape).to(h.dtype)
        level = (rate * 2**16).round() - 2**15 - 1
        mask = drawn.sub_(level.to(h.dtype)).clamp_(0, 1).mul_((1.0 / (1.0 - rate)).to(h.dtype))
        return h.mul_(mask)

    def extra_repr(self) -> str:
        """The rate or rates, for ``repr``."""
        low, high = self.rate.min().item(), self.rate.max().item()
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"
