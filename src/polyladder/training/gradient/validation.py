"""Validation losses of many models at once, each on rows of its own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.polynomial.sparse import is_sparse, take_rows
from polyladder.training.gradient.data import TrainingData
from polyladder.training.gradient.robust import robust_losses

EVALUATED_ROWS = 2**16
"""Rows times models of one forward pass over validation rows: activations then stay within tens of megabytes."""


@dataclass(frozen=True, eq=False)
class ValidationRows:
    """Row numbers and weights of the validation rows: shape (v,) if all models share them, else (B, v).

    Where a model has fewer rows than another, its first is repeated with weight zero.
    """

    index: Tensor
    weight: Tensor

    @staticmethod
    def of(data: TrainingData) -> ValidationRows:
        """Bring the models' row numbers to one length."""
        vectors = data.validation or []
        if all(v is vectors[0] for v in vectors):
            vectors = vectors[:1]
        longest = max(map(len, vectors))
        index = torch.stack([torch.cat([v, v[:1].expand(longest - len(v))]) for v in vectors])
        valid = torch.stack([torch.arange(longest) < len(v) for v in vectors])
        index, weight = index.to(data.x.device), valid.to(data.x)
        if data.weight is not None:
            weight = weight * data.weight[index]
        return ValidationRows(index, weight) if len(vectors) > 1 else ValidationRows(index[0], weight[0])

    @torch.no_grad()
    def losses(self, net: BatchedModule, data: TrainingData, radius: Tensor) -> Tensor:
        """The mean validation loss of every model; the radius is read where rows may move. Shapes (B,), float64."""
        models = len(data.rows)
        total = torch.zeros(models, dtype=torch.float64, device=data.x.device)
        # A bound holds a derivative of every output by every input.
        held = data.x.shape[-1] if data.robust is not None else 1
        chunk = max(1, EVALUATED_ROWS // (models * held))
        for index, weight in zip(torch.split(self.index, chunk, -1), torch.split(self.weight, chunk, -1), strict=True):
            # Shared rows have no batch dimension.
            shape = index.shape if index.dim() == 1 else (*net.batch_shape, index.shape[-1])
            x = take_rows(data.x, index.reshape(-1))
            x = x if is_sparse(x) else x.view(*shape, -1)
            target = data.target[index].view(*shape, *data.target.shape[1:])
            losses = robust_losses(net, data.loss, data.robust, x, target, radius).reshape(models, -1)
            total += (losses * weight).sum(-1, dtype=torch.float64)
        return total / self.weight.sum(-1, dtype=torch.float64)
