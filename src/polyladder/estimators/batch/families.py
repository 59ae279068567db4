"""Families of models: what a program needs to know to fit many of one kind at once. A ladder is one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.feedforward import Feedforward
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.rivals.fit import fit_kernel, fit_machine
from polyladder.training.solves.alternating import EXACT_SWEEPS, random_start
from polyladder.training.solves.ridge import Alpha
from polyladder.training.solves.ridge_path import fit_ridge_path
from polyladder.training.solves.stages import RELAXATION, Stage, fit_in_stages


class Sizes(NamedTuple):
    """Numbers that a model holds: its weights, and for each row in gradient steps and in exact solves."""

    weights: int
    gradient: int
    solves: int


class Solved(NamedTuple):
    """Models that were fitted by exact solves.

    Attributes:
        models: one for each start.
        losses: regularized, with the ridge weights of the model, after each iteration with those; NaN after a model's
            last one. Shape (models, iterations).
        iterations: how many each model made in all. Shape (models,).
    """

    models: list[Any]
    losses: Tensor
    iterations: Tensor


class Family(ABC):
    """Models of one shape; equal families can share a program, so a family is a frozen dataclass."""

    @abstractmethod
    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random models to be trained by gradient, one per seed. Batch shape (len(seeds),)."""

    def trained(self, net: Any) -> list[Any]:
        """The models of a trained module, in float64: modules, unless a family says otherwise."""
        return modules(net)

    def start(self, inputs: int, outputs: int, seeds: Sequence[int]) -> Any:
        """Random models to be solved exactly, one per seed, in float64."""
        return self.build(inputs, outputs, seeds, torch.zeros(len(seeds)), torch.float64)

    def solve(self, start: Any, x: Tensor, y: Tensor, iterations: int, **options: Any) -> Solved:
        """Fit models by exact solves, modules in place; options as those of `fit_alternating`."""
        raise NotImplementedError(f"{type(self).__name__} have no exact solves.")

    @abstractmethod
    def sizes(self, inputs: int, outputs: int) -> Sizes:
        """How many numbers a model holds."""


@dataclass(frozen=True)
class LadderFamily(Family):
    """Ladder polynomial networks; a fitted one is a `LadderPolynomial`."""

    hidden: tuple[int, ...]
    batch_norm: bool

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random networks."""
        return LPNN(
            inputs,
            self.hidden,
            outputs,
            batch_norm=self.batch_norm,
            dropout=dropout,
            batch_shape=(len(seeds),),
            seed=list(seeds),
            dtype=dtype,
        )

    def trained(self, net: Any) -> list[Any]:
        """The networks' polynomials."""
        return list(merge(net).to(torch.float64))

    def start(self, inputs: int, outputs: int, seeds: Sequence[int]) -> Any:
        """Random ladders."""
        return random_start(inputs, self.hidden, outputs, list(seeds), len(seeds))

    def solve(
        self,
        start: Any,
        x: Tensor,
        y: Tensor,
        iterations: int,
        *,
        alpha: Alpha = "auto",
        stages: tuple[Stage, ...] = (),
        goes_on: bool = False,
        **options: Any,
    ) -> Solved:
        """Fit ladders block by block.

        Args:
            start: batch of ladders.
            x: inputs.
            y: targets.
            iterations: sweeps on all rows, unless there are stages.
            alpha: ridge weights. Given ones are used in the last sweeps alone (`fit_ridge_path`).
            stages: see `fit_in_stages`.
            goes_on: whether the ladders start where a fit has ended; then all sweeps use the given ridge weights.
            options: others of `fit_in_stages`.
        """
        stages = stages or (Stage(1.0, iterations),)
        options |= {"relaxation": RELAXATION}
        if isinstance(alpha, Tensor) and not goes_on:
            path = fit_ridge_path(start, x, y, stages, alpha=alpha, **options)
            return Solved(list(path.polynomial), path.losses, path.sweeps)
        exact_sweeps = 0 if goes_on else EXACT_SWEEPS
        fit = fit_in_stages(start, x, y, stages, alpha=alpha, exact_sweeps=exact_sweeps, **options)
        return solved(list(fit.polynomial), fit.losses)

    def sizes(self, inputs: int, outputs: int) -> Sizes:
        """Weights, and states of each row; a solve also holds four widths for each output."""
        below = (inputs, *self.hidden)
        weights = sum(k * (q + inputs + 2) for k, q in zip(self.hidden, below, strict=False))
        weights += outputs * (below[-1] + 1)
        states = sum(self.hidden)
        return Sizes(weights, states + inputs + outputs, states + 4 * max((*self.hidden, 1)) * outputs)


@dataclass(frozen=True)
class Networks(Family):
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

    def sizes(self, inputs: int, outputs: int) -> Sizes:
        """Weights, and numbers of each row."""
        weights = sum(k * (q + 1) for q, k in pairwise((inputs, *self.hidden, outputs)))
        states = 2 * sum(self.hidden) + inputs
        return Sizes(weights, states, states)


@dataclass(frozen=True)
class Machines(Family):
    """Factorization machines."""

    order: int
    rank: int

    def build(
        self, inputs: int, outputs: int, seeds: Sequence[int], dropout: Tensor, dtype: torch.dtype
    ) -> BatchedModule:
        """Random machines, which have no dropout."""
        return FactorizationMachine(inputs, self.rank, outputs, self.order, (len(seeds),), list(seeds), dtype)

    def solve(self, start: Any, x: Tensor, y: Tensor, iterations: int, **options: Any) -> Solved:
        """Fit machines in place."""
        fit = fit_machine(start, x, y, steps=iterations, **options)
        return solved(modules(start), fit.training_loss)

    def sizes(self, inputs: int, outputs: int) -> Sizes:
        """Weights, and numbers of each row."""
        ranks = self.rank * (self.order - 1)
        states = outputs * (4 * ranks + self.order + 2) + 2 * inputs
        return Sizes(outputs * (1 + inputs * (1 + ranks)), states, states)


@dataclass(frozen=True)
class Kernels(Family):
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

    def solve(self, start: Any, x: Tensor, y: Tensor, iterations: int, **options: Any) -> Solved:
        """Fit networks in place."""
        fit = fit_kernel(start, x, y, steps=iterations, **options)
        return solved(modules(start), fit.training_loss)

    def sizes(self, inputs: int, outputs: int) -> Sizes:
        """Weights, and numbers of each row."""
        states = 3 * self.rank + (self.degree + 2) * outputs + inputs
        return Sizes(self.rank * (inputs + outputs), states, states)


def solved(models: list[Any], losses: Tensor) -> Solved:
    """Models all of whose iterations are in their losses."""
    return Solved(models, losses, losses.isfinite().sum(-1))


def modules(net: BatchedModule) -> list[Any]:
    """The models of a batch as modules of their own, in float64."""
    return [net[i].double() for i in range(net.batch_shape[0])]
