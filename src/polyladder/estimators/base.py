"""What every estimator here shares: reading tables, features, targets, guarded prediction."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted
from torch import Tensor

from polyladder.data.features import Features, read_rows
from polyladder.data.sparse_features import SparseFeatures, SparseTable, is_sparse_table, read_sparse
from polyladder.data.table import Table
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import as_rows, row_parts
from polyladder.polynomial.substitute import rescale_outputs, substitute

GUARD = 0.1
"""How far beyond the range of the training targets a guarded prediction may go, as a fraction of that range."""

PREDICT_NUMBERS = 2**23
"""Numbers of hidden states held at once while predicting: 64 MiB in float64."""

REPETITIONS = 10
"""Whole sample weights up to this mean say how often a row is there."""


@dataclass(frozen=True)
class Rows:
    """Training rows, ready for a solver.

    Attributes:
        z: transformed features, dense or CSR. Shape (n, d), float64.
        y: targets: standardized (n, m) float64 for regression, class numbers (n,) int64 for classification.
        weight: sample weights (n,), or None.
        outputs: how many outputs the model needs.
    """

    z: Tensor
    y: Tensor
    weight: Tensor | None
    outputs: int

    @property
    def repeated(self) -> bool:
        """Whether the weights are whole numbers: then they say how often a row is there."""
        return self.weight is not None and bool((self.weight == self.weight.round()).all())

    @property
    def count(self) -> int:
        """How many rows there are to train on, repetitions counted."""
        if self.weight is None:
            return len(self.z)
        return int(self.weight.sum() if self.repeated else (self.weight > 0).sum())


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """Reads tables into rows, leaves the fitting to its subclasses and predicts from what they found.

    A subclass stores its parameters in ``__init__`` (``features``, ``clip`` and ``missing`` among them) and fits rows
    in ``_fit_rows``, which sets ``polynomial_`` over the transformed features, in standardized target units.
    """

    def _prepare(self, X: Any, y: Any, sample_weight: Any, fresh: bool = True) -> Rows:
        """Check and read training data; learn the features and the target's scale unless they are kept."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        table = self._read_table(X, fresh)
        target = self._read_target(y, fresh)
        check_consistent_length(table.numbers, target)
        weight = None
        if sample_weight is not None:
            weight = settle_weights(
                _check_sample_weight(sample_weight, table.numbers, dtype=np.float64, ensure_non_negative=True)
            )
        if fresh:
            self.features_ = self._new_features(table)
            self.features_.fit_table(table, None if weight is None else weight.numpy())
        z = as_rows(self.features_.transform_table(table))
        return self._rows(z, target, weight, fresh)

    def _read_table(self, X: Any, fresh: bool) -> Table | SparseTable:
        """Check rows and read them; a model of sparse rows takes dense ones as sparse."""
        sparse = is_sparse_table(X)
        if fresh and sparse and not self._takes_sparse():
            raise ValueError("X must be dense for exact solves; got a sparse matrix. Use solver='adam'.")
        if not fresh:
            if sparse and not isinstance(self.features_, SparseFeatures):
                raise ValueError("X must be dense, as it was in fit; got a sparse matrix. Fit to sparse rows instead.")
            sparse = isinstance(self.features_, SparseFeatures)
        return read_sparse(self, X, reset=fresh) if sparse else read_rows(self, X, reset=fresh)

    def _new_features(self, table: Table | SparseTable) -> Any:
        if isinstance(table, SparseTable):
            return SparseFeatures(self.clip)
        return Features(self.features, self.clip, self.missing)

    def _takes_sparse(self) -> bool:
        """Whether the estimator, with its parameters, can be fitted to sparse rows."""
        return False

    def _transformed(self, X: Any) -> Tensor:
        """The rows that the model reads. Shape (n, d), float64, dense or CSR."""
        check_is_fitted(self)
        return as_rows(self.features_.transform_table(self._read_table(X, fresh=False)))

    def _read_target(self, y: Any, fresh: bool) -> np.ndarray[Any, Any]:
        raise NotImplementedError

    def _rows(self, z: Tensor, target: np.ndarray[Any, Any], weight: Tensor | None, fresh: bool) -> Rows:
        raise NotImplementedError

    def _outputs(self, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Raw outputs of the polynomial, in chunks of rows. Shape (n, m)."""
        z = self._transformed(X)
        return evaluate(self.polynomial_, z).numpy()

    def _in_target_units(self, polynomial: LadderPolynomial) -> LadderPolynomial:
        """Undo the standardization of the targets, where there is one."""
        return polynomial

    def polynomial_in_original_units(self) -> LadderPolynomial:
        """The polynomial over the table's own columns, scaling folded in.

        It equals the model inside the training range; clipping and the guard are not polynomial and are left out.
        """
        check_is_fitted(self)
        affine = self.features_.affine()
        if affine is None:
            raise ValueError(
                "The features must be affine to fold into the polynomial; categories, missing-value indicators and "
                f"features={self.features!r} are not. Use features='standard' on numeric columns."
            )
        return substitute(self.polynomial_, *(as_rows(t) for t in affine))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator with its preprocessing to one file, which `polyladder.load` reads.

        Parameters
        ----------
        path : str or path-like
            Where to; an existing file is replaced, and never left half written.
        """
        from polyladder.estimators.store import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.sparse = self._takes_sparse()
        return tags


class TableRegressor(RegressorMixin, TableEstimator):  # type: ignore[misc]
    """Targets are numbers: one or several columns."""

    def _read_target(self, y: Any, fresh: bool) -> np.ndarray[Any, Any]:
        target = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        if target.ndim > 2:
            raise ValueError(f"y must have shape (n,) or (n, m); got shape {target.shape}.")
        return target

    def _rows(self, z: Tensor, target: np.ndarray[Any, Any], weight: Tensor | None, fresh: bool) -> Rows:
        y = torch.tensor(target.reshape(len(target), -1))
        used = y if weight is None else y[weight > 0]
        low, high = used.min(0).values, used.max(0).values
        if fresh:
            self._flat_target = target.ndim == 1
            share = torch.full((len(y),), 1 / len(y), dtype=y.dtype) if weight is None else weight / weight.sum()
            mean = share @ y
            scale = (share @ (y - mean).square()).sqrt()
            self.target_mean_, self.target_scale_ = mean, torch.where(scale > 0, scale, torch.ones_like(scale))
            self.target_low_, self.target_high_ = low, high
        elif y.shape[1] != len(self.target_mean_):
            raise ValueError(f"y must have {len(self.target_mean_)} column(s), as before; got {y.shape[1]}.")
        else:
            self.target_low_, self.target_high_ = self.target_low_.minimum(low), self.target_high_.maximum(high)
        return Rows(z, (y - self.target_mean_) / self.target_scale_, weight, y.shape[1])

    def _in_target_units(self, polynomial: LadderPolynomial) -> LadderPolynomial:
        return rescale_outputs(polynomial, self.target_scale_, self.target_mean_)

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Predict the target.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, m)
        """
        y = self._outputs(X)
        if self.guard:
            margin = GUARD * (self.target_high_ - self.target_low_)
            y = np.clip(y, (self.target_low_ - margin).numpy(), (self.target_high_ + margin).numpy())
        return y[:, 0] if self._flat_target else y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class TableClassifier(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """Targets are classes: two, with one output, or several, with one output each."""

    def _read_target(self, y: Any, fresh: bool) -> np.ndarray[Any, Any]:
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        if fresh:
            known = labels if getattr(self, "_given_classes", None) is None else self._given_classes
            self._encoder = LabelEncoder().fit(known)
            self.classes_ = self._encoder.classes_
            if len(self.classes_) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs samples of at least 2 classes; "
                    f"the data contains only one class: {self.classes_.tolist()[0]!r}."
                )
        return np.asarray(self._encoder.transform(labels))

    def _rows(self, z: Tensor, target: np.ndarray[Any, Any], weight: Tensor | None, fresh: bool) -> Rows:
        return Rows(z, torch.from_numpy(target), weight, 1 if len(self.classes_) == 2 else len(self.classes_))

    def decision_function(self, X: Any) -> np.ndarray[Any, Any]:
        """Outputs before the link: log-odds of the second class (n,), or one score a class (n, classes)."""
        scores = self._outputs(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of each class. Shape (n, classes)."""
        scores = torch.from_numpy(self._outputs(X))
        if len(self.classes_) == 2:
            scores = torch.cat([torch.zeros_like(scores), scores], 1)
        return scores.softmax(1).numpy()

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The most probable class of each row. Shape (n,)."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]


def settle_weights(weight: np.ndarray[Any, Any]) -> Tensor:
    """Sample weights as the solvers take them: whole numbers are repetitions, all others get mean 1.

    The estimate of the ridge weights counts rows. Weights that sum to 1 would make it believe in a single row, so
    where they cannot be repetitions, or would be more than `REPETITIONS` of them a row, only their ratios count.
    """
    positive = weight[weight > 0]
    if not positive.size:
        raise ValueError("sample_weight must leave some rows; every weight is zero.")
    repetitions = bool((weight == weight.round()).all()) and positive.mean() <= REPETITIONS
    return torch.tensor(weight if repetitions else weight / positive.mean())


def evaluate(polynomial: LadderPolynomial, z: Tensor) -> Tensor:
    """The polynomial at many rows, a chunk at a time. Shape (*batch_shape, n, m)."""
    numbers = max(1, sum(polynomial.hidden)) * math.prod(polynomial.batch_shape)
    return torch.cat([polynomial(part) for part in row_parts(z, max(1, PREDICT_NUMBERS // numbers))], -2)


def check_number(estimator: Any, name: str, kind: type, low: float, *names: str, open_low: bool = False) -> None:
    """Refuse a parameter that is neither a number from ``low`` on nor one of the names, in scikit-learn's words."""
    value = getattr(estimator, name)
    if isinstance(value, str) and value in names:
        return
    numeric = Integral if kind is int else Real
    good = isinstance(value, numeric) and not isinstance(value, bool)
    if not good or not (value > low if open_low else value >= low) or not math.isfinite(value):
        words = f"{'an int' if kind is int else 'a float'} in the range {'(' if open_low else '['}{low:g}, inf)"
        others = "".join(f" or {other!r}" for other in names)
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be {words}{others}. Got {value!r} instead."
        )


def check_choice(estimator: Any, name: str, choices: Iterable[str]) -> None:
    """Refuse a parameter that is not one of the given names, in scikit-learn's words."""
    value = getattr(estimator, name)
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(
            f"The {name!r} parameter of {type(estimator).__name__} must be a str among {{{listed}}}. "
            f"Got {value!r} instead."
        )


def seeds_from(random_state: Any, count: int) -> list[int]:
    """Seeds for ``count`` models from scikit-learn's ``random_state``."""
    from sklearn.utils import check_random_state

    return [int(s) for s in check_random_state(random_state).randint(0, 2**31 - 1, size=count)]
