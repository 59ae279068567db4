"""What distributions of numbers share: from tensors (n, m) to arrays in the shape of the target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.predictive import Array, Predictive, check_count, check_level, seed_of


class NumberPredictive(Predictive):
    """Distributions of numbers. Subclasses are frozen dataclasses, and say all in float64 tensors (n, m).

    Attributes:
        flat: whether the target is one column without a second dimension, so that answers have shape (n,).
    """

    flat: bool

    @property
    @abstractmethod
    def means(self) -> Tensor:
        """Shape (n, m)."""

    @property
    @abstractmethod
    def deviations(self) -> Tensor:
        """Standard deviations. Shape (n, m)."""

    @abstractmethod
    def quantiles(self, probability: float) -> Tensor:
        """Of each output by itself. Shape (n, m)."""

    @abstractmethod
    def ends(self, level: float) -> tuple[Tensor, Tensor]:
        """Of the central interval. Shapes (n, m)."""

    @abstractmethod
    def log_densities(self, y: Tensor) -> Tensor:
        """Of each output by itself. Shape (n, m)."""

    @abstractmethod
    def joint_log_density(self, y: Tensor) -> Tensor:
        """Of the outputs of each row together. Shape (n,)."""

    @abstractmethod
    def below(self, y: Tensor) -> Tensor:
        """Probability of at most y (n, m), each output by itself. Shape (n, m)."""

    @abstractmethod
    def draws(self, n: int, seed: int) -> Tensor:
        """New observations. Shape (n, rows, m)."""

    @abstractmethod
    def scores(self, y: Tensor) -> Tensor:
        """CRPS of each output. Shape (n, m)."""

    def __len__(self) -> int:
        return len(self.means)

    def __repr__(self) -> str:
        n, m = self.means.shape
        outputs = "" if self.flat else f" of {m} outputs"
        head = f"{type(self).__name__}({n:,} rows{outputs}"
        if not n:
            return head + ")"
        ends = (f"{each.min():.3g} to {each.max():.3g}" for each in (self.means, self.deviations))
        return head + ": mean {}, std {})".format(*ends)

    def shaped(self, values: Tensor) -> Array:
        """Numbers (..., m) in the shape of the target."""
        return np.asarray((values[..., 0] if self.flat else values).numpy())

    def read(self, y: Any, lead: bool = True) -> Tensor:
        """Targets as the user gives them, as a tensor (..., n, m).

        Args:
            y: one number, if ``lead``, or the shape of the target.
            lead: whether there may be further dimensions in front.
        """
        values = np.asarray(y, dtype=np.float64)
        shape = self.shaped(self.means).shape
        if lead and values.ndim == 0:
            values = np.broadcast_to(values, shape)
        if values.shape[-len(shape) :] != shape or (not lead and values.ndim > len(shape)):
            words = f"be a number or have shape (..., {', '.join(map(str, shape))})" if lead else f"have shape {shape}"
            raise ValueError(f"y must {words}; got shape {values.shape}. Give one target for each row.")
        found = torch.tensor(values)
        return found.unsqueeze(-1) if self.flat else found

    def of_each(self, function: Callable[[Tensor], Tensor], y: Any) -> Array:
        """A function of targets (n, m), for targets with any further dimensions in front."""
        values = self.read(y)
        if values.dim() == 2:
            return self.shaped(function(values))
        found = [function(part) for part in values.flatten(0, -3)]
        return self.shaped(torch.stack(found).reshape(values.shape) if found else values)

    @property
    def mean(self) -> Array:
        """Means. Shape (n,) or (n, m)."""
        return self.shaped(self.means)

    @property
    def std(self) -> Array:
        """Standard deviations; infinite where tails are so heavy that they have none. Shape (n,) or (n, m)."""
        return self.shaped(self.deviations)

    def quantile(self, q: Any) -> Array:
        """Where the probability of a lower observation is q in (0, 1); a sequence gives one more dimension in front."""
        at = np.asarray(q, dtype=np.float64)
        if at.ndim > 1:
            raise ValueError(f"q must be a number or a sequence of numbers; got shape {at.shape}.")
        for each in at.ravel().tolist():
            check_level(each, "q")
        if at.ndim == 0:
            return self.shaped(self.quantiles(float(at)))
        found = [self.quantiles(each) for each in at.tolist()]
        return self.shaped(torch.stack(found) if found else self.means.new_zeros(0, *self.means.shape))

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """The ends of the central interval of a probability, each output by itself. Shapes (n,) or (n, m)."""
        check_level(level)
        low, high = self.ends(level)
        return self.shaped(low), self.shaped(high)

    def logpdf(self, y: Any) -> Array:
        """Log density at y, each output by itself."""
        return self.of_each(self.log_densities, y)

    def cdf(self, y: Any) -> Array:
        """Probability that an observation is at most y, each output by itself."""
        return self.of_each(self.below, y)

    def crps(self, y: Any) -> Array:
        """Continuous ranked probability score, in units of the target; the less the better."""
        return self.of_each(self.scores, y)

    def log_likelihood(self, y: Any) -> Array:
        """Log density of all outputs of a row together. Shape (n,)."""
        return np.asarray(self.joint_log_density(self.read(y, lead=False)).numpy())

    def sample(self, n: int = 1, random_state: int | np.random.Generator | None = None) -> Array:
        """New observations: n for each row, independent of each other. Shape (n, rows) or (n, rows, m)."""
        check_count(n)
        return self.shaped(self.draws(n, seed_of(random_state)))
