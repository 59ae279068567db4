"""What every estimator here shares: tables read into rows, predictions from outputs, saving."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_is_fitted
from torch import Tensor

from polyladder.estimators.parameters import check_choice
from polyladder.estimators.rows import Rows, settle_weights
from polyladder.estimators.targets import (
    Array,
    ClassTarget,
    NumberTarget,
    Target,
    names_of,
    read_labels,
    read_numbers,
    refuse_masked,
)
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.sparse import as_rows, is_sparse, row_parts
from polyladder.polynomial.substitute import substitute
from polyladder.tables.features import KINDS, Features, read_rows
from polyladder.tables.landmarks import Landmarks, landmarks_of
from polyladder.tables.sparse_features import SparseFeatures, SparseTable, is_sparse_table, read_sparse
from polyladder.tables.table import Table, is_frame
from polyladder.training.threads import FEW_ROWS, torch_limited

MEMBERS = 16
"""Ladders of a batch that are evaluated side by side."""

PREDICT_NUMBERS = 2**23
"""Numbers of hidden states held at once while predicting: 64 MiB in float64."""

RAMP_NUMBERS = 2**20
"""Numbers of rows with their ramps predicted at a time: 8 MiB, to stay in the last cache until they are used."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A training table, read once. Estimators that treat their table alike can share it.

    Attributes:
        rows: what models are fitted to.
        features: the transformer that made them.
        target: how targets are coded.
        columns: how many columns the table has.
        names: of the columns, where it has names.
        table: the rows as they were read.
    """

    rows: Rows
    features: Features | SparseFeatures
    target: Target
    columns: int
    names: Array | None
    table: Table | SparseTable


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """Reads tables into rows, leaves the fitting to its subclasses and predicts from what they found.

    A subclass stores its parameters in ``__init__`` (``features``, ``clip`` and ``missing`` among them), learns
    ``features_``, ``target_`` and a model, and gives the model's outputs for transformed rows in ``_evaluate``.
    """

    card_: Any = None
    """The model card, where there is one."""

    landmarks_: Landmarks | None = None
    """A few training rows that searches start from; none of sparse rows, of posteriors and in files of 0.1."""

    def read_table(self, X: Any) -> Table | SparseTable:
        """Check rows against those of `fit` and take them apart; a model of sparse rows takes dense ones as sparse.

        Rows that were read already are taken as they are.
        """
        check_is_fitted(self)
        if isinstance(X, Table | SparseTable):
            return X
        sparse = isinstance(self.features_, SparseFeatures)
        if is_sparse_table(X) and not sparse:
            raise ValueError("X must be dense, as it was in fit; got a sparse matrix. Fit to sparse rows instead.")
        if sparse:
            return read_sparse(self, X, reset=False)
        if is_frame(X) and any("written" in column for column in (self.card_ or {}).get("columns", ())):
            # A table that was read cell by cell in training is read so again; what does that stands above estimators.
            X = import_module("polyladder.automatic.model_rows").frame_rows(X, self)
        table: Table = self.features_.check_dates(read_rows(self, X, categorical=self.features_.categorical_))
        return table

    def explain(self, X: Any = None, **options: Any) -> Any:
        """What the model does, and what each column contributed to its predictions of rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), default=None
            Rows to explain.
        **options
            ``feature``, ``terms``, ``output`` and ``baseline``, as `polyladder.explain.explanation.explain` has them.

        Returns
        -------
        Explanation
            With ``contributions``, ``curves``, ``terms``, ``strengths`` and ``plot()``.
        """
        # Explanations stand above estimators.
        return import_module("polyladder.explain.explanation").explain(self, X, **options)

    @property
    def feature_importances_(self) -> Array:
        """How much each column moves the prediction, as a share of all: what `SelectFromModel` and others ask for.

        The strengths of `explain` divided by their sum: over training rows where a card holds them, otherwise over
        points in the middle of the training ranges. Shape (n_features_in_,).
        """
        name = type(self).__name__
        if "features_" not in vars(self):
            raise AttributeError(f"This {name} has no attribute 'feature_importances_' before it is fitted.")
        try:
            found: Array = import_module("polyladder.explain.strengths").importances(self)
        except (TypeError, ValueError) as error:
            raise AttributeError(f"This {name} has no attribute 'feature_importances_'. {error}") from error
        return found

    def report(self, X: Any = None, y: Any = None) -> Any:
        """The page of the model, shown inline in a notebook; `polyladder.write_report` writes it to a file.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), default=None
            Rows to show as examples.
        y : array-like of shape (n,), default=None
            Their targets.

        Returns
        -------
        InlineReport
        """
        return import_module("polyladder.report.inline").inline_report(self, X, y)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] += self._picture()
        return found

    def _picture(self) -> str:
        """How it was chosen and its curves, once it is fitted."""
        if "features_" not in vars(self):
            return ""
        return str(import_module("polyladder.report.estimator_picture").estimator_html(self))

    def inputs(self, X: Any) -> Tensor:
        """The rows that the polynomial reads: encoded, scaled and held inside the training range.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)

        Returns
        -------
        Tensor of shape (n, transformed features), float64, dense or CSR
        """
        table = self.read_table(X)  # which asks first whether anything was fitted
        return as_rows(self.features_.transform_table(table))

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

    def _check_parameters(self) -> None:
        check_choice(self, "features", self._feature_kinds())
        check_choice(self, "missing", ("error", "impute"))

    def _feature_kinds(self) -> tuple[str, ...]:
        """What ``features`` may be."""
        return KINDS

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check and read training data; learn the features and how targets are coded."""
        table, values, weight = self._read_training(X, y, sample_weight)
        features: Any = SparseFeatures(self.clip)
        if isinstance(table, Table):
            features = Features("standard" if self.features == "auto" else self.features, self.clip, self.missing)
        features.fit_table(table, None if weight is None else weight.numpy())
        target = self._learn_target(values, weight)
        rows = coded_rows(features, target, table, values, weight)
        return Prepared(rows, features, target, self.n_features_in_, vars(self).get("feature_names_in_"), table)

    def _prepare_more(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """The same for further rows of a table that was learned from before."""
        table, values, weight = self._read_training(X, y, sample_weight, again=True)
        target = self.target_.widened(values, weight)
        rows = coded_rows(self.features_, target, table, values, weight)
        return Prepared(rows, self.features_, target, self.n_features_in_, vars(self).get("feature_names_in_"), table)

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, again: bool = False
    ) -> tuple[Table | SparseTable, Array, Tensor | None]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if again:
            table = self.read_table(X)
        elif not is_sparse_table(X):
            table = read_rows(self, X, categorical=None)
        elif self._takes_sparse():
            table = read_sparse(self, X, reset=True)
        else:
            raise ValueError("X must be dense for exact solves; got a sparse matrix. Use solver='adam'.")
        values = self._read_target(y)
        names = names_of(y)
        if names and not again:
            self.target_names_ = names
        check_consistent_length(table.numbers, values)
        if sample_weight is None:
            return table, values, None
        refuse_masked("sample_weight", sample_weight)
        weight = _check_sample_weight(sample_weight, table.numbers, dtype=np.float64, ensure_non_negative=True)
        return table, values, settle_weights(weight)

    def _adopt(self, prepared: Prepared) -> None:
        """Take over what was learned from the table."""
        self._take(prepared.features, prepared.target, prepared.columns, prepared.names)

    def _take(self, features: Features | SparseFeatures, target: Target, columns: int, names: Array | None) -> None:
        """Take over features, targets and columns."""
        self.features_: Any = features
        self.target_: Any = target
        self.n_features_in_ = columns
        if names is not None:
            self.feature_names_in_ = names

    @property
    def kind_of_target(self) -> type[NumberTarget | ClassTarget]:
        """The class of targets that it predicts."""
        return ClassTarget if is_classifier(self) else NumberTarget

    @property
    def part_features(self) -> str:
        """The features of rows in parts, where none are compared."""
        return str(self.features)

    def _takes_sparse(self) -> bool:
        """Whether the estimator, with its parameters, can be fitted to sparse rows."""
        return False

    def _read_target(self, y: Any) -> Array:
        raise NotImplementedError

    def _learn_target(self, values: Array, weight: Tensor | None) -> Target:
        raise NotImplementedError

    def _evaluate(self, z: Tensor) -> Tensor:
        """Outputs of the model, in the target's units. Shape (n, m)."""
        return evaluate(self.polynomial_, z)

    def _outputs(self, X: Any) -> Tensor:
        """Outputs of the model, refused where they are no numbers. Shape (n, m)."""
        return finite(self.table_outputs(self.read_table(X)))

    def table_outputs(self, table: Table | SparseTable) -> Tensor:
        """Outputs of the model at rows that were read. Shape (n, m)."""
        features = self.features_
        with torch_limited(1 if table.numbers.shape[0] <= FEW_ROWS else None):
            if isinstance(table, SparseTable) or features.ramps_ is None:
                return self._evaluate(as_rows(features.transform_table(table)))
            plain = features.plain_table(table)
            size = max(1, RAMP_NUMBERS // len(features.feature_names_out_))
            parts = (plain[start : start + size] for start in range(0, len(plain), size))
            return torch.cat([self._evaluate(as_rows(features.with_ramps(part))) for part in parts])

    def _mark(self, table: Table | SparseTable, weight: Tensor | None) -> None:
        """Keep some of the rows that were fitted, and of those that were marked before."""
        if isinstance(table, Table):
            used = table if weight is None else table.take(np.flatnonzero(weight.numpy() > 0))
            self.landmarks_ = landmarks_of(used, lambda rows: self.table_outputs(rows).numpy(), self.landmarks_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.sparse = self._takes_sparse()
        return tags


def finite(outputs: Tensor) -> Tensor:
    """The outputs (n, m) themselves, refused where they are no numbers."""
    wrong = ~outputs.isfinite().all(-1)
    if bool(wrong.any()):
        raise ValueError(
            f"Row {int(wrong.nonzero()[0]) + 1} of X must lie nearer to the training range; its prediction is no "
            "finite number. Use clip=True."
        )
    return outputs


def coded_rows(
    features: Features | SparseFeatures, target: Target, table: Any, values: Array, weight: Tensor | None
) -> Rows:
    """The rows of a table, transformed, with their coded targets."""
    z = as_rows(features.transform_table(table))
    return Rows(z, target.encode(values), weight, target.outputs, target.loss)


class NumberPrediction(RegressorMixin):  # type: ignore[misc]
    """Targets are numbers, one or several columns. For a `TableEstimator` with the parameter ``guard``."""

    def predict(self, X: Any) -> Array:
        """Predict the target.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, m)
        """
        y = self._outputs(X)
        return self.target_.shaped(y.clamp(*self.target_.guard_range) if self.guard else y)

    def _read_target(self, y: Any) -> Array:
        return read_numbers(self, y)

    def _learn_target(self, values: Array, weight: Tensor | None) -> NumberTarget:
        return NumberTarget.learn(values, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class ClassPrediction(ClassifierMixin):  # type: ignore[misc]
    """Targets are classes: two, with one output, or several, with one output each. For a `TableEstimator`."""

    @property
    def classes_(self) -> Array:
        """The class labels, sorted."""
        if "target_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} has no attribute 'classes_' before it is fitted.")
        labels: Array = self.target_.labels
        return labels

    def decision_function(self, X: Any) -> Array:
        """Outputs before the link: log-odds of the second class (n,), or one score per class (n, classes)."""
        scores = self._outputs(X).numpy()
        return scores[:, 0] if self.target_.outputs == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class. Shape (n, classes)."""
        return self._probabilities(self._outputs(X)).numpy()

    def predict(self, X: Any) -> Array:
        """The most probable class of each row. Shape (n,)."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _probabilities(self, scores: Tensor) -> Tensor:
        if scores.shape[1] == 1:
            scores = torch.cat([torch.zeros_like(scores), scores], 1)
        return scores.softmax(1)

    def _read_target(self, y: Any) -> Array:
        return read_labels(y)

    def _learn_target(self, values: Array, weight: Tensor | None) -> ClassTarget:
        return ClassTarget.learn(values, type(self).__name__)


def evaluate(model: Callable[[Tensor], Tensor], z: Tensor, numbers: int | None = None) -> Tensor:
    """A model at many rows, a chunk at a time. Shape (*batch_shape, n, m).

    Args:
        model: a ladder, or anything else if ``numbers`` is given.
        z: dense or CSR. Shape (n, d).
        numbers: that the model holds for each row; those of a ladder's states by default.
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
    # Many members take turns, so that those of one turn stay in the cache with their rows.
    turns = [Layout.of(flat[i : i + MEMBERS]).members(z) for i in range(0, len(flat), MEMBERS)]
    outputs = torch.cat(turns)
    return outputs.reshape(*shape, *outputs.shape[1:])
