"""`Predictive`: what a model says of new observations, one distribution for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray[Any, Any]


class Predictive(ABC):
    """The distribution of a new observation at each of n rows.

    One interface for all kinds: error bars of a regression, mixtures over the draws of a posterior, probabilities of
    classes. ``predictive[rows]`` are the distributions of some of the rows, ``len(predictive)`` is their number.
    """

    @property
    @abstractmethod
    def mean(self) -> Array:
        """Means (n,) or (n, m); of classes their probabilities (n, classes)."""

    @property
    @abstractmethod
    def std(self) -> Array:
        """Standard deviations, in the shape of the means."""

    @abstractmethod
    def quantile(self, q: Any) -> Array:
        """Where the probability of a lower observation is q, each output by itself.

        Args:
            q: a number in (0, 1), or a sequence of them.

        Returns:
            Shape (n,) or (n, m); behind one more dimension if q is a sequence.
        """

    @abstractmethod
    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """The ends of the central interval that holds a new observation with probability ``level``.

        Shapes (n,) or (n, m).
        """

    @abstractmethod
    def logpdf(self, y: Any) -> Array:
        """Log density at y, each output by itself; of classes the log probability of label y.

        Args:
            y: one value for all rows, or shape (n,) or (n, m), behind any further dimensions.
        """

    @abstractmethod
    def cdf(self, y: Any) -> Array:
        """Probability that an observation is at most y, each output by itself; y as in `logpdf`."""

    @abstractmethod
    def sample(self, n: int = 1, random_state: int | np.random.Generator | None = None) -> Array:
        """New observations: n for each row, independent of each other. Shape (n, rows) or (n, rows, m)."""

    @abstractmethod
    def crps(self, y: Any) -> Array:
        """Continuous ranked probability score, in units of the target; the less the better. y as in `logpdf`."""

    @abstractmethod
    def log_likelihood(self, y: Any) -> Array:
        """Log density of all outputs of a row together, given y in the shape of the target. Shape (n,)."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def rows(self, index: Tensor) -> Self:
        """The distributions of the rows with these numbers (k,)."""

    @abstractmethod
    def __repr__(self) -> str: ...

    def pdf(self, y: Any) -> Array:
        """Density at y, each output by itself; of classes the probability of label y. y as in `logpdf`."""
        return np.exp(self.logpdf(y))

    def __getitem__(self, rows: Any) -> Self:
        """The distributions of some rows: a row number, a slice, a mask or an array of row numbers."""
        if not isinstance(rows, int | slice):
            rows = np.asarray(rows)
            rows = rows.astype(int) if not rows.size else rows
        index = np.atleast_1d(np.arange(len(self))[rows])
        if index.ndim > 1:
            raise IndexError(f"rows must have one dimension; got shape {index.shape}.")
        return self.rows(torch.from_numpy(index))

    def plot(self, row: int = 0, ax: Any = None) -> Any:
        """Draw the distribution of one row, with matplotlib.

        Args:
            row: counted from 0.
            ax: axes to draw on; new ones by default.

        Returns:
            The axes.
        """
        return import_module("polyladder.report.distribution").plot_distribution(self, row, ax)

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        return str(import_module("polyladder.report.distribution").distribution_html(self))


def check_level(level: float, name: str = "level") -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"{name} must be between 0 and 1; got {level!r}.")


def check_count(n: int) -> None:
    """Refuse a number of draws below one."""
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n!r}.")


def seed_of(random_state: int | np.random.Generator | None) -> int:
    """A seed: the number itself, or one from a generator."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(np.random.default_rng(random_state).integers(2**62))
