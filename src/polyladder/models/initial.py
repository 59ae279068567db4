"""Random starts of batched models, a stream of its own for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, generators


@torch.no_grad()
def draw_normal(weights: Sequence[tuple[Tensor, float]], batch_shape: Sequence[int], seed: Seeds) -> None:
    """Fill weights in place with normal numbers of mean zero.

    Args:
        weights: tensors and their standard deviations, drawn in this order. Shapes (*batch_shape, ...).
        batch_shape: of the models.
        seed: one integer, one per model, or None for torch's global stream.
    """
    if weights[0][0].device.type == "meta":
        return
    streams = generators(seed, batch_shape)
    for tensor, scale in weights:
        draws = [torch.randn(tensor.shape[len(batch_shape) :], generator=g) * scale for g in streams]
        tensor.copy_(torch.stack(draws).reshape(tensor.shape))
