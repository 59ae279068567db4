"""Ladders at many rows, a chunk at a time, so that their hidden states need little memory."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.sparse import is_sparse, row_parts

MEMBERS = 16
"""Ladders of a batch that are evaluated side by side."""

PREDICT_NUMBERS = 2**23
"""Numbers of hidden states held at once: 64 MiB in float64."""


def evaluate(model: Callable[[Tensor], Tensor], z: Tensor, numbers: int | None = None) -> Tensor:
    """A model at many rows, a chunk at a time. Shape (*batch_shape, n, m).

    Args:
        model: a ladder, or anything else if ``numbers`` is given.
        z: dense or CSR. Shape (n, d).
        numbers: how many numbers the model holds for each row; by default those of a ladder's states.
    """
    if numbers is None:
        assert isinstance(model, LadderPolynomial)
        if model.W and not is_sparse(z):
            return evaluate_dense(model, model.check_rows(z))
        numbers = sum(model.hidden) * math.prod(model.batch_shape)
    return torch.cat([model(part) for part in row_parts(z, max(1, PREDICT_NUMBERS // max(1, numbers)))], -2)


def evaluate_dense(model: LadderPolynomial, z: Tensor) -> Tensor:
    """Ladders at dense rows, laid out for the processor's cache. Shape (*batch_shape, n, m)."""
    shape = model.batch_shape
    flat = model.map(lambda t: t.reshape(-1, *t.shape[len(shape) :]))
    # Many members are evaluated in groups, so that each group stays in the cache with its rows.
    turns = [Layout.of(flat[i : i + MEMBERS]).members(z) for i in range(0, len(flat), MEMBERS)]
    outputs = torch.cat(turns)
    return outputs.reshape(*shape, *outputs.shape[1:])
