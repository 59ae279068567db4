"""Sums over the processes of ``torch.distributed``, through which gradients flow. One process is the usual case."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist


def process_count() -> int:
    """How many processes train together; 1 outside of a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def process_number() -> int:
    """Which of them this is, from 0."""
    return dist.get_rank() if process_count() > 1 else 0


class SumOverProcesses(torch.autograd.Function):
    """The sum of every process's tensor; its gradient is the sum of every process's gradient."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        """The sum."""
        total = value.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        """The sum of the gradients."""
        total = grads[0].clone()
        dist.all_reduce(total)
        return total


def sum_over_processes(value: Tensor) -> Tensor:
    """The sum of the tensors that all processes give, with gradient."""
    if process_count() == 1:
        return value
    found: Tensor = SumOverProcesses.apply(value)  # type: ignore[no-untyped-call]
    return found
