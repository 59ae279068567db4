"""Probabilities of classes, as a `Predictive`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.conformal import Thresholds, mass_before
from polyladder.predictive.predictive import Array, Predictive, check_count, check_level, seed_of

ROUNDING = 1e-9
"""How far summed probabilities may miss a level or a threshold by rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassPredictive(Predictive):
    """The probabilities of classes at each row.

    Classes have no order: in place of intervals there are `sets`, and no quantiles.

    Attributes:
        probabilities: of each class, summing to 1. Shape (n, classes), float64.
        labels: of the classes. Shape (classes,).
        thresholds: of sets that were calibrated on rows left out.
    """

    probabilities: Tensor
    labels: Array
    thresholds: Thresholds | None = None

    def __post_init__(self) -> None:
        if self.probabilities.dim() != 2 or self.labels.shape != (self.probabilities.shape[1],):
            raise ValueError(
                "probabilities must have shape (n, classes), with one label for each class; got shape "
                f"{tuple(self.probabilities.shape)} and {len(self.labels)} labels."
            )
        wrong = ~((self.probabilities >= 0).all(1) & ((self.probabilities.sum(1) - 1).abs() < 1e-6))
        if bool(wrong.any()):
            row = int(wrong.nonzero()[0])
            raise ValueError(
                f"probabilities must be at least 0 and sum to 1; got {self.probabilities[row].tolist()} in row {row}."
            )

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        counts = torch.bincount(self.probabilities.argmax(1), minlength=len(self.labels)).tolist()
        most = ", ".join(
            f"{label} in {count:,}" for label, count in zip(self.labels.tolist()[:5], counts, strict=False)
        )
        more = ", ..." if len(self.labels) > 5 else ""
        return f"ClassPredictive({len(self):,} rows of {len(self.labels)} classes; most probable: {most}{more})"

    @property
    def mean(self) -> Array:
        """Probability of each class. Shape (n, classes)."""
        return np.asarray(self.probabilities.numpy())

    @property
    def std(self) -> Array:
        """Standard deviation of each class's indicator, sqrt(p (1 - p)). Shape (n, classes)."""
        return np.asarray((self.probabilities * (1 - self.probabilities)).sqrt().numpy())

    @property
    def mode(self) -> Array:
        """The most probable label. Shape (n,)."""
        return np.asarray(self.labels[self.probabilities.argmax(1).numpy()])

    def sets(self, level: float = 0.9) -> Array:
        """The smallest set of the most probable classes that holds the label with probability ``level``, at each row.

        A class belongs to it if those more probable have a summed probability below the level; with calibrated
        ``thresholds``, of at most the threshold. So the most probable class always belongs to it, and sets of higher
        levels hold those of lower ones.

        Returns:
            Whether each class belongs to it. Shape (n, classes), bool.
        """
        check_level(level)
        before = mass_before(self.probabilities)
        if self.thresholds is None:
            return np.asarray((before < level * (1 - ROUNDING)).numpy())
        return np.asarray((before <= self.thresholds.at(level) + ROUNDING).numpy())

    def logpdf(self, y: Any) -> Array:
        """Log probability of label y, minus infinity where it is 0.

        Args:
            y: one label for all rows, or shape (n,).
        """
        return np.asarray(self.of(self.numbers(y)).log().numpy())

    def log_likelihood(self, y: Any) -> Array:
        """Log probability of each row's label. Shape (n,)."""
        return self.logpdf(y)

    def crps(self, y: Any) -> Array:
        """Half the quadratic (Brier) score, half of sum over c of (p_c - 1[y = c])^2; the less the better. Shape (n,).

        For two classes it is the squared distance of a label's probability from 1, and, with classes 0 and 1, the CRPS
        of the number.
        """
        own = self.of(self.numbers(y))
        return np.asarray(((self.probabilities.square().sum(1) - 2 * own + 1) / 2).numpy())

    def sample(self, n: int = 1, random_state: int | np.random.Generator | None = None) -> Array:
        """New labels, independent of each other. Shape (n, rows)."""
        check_count(n)
        generator = torch.Generator().manual_seed(seed_of(random_state))
        if not len(self):
            return np.asarray(self.labels[np.zeros((n, 0), dtype=int)])
        drawn = torch.multinomial(self.probabilities, n, replacement=True, generator=generator)
        return np.asarray(self.labels[drawn.T.numpy()])

    def quantile(self, q: Any) -> NoReturn:
        """Classes have none."""
        raise unordered("quantile")

    def interval(self, level: float = 0.9) -> NoReturn:
        """Classes have none."""
        raise unordered("interval")

    def cdf(self, y: Any) -> NoReturn:
        """Classes have none."""
        raise unordered("cdf")

    def rows(self, index: Tensor) -> Self:
        """The distributions of the rows with these numbers (k,)."""
        return replace(self, probabilities=self.probabilities[index])

    def numbers(self, y: Any) -> Tensor:
        """The class number of each row's label. Shape (n,)."""
        values = np.asarray(y)
        if values.ndim == 0:
            values = np.broadcast_to(values, len(self))
        if values.shape != (len(self),):
            raise ValueError(f"y must be one label or have shape ({len(self)},); got shape {values.shape}.")
        known = {label: number for number, label in enumerate(self.labels.tolist())}
        said = values.tolist()
        unknown = sorted({str(label) for label in said if label not in known})
        if unknown:
            raise ValueError(f"y must hold labels of {self.labels.tolist()}; got {unknown[:5]}.")
        return torch.tensor([known[label] for label in said], dtype=torch.int64)

    def of(self, numbers: Tensor) -> Tensor:
        """The probability of one class (n,) for each row. Shape (n,)."""
        return self.probabilities.gather(1, numbers.unsqueeze(1))[:, 0]


def unordered(what: str) -> TypeError:
    """The error of asking classes for what takes an order."""
    return TypeError(
        f"{what} must be of numbers; classes have no order. Use sets(level), or mean, their probabilities."
    )
