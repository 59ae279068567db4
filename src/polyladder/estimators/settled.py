"""Rows whose loss learns something from a first fit, as the Huber loss learns the scale of the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from polyladder.estimators.table_estimator import Prepared
from polyladder.estimators.targets import Array, NumberTarget
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.kernels.reweighted import first_fit
from polyladder.training.losses.loss import Loss


def settled(prepared: Prepared) -> Prepared:
    """A training table with a settled loss. Sparse rows have no first fit: there, targets alone say what they can."""
    rows, target = prepared.rows, prepared.target
    if rows.loss.settled:
        return prepared
    assert isinstance(target, NumberTarget)
    used = torch.arange(len(rows.y)) if rows.weight is None else (rows.weight > 0).nonzero().squeeze(-1)
    y = rows.y[used]
    weight = torch.ones(len(used), dtype=torch.float64) if rows.weight is None else rows.weight[used]
    if is_sparse(rows.z):
        loss = rows.loss.settle(torch.zeros_like(y), y, weight)
    else:
        loss = first_look(rows.loss, rows.z[used].numpy(), y.numpy(), weight.numpy())
    found = target.settled(loss, y, weight)
    shift = (found.mean - target.mean) / target.scale
    return replace(prepared, rows=replace(rows, y=rows.y - shift, loss=loss), target=found)


def first_look(loss: Loss, z: Array, y: Array, weight: Array) -> Loss:
    """What a loss learns from a first fit to different rows: of those given twice, both are left out at once."""
    distinct, same = np.unique(np.c_[z, y], axis=0, return_inverse=True)
    x, target = np.split(distinct, [z.shape[1]], 1)
    return first_fit(loss, x, target, np.bincount(same.ravel(), weight).astype(np.float64), seed=0)[0]
