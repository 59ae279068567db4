"""`FittedModel`: all that there is to know of a fitted model, whatever estimator made it.

    table -> columns -> steps -> inputs z -> ladders -> outputs -> answer

Predictions, explanations, certificates, exports, pages and files read this value, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.answers import Answer, Banded, Classes, Draws, Numbers, Probit
from polyladder.fitted.answers.answer import guard_range, held
from polyladder.fitted.answers.classes import Labelled
from polyladder.fitted.column import Column, described
from polyladder.fitted.plan import Feature, Plan, feature_names, plan_of
from polyladder.fitted.rows import read
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.few_directions import few_directions
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.names import input_names
from polyladder.polynomial.trim import trim
from polyladder.polynomial.units import MeanOfParts, parts_of
from polyladder.polynomial.widen import sharing, widen
from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.mixture import StudentMixture
from polyladder.predictive.mixture_predictive import MixturePredictive
from polyladder.predictive.predictive import Predictive
from polyladder.tables.describe import describe_columns
from polyladder.tables.landmarks import Landmarks
from polyladder.tables.table import Table
from polyladder.training.threads import FEW_ROWS, torch_limited

Array = np.ndarray[Any, Any]

CHUNK_NUMBERS = 2**20
"""Numbers of inputs worked on at a time: 8 MiB, to stay in the last cache until they are used."""

MEAN_DRAWS = 50
"""Draws of a posterior, evenly spread over all of them, whose mean ``polynomial`` is."""


@dataclass(frozen=True, eq=False, repr=False)
class FittedModel:
    """A fitted model.

    Attributes:
        columns: of its table, those that it ignores included.
        steps: for each of the d inputs of the ladders its column, and the steps that a value takes from there.
        ladders: whose mean, or whose answers together, it predicts. Batch shape (members,), float64, target's units.
        answer: what is done with their outputs.
        card: what is known of its making; empty where nothing is.
        target: what is predicted.
        outputs: names of several targets; empty where they have none.
        kind: of estimator that made it.
        mean: of the inputs over the training rows; None in files of 0.1. Shape (d,).
        landmarks: a few training rows that searches start from, where some are kept.
        named: whether its columns have names of their own, rather than places.
        polynomial: the mean of the ladders as one wide ladder, without units that nothing reads.
    """

    columns: tuple[Column, ...]
    steps: tuple[Feature, ...]
    ladders: LadderPolynomial
    answer: Answer
    card: Mapping[str, Any] = field(default_factory=dict)
    target: str = "prediction"
    outputs: tuple[str, ...] = ()
    kind: str = "LadderPolynomial"
    mean: Array | None = None
    landmarks: Landmarks | None = None
    named: bool = True

    def __repr__(self) -> str:
        return f"FittedModel({self.kind} of {self.target}: {len(self.columns)} columns, {self.ladders!r})"

    @cached_property
    def plan(self) -> Plan:
        """How the inputs are worked out."""
        return plan_of(self.steps)

    @cached_property
    def evaluate_mean(self) -> Callable[[Tensor], Tensor]:
        """The mean output of the ladders at inputs (n, d), in the way that is fastest for them. Shape (n, m)."""
        if not self.ladders.W:
            return lambda z: self.ladders(z).mean(0)
        parts = parts_of(self.ladders)
        if any(not isinstance(part, LadderPolynomial) for part in parts):
            return MeanOfParts(parts)
        few = few_directions(self.ladders[0]) if len(self.ladders) == 1 else None
        if few is not None:
            inner = Layout.of(few.inner.map(lambda t: t.unsqueeze(0)))
            return lambda z: inner.mean(z @ few.directions)
        # The members side by side: as one wide ladder their weights are mostly zeros.
        return Layout.of(self.ladders).mean

    @cached_property
    def polynomial(self) -> LadderPolynomial:
        """The mean of the ladders as one wide ladder; of a posterior's many draws, of 50 of them."""
        count = len(self.ladders)
        some = torch.linspace(0, count - 1, min(MEAN_DRAWS, count)).long() if self.answer.by_member else slice(None)
        # Ladders of several widths are padded to one; a single one stays as it was given.
        return widen(self.ladders) if count == 1 else sharing(widen(trim(each) for each in self.ladders[some]))

    @property
    def output_names(self) -> tuple[str, ...]:
        """What each output of the ladders is."""
        m = self.ladders.out_features
        names = self.outputs if len(self.outputs) == m else [f"{self.target} {i + 1}" for i in range(m)]
        named = [self.target] if m == 1 else names
        return tuple(self.answer.label(named[k] if len(named) > k else self.target, k) for k in range(m))

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the numbers are that an export gives for a row: values, or probabilities of classes.

        Standard deviations, or the ends of intervals and scales, come after all values.
        """
        if isinstance(self.answer, Numbers | Draws | Banded):
            m = len(self.answer.widths) if isinstance(self.answer, Banded) else self.ladders.out_features
            values = tuple("prediction" if m == 1 else f"prediction_{i + 1}" for i in range(m))
            kinds = {Numbers: ("",), Draws: ("", "_std"), Banded: ("", "_low", "_high", "_scale")}[type(self.answer)]
            return tuple(value + kind for kind in kinds for value in values)
        assert isinstance(self.answer, Classes | Probit)
        return tuple(f"probability_{label}" for label in self.answer.labels)

    @property
    def input_names(self) -> tuple[str, ...]:
        """What each input of the ladders is."""
        return tuple(feature_names([column.name for column in self.columns], self.steps))

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The classes that it predicts; None of numbers."""
        return self.answer.labels if isinstance(self.answer, Labelled) else None

    @property
    def guard(self) -> tuple[Tensor, Tensor] | None:
        """The range that predictions are held to, if they are. Shapes (m,)."""
        guard = self.answer.guard if isinstance(self.answer, Numbers | Draws) else None
        return None if guard is None else guard_range(guard)

    def described_by(self, rows: Any) -> FittedModel:
        """With typical values and spreads of the columns from rows, where its card says nothing of them."""
        if rows is None or self.card.get("columns"):
            return self
        notes = describe_columns(self.read(rows))
        columns = tuple(described(column, note) for column, note in zip(self.columns, notes, strict=True))
        return replace(self, columns=columns)

    def read(self, rows: Any) -> Table:
        """Rows taken apart: an array, a data frame, or rows that were taken apart before. Shape (n, columns)."""
        return read(self.columns, rows, self.named)

    def rows_like_training(self, rows: Any = None) -> Table:
        """Rows where its answers matter: those given, else the few training rows that it keeps."""
        if rows is not None:
            return self.read(rows)
        if self.landmarks is None:
            raise ValueError("rows must be given: the model keeps no training rows. Give some that it was fitted to.")
        numeric = tuple(i for i, column in enumerate(self.columns) if i not in self.landmarks.categories)
        names = tuple(column.name for column in self.columns)
        return Table(self.landmarks.numbers, self.landmarks.categories, numeric, names)

    def inputs(self, rows: Any) -> Tensor:
        """The inputs of the ladders. Shape (n, d), float64."""
        table = self.read(rows)
        self.plan.warn_of(table)
        return torch.from_numpy(np.ascontiguousarray(self.table_inputs(table)))

    def table_inputs(self, table: Table) -> Array:
        """The same of rows that were taken apart, without a word, in memory with rows last. Shape (n, d)."""
        return self.plan(table)

    def table_outputs(self, table: Table) -> Tensor:
        """Outputs of rows: of every ladder (members, n, m) if the answer asks for that, else their mean (1, n, m)."""
        found = []
        with torch_limited(1 if len(table) <= FEW_ROWS else None):
            for _, z in self.parts(table):
                found.append(evaluate(self.ladders, z) if self.answer.by_member else self.evaluate_mean(z)[None])
        return torch.cat(found, 1)

    def parts(self, table: Table) -> Iterator[tuple[Table, Tensor]]:
        """Some rows at a time, with their inputs (k, d), which stay in the last cache until they are used."""
        size = max(1, CHUNK_NUMBERS // max(1, len(self.steps)))
        for start in range(0, len(table), size):
            part = table if size >= len(table) else table.take(np.arange(start, min(start + size, len(table))))
            yield part, torch.from_numpy(self.table_inputs(part))

    def predict(self, rows: Any) -> Array:
        """What is predicted for rows: numbers (n,) or (n, m), or labels (n,)."""
        if isinstance(self.answer, Draws):
            return self.answer.shaped(self.distribution(rows).median())
        return self.answer.predict(self.said(rows))

    def predict_proba(self, rows: Any) -> Array:
        """The probability of each class. Shape (n, classes)."""
        if not isinstance(self.answer, Classes | Probit):
            raise TypeError(f"The model must predict classes to have probabilities; it predicts {self.target}.")
        return np.asarray(self.answer.probabilities(self.said(rows)).numpy())

    def predict_distribution(self, rows: Any) -> Predictive:
        """The distribution of a new observation at each row.

        Of numbers by their spread, of posteriors by their draws, of classes by their probabilities.
        """
        if isinstance(self.answer, Draws):
            return MixturePredictive(self.distribution(rows), self.answer.flat)
        if isinstance(self.answer, Labelled):
            found, labels = self.answer.probabilities(self.said(rows)), np.array(self.answer.labels)
            return ClassPredictive(found, labels, self.answer.thresholds)
        assert isinstance(self.answer, Numbers)
        if self.answer.spread is None:
            raise ValueError(
                f"The {self.kind} must know its errors at rows that it did not see to have distributions; none were "
                "left out. Fit an LPNNRegressor with order='auto', call its calibrate(X, y) with such rows, or use "
                "BayesianLPNNRegressor."
            )
        table = self.read(rows)
        self.plan.warn_of(table)
        centers, scales = [], []
        with torch_limited(1 if len(table) <= FEW_ROWS else None):
            for part, z in self.parts(table):
                centers.append(self.evaluate_mean(z))
                scales.append(self.answer.spread.scale(z, part))
        center = held(finite(torch.cat(centers)[None])[0], self.answer.guard)
        return self.answer.spread.predictive(center, torch.cat(scales), table, self.answer.flat)

    def distribution(self, rows: Any) -> StudentMixture:
        """The distribution of a new observation at each row, of a posterior over regressions."""
        if not isinstance(self.answer, Draws):
            raise TypeError(f"The model must be a posterior of numbers to have a distribution; it is a {self.kind}.")
        table = self.read(rows)
        outputs = self.said(table)
        return self.answer.distribution(outputs, torch.from_numpy(self.table_inputs(table)))

    def said(self, rows: Any) -> Tensor:
        """The outputs of rows, with a warning where the rows are strange; refused where they are no numbers."""
        table = self.read(rows)
        self.plan.warn_of(table)
        return finite(self.table_outputs(table))


def finite(outputs: Tensor) -> Tensor:
    """The outputs (members, n, m) themselves, refused where they are no numbers."""
    wrong = ~outputs.isfinite().all(-1).all(0)
    if bool(wrong.any()):
        raise ValueError(
            f"Row {int(wrong.nonzero()[0]) + 1} of X must lie nearer to the training range; its prediction is no "
            "finite number. Use clip=True."
        )
    return outputs


class HasModel(Protocol):
    """Anything fitted."""

    @property
    def model_(self) -> FittedModel:
        """What was fitted."""


@runtime_checkable
class HasBest(Protocol):
    """A search of scikit-learn that has ended, with what it found."""

    best_estimator_: HasModel


AnyModel = FittedModel | LadderPolynomial | HasModel
"""What readers take: a fitted model, a single ladder, or an estimator or grid search that has a fitted model."""


def fitted_model(model: AnyModel, names: Sequence[str] | None = None) -> FittedModel:
    """The fitted model of whatever has one: an estimator, a grid search, a ladder by itself.

    Args:
        model: a `LadderPolynomial` must be a single one.
        names: of a ladder's inputs; x0, x1, ... if not given.
    """
    if isinstance(model, FittedModel):
        return model
    if isinstance(model, LadderPolynomial):
        return ladder_model(model, names)
    try:
        return model.model_
    except AttributeError as error:
        # scikit-learn's error of what is not fitted yet is both.
        if isinstance(error, ValueError):
            raise
        if isinstance(model, HasBest):
            return fitted_model(model.best_estimator_)
        raise TypeError(
            f"model must be a ladder or a fitted estimator with one behind it; got {type(model).__name__}. "
            "Use LPNNRegressor or LPNNClassifier."
        ) from error


def ladder_model(polynomial: LadderPolynomial, names: Sequence[str] | None = None) -> FittedModel:
    """A single ladder without any steps before it as a model: rows in, outputs out."""
    if polynomial.batch_shape:
        raise ValueError(
            f"polynomial must be a single one; got batch_shape {tuple(polynomial.batch_shape)}. Take one with p[i]."
        )
    single = polynomial.map(lambda t: t.detach().to("cpu", torch.float64).unsqueeze(0))
    columns = tuple(
        Column(name, "number", inputs=(i,), main=i) for i, name in enumerate(input_names(names, polynomial.in_features))
    )
    return FittedModel(columns, tuple(Feature(i, ()) for i in range(len(columns))), single, Numbers(None))
