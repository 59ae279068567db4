"""The ladder's rivals as families of models: what a program needs to know to fit many of one family at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.feedforward import Feedforward
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.alternating_relatives import RelativeFit, fit_kernel, fit_machine


class Family(Protocol):
    """Models of one shape; equal families can share a program, so a family is a frozen dataclass."""

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random models, one a seed. Batch shape (len(seeds),)."""

    def solve(self, net: Any, x: Tensor, y: Tensor, **options: Any) -> RelativeFit:
        """Fit the models in place by exact solves; the options are those of `fit_machine`."""

    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """How many weights a model has, and how many numbers it holds for each row."""


@dataclass(frozen=True)
class Networks:
    """Feed-forward networks. They have no exact solves: their layers are not linear in their weights."""

    hidden: tuple[int, ...]
    activation: Literal["relu", "quadratic"]
    batch_norm: bool

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random networks."""
        shape = (len(seeds),)
        return Feedforward(
            inputs, self.hidden, outputs, self.activation, self.batch_norm, dropout, shape, list(seeds), dtype
        )

    def solve(self, net: Any, x: Tensor, y: Tensor, **options: Any) -> RelativeFit:
        """Refuse: gradient steps alone train them."""
        raise NotImplementedError("Feed-forward networks have no exact solves.")

    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """Weights, and numbers for each row."""
        widths = (inputs, *self.hidden, outputs)
        weights = sum(k * (q + 1) for q, k in pairwise(widths))
        return weights, 2 * sum(self.hidden) + inputs


@dataclass(frozen=True)
class Machines:
    """Factorization machines."""

    order: int
    rank: int

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random machines, which have no dropout."""
        return FactorizationMachine(inputs, self.rank, outputs, self.order, (len(seeds),), list(seeds), dtype)

    def solve(self, net: Any, x: Tensor, y: Tensor, **options: Any) -> RelativeFit:
        """Fit the machines in place."""
        return fit_machine(net, x, y, **options)

    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """Weights, and numbers for each row."""
        ranks = self.rank * (self.order - 1)
        return outputs * (1 + inputs * (1 + ranks)), outputs * (4 * ranks + self.order + 2) + 2 * inputs


@dataclass(frozen=True)
class Kernels:
    """Networks of polynomial kernels with lambda = 1."""

    degree: int
    rank: int

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random networks, which have no dropout."""
        shape = (len(seeds),)
        return PolynomialKernel(
            inputs, self.rank, outputs, self.degree, batch_shape=shape, seed=list(seeds), dtype=dtype
        )

    def solve(self, net: Any, x: Tensor, y: Tensor, **options: Any) -> RelativeFit:
        """Fit the networks in place."""
        return fit_kernel(net, x, y, **options)

    def sizes(self, inputs: int, outputs: int) -> tuple[int, int]:
        """Weights, and numbers for each row."""
        return self.rank * (inputs + outputs), 3 * self.rank + (self.degree + 2) * outputs + inputs
