"""What is predicted: numbers, standardized and guarded, or classes, coded. Learned from a training target, once."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import rescale_outputs
from polyladder.tables.table import is_frame
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED

Array = np.ndarray[Any, Any]

GUARD = 0.1
"""How far beyond the range of the training targets a guarded prediction may go, as a fraction of that range."""

LARGEST = 1e150
"""Targets beyond this are refused: their squares overflow."""


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """One or several columns of numbers. All tensors are float64 of shape (m,).

    Attributes:
        mean: what is taken off before fitting.
        scale: what is divided by before fitting; 1 for a column that never changes.
        low: smallest training target.
        high: largest training target.
        flat: whether the target was given as (n,), so that predictions are.
        margin: how far beyond the range of the training targets a guarded prediction may go, relative to that range.
        loss: what models are fitted by; in files of earlier versions always the squared error.
    """

    mean: Tensor
    scale: Tensor
    low: Tensor
    high: Tensor
    flat: bool
    margin: float = GUARD
    loss: Loss = SQUARED

    @classmethod
    def learn(cls, values: Array, weight: Tensor | None, loss: Loss = SQUARED) -> Self:
        """The scales and ranges of a checked target (n,) or (n, m); rows of weight zero do not count."""
        y = torch.tensor(values.reshape(len(values), -1))
        used = y if weight is None else y[weight > 0]
        share = torch.full((len(y),), 1 / len(y), dtype=y.dtype) if weight is None else weight / weight.sum()
        low, high = used.amin(0), used.amax(0)
        mean, scale = loss.standards(y, share)
        tiny = (scale < 1 / LARGEST) & (high > low)
        if bool(tiny.any()):
            spread = (high - low)[tiny][0].item()
            raise ValueError(f"y must vary by more than {1 / LARGEST:g}; got {spread:g}. Multiply it by a constant.")
        scale = torch.where(scale > 0, scale, torch.ones_like(scale))
        return cls(mean, scale, low, high, values.ndim == 1, loss=loss)

    @property
    def outputs(self) -> int:
        """How many outputs a model needs."""
        return len(self.mean)

    @property
    def guard_range(self) -> tuple[Tensor, Tensor]:
        """The range that guarded predictions are held to. Shapes (m,)."""
        margin = self.margin * (self.high - self.low)
        return self.low - margin, self.high + margin

    def guarded(self, outputs: Tensor) -> Tensor:
        """Standardized outputs (..., m), held to the range of guarded predictions."""
        low, high = self.guard_range
        return outputs.clamp((low - self.mean) / self.scale, (high - self.mean) / self.scale)

    def encode(self, values: Array) -> Tensor:
        """The target as models are fitted to it. Shape (n, m), float64."""
        y = torch.tensor(values.reshape(len(values), -1))
        if y.shape[1] != self.outputs:
            raise ValueError(f"y must have {self.outputs} column(s), as before; got {y.shape[1]}.")
        return (y - self.mean) / self.scale

    def settled(self, loss: Loss, coded: Tensor, weight: Tensor | None) -> Self:
        """The same target with a loss that has learned from it: the best constant of that one is coded as zero.

        Args:
            loss: settled.
            coded: targets as `encode` gives them. Shape (n, m).
            weight: of the rows. Shape (n,).
        """
        return replace(self, mean=self.mean + loss.constant(coded, weight) * self.scale, loss=loss)

    def widened(self, values: Array, weight: Tensor | None) -> Self:
        """The same scales, with a range that holds these targets as well."""
        y = torch.tensor(values.reshape(len(values), -1))
        used = y if weight is None else y[weight > 0]
        return replace(self, low=self.low.minimum(used.amin(0)), high=self.high.maximum(used.amax(0)))

    def in_units(self, ladder: LadderPolynomial) -> LadderPolynomial:
        """A ladder of standardized outputs as one of outputs in the target's own units."""
        return rescale_outputs(ladder, self.scale, self.mean)

    def in_own_units(self, outputs: Tensor) -> Tensor:
        """Standardized outputs (..., m) in the target's own units."""
        return outputs * self.scale + self.mean


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Classes, by their place among the sorted labels.

    Attributes:
        labels: all classes, sorted. Shape (classes,).
    """

    labels: Array

    @classmethod
    def learn(cls, values: Array, name: str) -> Self:
        """The classes among checked labels; ``name`` is the estimator's, for the message."""
        labels = np.unique(values)
        if len(labels) < 2:
            raise ValueError(
                f"{name} needs samples of at least 2 classes; the data contains only one class: {labels.tolist()[0]!r}."
            )
        return cls(labels)

    @property
    def outputs(self) -> int:
        """How many outputs a model needs: log-odds of the second of two classes, or one score per class."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    @property
    def loss(self) -> Loss:
        """What models are fitted by."""
        return Logistic() if self.outputs == 1 else Softmax()

    def encode(self, values: Array) -> Tensor:
        """Class numbers. Shape (n,), int64."""
        unknown = sorted(set(values.tolist()) - set(self.labels.tolist()))
        if unknown:
            raise ValueError(f"y contains previously unseen labels: {unknown[:5]}.")
        return torch.from_numpy(np.searchsorted(self.labels, values))

    def widened(self, values: Array, weight: Tensor | None) -> Self:
        """The same classes: new rows cannot add one."""
        return self

    def in_units(self, ladder: LadderPolynomial) -> LadderPolynomial:
        """Scores have no units: the ladder as it is."""
        return ladder

    def in_own_units(self, outputs: Tensor) -> Tensor:
        """Scores as they are."""
        return outputs

    def guarded(self, outputs: Tensor) -> Tensor:
        """Scores as they are."""
        return outputs


Target = NumberTarget | ClassTarget


def read_numbers(estimator: BaseEstimator, y: Any) -> Array:
    """Check a target of numbers on behalf of an estimator. Shape (n,) or (n, m), float64."""
    refuse_dates(y)
    refuse_masked("y", y)
    refuse_text(estimator, y)
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
    if values.ndim > 2:
        raise ValueError(f"y must have shape (n,) or (n, m); got shape {values.shape}.")
    if values.size and np.abs(values).max() > LARGEST:
        at = np.unravel_index(np.abs(values).argmax(), values.shape)
        raise ValueError(f"y must lie within {LARGEST:g} of zero; got {values[at]:g}. Divide it by a constant.")
    return np.asarray(values)


def names_of(y: Any) -> tuple[str, ...]:
    """What a target's columns are called, in a frame or a series; nothing where they have no names."""
    if is_frame(y):
        names = list(y.columns)
    else:
        try:
            names = [y.name]
        except AttributeError:
            return ()
    return tuple(names) if all(isinstance(name, str) and name for name in names) else ()


def refuse_masked(name: str, values: Any) -> None:
    """Refuse masked entries: what lies under a mask is no value."""
    if isinstance(values, np.ma.MaskedArray) and (count := int(np.ma.getmaskarray(values).sum())):
        raise ValueError(f"{name} must have a value in every row; got {count:,} masked. Leave these rows out.")


def refuse_dates(y: Any) -> None:
    """Refuse dates and spans of time, which NumPy would count in whatever unit they are stored in."""
    values = np.asarray(y)
    first = next((v for v in values.ravel()[:100].tolist() if v is not None), None)
    if values.dtype.kind in "mM" or isinstance(first, datetime.date | datetime.timedelta):
        raise ValueError(
            f"y must hold numbers or classes; got dates ({values.dtype}). Turn them into numbers first, such as days."
        )


def refuse_text(estimator: BaseEstimator, y: Any) -> None:
    """Say that texts are classes, which another estimator predicts."""
    values = np.asarray(y)
    if values.dtype.kind in "OUS" and any(isinstance(v, str) for v in values.ravel()[:100].tolist()):
        try:
            values.astype(np.float64)
        except ValueError as error:
            name = type(estimator).__name__
            text = next(v for v in values.ravel().tolist() if isinstance(v, str))
            raise ValueError(
                f"y must hold numbers for {name}; got {text!r}. Use {name.replace('Regressor', 'Classifier')} "
                "for classes."
            ) from error


def read_labels(y: Any) -> Array:
    """Check a target of classes. Shape (n,)."""
    refuse_dates(y)
    refuse_masked("y", y)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    return np.asarray(labels)
