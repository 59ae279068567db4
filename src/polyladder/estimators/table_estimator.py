"""What every estimator here shares: tables read into rows, predictions from outputs, saving."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_is_fitted
from torch import Tensor

from polyladder.estimators.fitted_model import guard_of, knowing_codes, span_of, table_model
from polyladder.estimators.parameters import check_choice, refuse
from polyladder.estimators.rows import TrainingRows, settle_weights
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
from polyladder.fitted.answers import Answer, Classes, Numbers
from polyladder.fitted.answers.answer import Numeric
from polyladder.fitted.answers.classes import Labelled
from polyladder.fitted.features import KINDS, Features, read_rows
from polyladder.fitted.model import FittedModel
from polyladder.fitted.spread import Spread
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import as_rows
from polyladder.polynomial.substitute import substitute
from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.conformal import Thresholds
from polyladder.tables.landmarks import Landmarks, landmarks_of
from polyladder.tables.sparse_features import SparseFeatures, SparseTable, is_sparse_table, read_sparse
from polyladder.tables.table import Table, is_frame
from polyladder.training.threads import FEW_ROWS, torch_limited

if TYPE_CHECKING:
    from polyladder.explain.explanation import Explanation
    from polyladder.report.inline import InlineReport

MODELS: WeakKeyDictionary[TableEstimator, Described] = WeakKeyDictionary()
"""What was last fitted by each estimator that is still in use: making it takes longer than a prediction."""


@dataclass(frozen=True, eq=False)
class Described:
    """A fitted model, and all that it was made of: another part makes another model."""

    parts: tuple[Any, ...]
    model: FittedModel


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

    rows: TrainingRows
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

    spread_: Spread | None = None
    """How far new observations lie from predictions; None where no rows were left out to learn it from."""

    thresholds_: Thresholds | None = None
    """How large sets of classes must be to hold the label; None where no rows were left out to learn it from."""

    features_: Any = None
    """The transformer in front of the model; None before a fit."""

    target_: Any = None
    """How targets are coded; None before a fit."""

    target_names_: tuple[str, ...] = ()
    """What the columns of the training target were called, if they had names."""

    @property
    def is_fitted(self) -> bool:
        """Whether there is something to predict by."""
        return self.features_ is not None

    @property
    def names_in(self) -> Array | None:
        """``feature_names_in_``, which scikit-learn wants to be absent where the columns have no names."""
        try:
            return self.feature_names_in_
        except AttributeError:
            return None

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
            # A table that was read cell by cell in training is read so again.
            return self.model_.read(X)
        table: Table = self.features_.check_dates(read_rows(self, X, categorical=self.features_.categorical_))
        return table

    def explain(self, X: Any = None, **options: Any) -> Explanation:
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
        from polyladder.explain.explanation import explain

        return explain(self, X, **options)

    @property
    def feature_importances_(self) -> Array:
        """How much each column moves the prediction, as a share of all: what `SelectFromModel` and others ask for.

        The strengths of `explain` divided by their sum: over training rows where a card holds them, otherwise over
        points in the middle of the training ranges. Shape (n_features_in_,).
        """
        from polyladder.explain.strengths import importances

        name = type(self).__name__
        if not self.is_fitted:
            raise AttributeError(f"This {name} has no attribute 'feature_importances_' before it is fitted.")
        try:
            return importances(self)
        except (TypeError, ValueError) as error:
            raise AttributeError(f"This {name} has no attribute 'feature_importances_'. {error}") from error

    def report(self, X: Any = None, y: Any = None) -> InlineReport:
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
        from polyladder.report.inline import inline_report

        return inline_report(self, X, y)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in found:
            found["text/html"] += self._picture()
        return found

    def _picture(self) -> str:
        """How it was chosen and its curves, once it is fitted."""
        if not self.is_fitted:
            return ""
        from polyladder.report.estimator_picture import estimator_html

        return estimator_html(self)

    @property
    def model_(self) -> FittedModel:
        """What was fitted, as one value that explanations, certificates, exports and pages read."""
        check_is_fitted(self)
        if not isinstance(self.features_, Features):
            raise ValueError(
                "The model must have been fitted to a dense table; got one of sparse rows. "
                "Fit it to the columns that matter, as a dense table."
            )
        parts = (
            self.features_,
            self.target_,
            self._learned(),
            self.card_,
            self.landmarks_,
            self.spread_,
            self.thresholds_,
        )
        known = MODELS.get(self)
        if known is None or any(a is not b for a, b in zip(known.parts, parts, strict=True)):
            known = MODELS[self] = Described(parts, self._model())
        return known.model

    def _learned(self) -> object:
        """What holds the weights: as long as it is the same, so is the model."""
        return self._ladders()

    def _ladders(self) -> LadderPolynomial:
        """The ladders whose mean or median it predicts, in units of its target. Batch shape (members,)."""
        raise TypeError(
            f"model must be a ladder or a fitted estimator with one behind it; got {type(self).__name__}. "
            "Use LPNNRegressor or LPNNClassifier."
        )

    def _answer(self) -> Answer:
        """What becomes of the outputs of the ladders."""
        raise NotImplementedError

    def _model(self) -> FittedModel:
        card = self.card_ or {}
        columns, steps = table_model(self.features_, card.get("columns") or ())
        names = self.target_names_
        return FittedModel(
            columns,
            steps,
            self._ladders().to("cpu", torch.float64).map(Tensor.detach),
            knowing_codes(self._answer(), columns),
            {**self._facts(), **card},
            target=str(card.get("target", names[0] if len(names) == 1 else "prediction")),
            outputs=names,
            kind=type(self).__name__,
            mean=self.features_.mean_,
            landmarks=self.landmarks_,
            named=self.names_in is not None,
        )

    def _facts(self) -> dict[str, Any]:
        """What is known of the fit beyond its model, for cards."""
        return {"settings": {name: str(value) for name, value in self.get_params(deep=False).items()}}

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
        check_choice(self, "missing", ("error", "impute"))
        if not isinstance(self.features, Features):
            check_choice(self, "features", self._feature_kinds())
        elif (self.features.clip, self.features.missing) != (self.clip, self.missing):
            refuse(self, "features", f"features with its own clip={self.clip!r} and missing={self.missing!r}")

    def _feature_kinds(self) -> tuple[str, ...]:
        """What ``features`` may be called."""
        return KINDS

    @property
    def unfitted_features(self) -> Features:
        """New features as the parameter has them, or of the kind that it names, where none are compared."""
        if isinstance(self.features, Features):
            return clone(self.features)
        return Features("standard" if self.features == "auto" else self.features, self.clip, self.missing)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Check and read training data; learn the features and how targets are coded."""
        table, values, weight = self._read_training(X, y, sample_weight)
        features: Any = self.unfitted_features if isinstance(table, Table) else SparseFeatures(self.clip)
        features.fit_table(table, None if weight is None else weight.numpy())
        target = self._learn_target(values, weight)
        rows = coded_rows(features, target, table, values, weight)
        return Prepared(rows, features, target, self.n_features_in_, self.names_in, table)

    def _prepare_more(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """The same for further rows of a table that was learned from before."""
        table, values, weight = self._read_training(X, y, sample_weight, again=True)
        target = self.target_.widened(values, weight)
        rows = coded_rows(self.features_, target, table, values, weight)
        return Prepared(rows, self.features_, target, self.n_features_in_, self.names_in, table)

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, again: bool = False
    ) -> tuple[Table | SparseTable, Array, Tensor | None]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if again:
            table = self.read_table(X)
        elif not is_sparse_table(X):
            table = read_rows(self, X, categorical=None)
        elif isinstance(self.features, Features):
            raise ValueError("X must be dense for Features; got a sparse matrix. Leave features as it is by default.")
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
        self.features_, self.target_, self.n_features_in_ = prepared.features, prepared.target, prepared.columns
        if prepared.names is not None:
            self.feature_names_in_ = prepared.names

    @property
    def kind_of_target(self) -> type[NumberTarget | ClassTarget]:
        """The class of targets that it predicts."""
        return ClassTarget if is_classifier(self) else NumberTarget

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
        with torch_limited(1 if table.numbers.shape[0] <= FEW_ROWS else None):
            return self._evaluate(as_rows(self.features_.transform_table(table)))

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


class Laddered(TableEstimator):
    """An estimator that predicts the mean of ladders: of dense rows, through its `FittedModel`."""

    def table_outputs(self, table: Table | SparseTable) -> Tensor:
        """Outputs of the model at rows that were read. Shape (n, m)."""
        if isinstance(table, SparseTable):
            return super().table_outputs(table)
        model = self.model_
        model.plan.warn_of(table)
        return model.table_outputs(table)[0]


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
) -> TrainingRows:
    """The rows of a table, transformed, with their coded targets."""
    z = as_rows(features.transform_table(table))
    return TrainingRows(z, target.encode(values), weight, target.outputs, target.loss)


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
        outputs = self._outputs(X)  # which asks first whether anything was fitted
        return self._answer().predict(outputs.unsqueeze(0))

    def _answer(self) -> Numeric:
        target = self.target_
        return Numbers(guard_of(target, bool(self.guard)), target.flat, span_of(target), self.spread_)

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
        if self.target_ is None:
            raise AttributeError(f"This {type(self).__name__} has no attribute 'classes_' before it is fitted.")
        labels: Array = self.target_.labels
        return labels

    def decision_function(self, X: Any) -> Array:
        """Outputs before the link: log-odds of the second class (n,), or one score per class (n, classes)."""
        scores = self._outputs(X).numpy()
        return scores[:, 0] if self.target_.outputs == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class. Shape (n, classes)."""
        outputs = self._outputs(X)  # which asks first whether anything was fitted
        return self._answer().probabilities(outputs.unsqueeze(0)).numpy()

    def predict_distribution(self, X: Any) -> ClassPredictive:
        """The distribution of each row's class: probabilities, sets of classes, scores, draws.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ClassPredictive
        """
        p = self.predict_proba(X)  # which asks first whether anything was fitted
        return ClassPredictive(torch.from_numpy(p), self.classes_, self.thresholds_)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row. Shape (n,)."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _answer(self) -> Labelled:
        return Classes(tuple(self.target_.labels.tolist()), "softmax", self.thresholds_)

    def _read_target(self, y: Any) -> Array:
        return read_labels(y)

    def _learn_target(self, values: Array, weight: Tensor | None) -> ClassTarget:
        return ClassTarget.learn(values, type(self).__name__)
