"""`compress`: a small model that says what a large one says, or what anything says that has `predict`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.compact import AT_LEISURE, EXACT, TOLERANCE, Compaction, Teacher, compacted
from polyladder.estimators.ladder import LadderEstimator, LPNNClassifier, LPNNRegressor
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.spread import allowed_for
from polyladder.estimators.support import support
from polyladder.estimators.targets import NumberTarget
from polyladder.export.short_formula import short_formula
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.features import Features, read_rows
from polyladder.fitted.model import FittedModel, fitted_model
from polyladder.models.batched import stack
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import rescale_outputs
from polyladder.polynomial.units import mean_of
from polyladder.tables.between import rows_between
from polyladder.tables.like_rows import like_rows
from polyladder.tables.table import Table
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED

Array = np.ndarray[Any, Any]

TAUGHT, JUDGED = 4_000, 2_000
"""Rows at and between the given ones that another's model is asked about, to learn from and to judge by."""

CLOSE = 5
"""Rows that count as near to a row where another's model is asked about points between them. With more, the points lie
farther from the rows, and the student follows the model less closely where new rows will be."""

LEAST_PROBABILITY = 0.01
"""Classes below it are left out of what a row teaches."""


@runtime_checkable
class Predicting(Protocol):
    """Anything with predictions: a model of another library, a simulation."""

    def predict(self, X: Any) -> Any:
        """Numbers (n,) or (n, m), or labels (n,), of rows."""


@runtime_checkable
class Choosing(Predicting, Protocol):
    """A classifier."""

    @property
    def classes_(self) -> Any:
        """Its labels."""


@runtime_checkable
class Sure(Choosing, Protocol):
    """A classifier that says how sure it is."""

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of rows. Shape (n, classes)."""


def compress(
    model: Any,
    rows: Any = None,
    tolerance: float = TOLERANCE,
    *,
    size: int | None = None,
    terms: int | None = None,
    random_state: int = 0,
) -> Any:
    """The smallest ladder of those tried whose answers are close to a model's, where the rows are.

    A ladder learns from the model's own answers at rows and between them: there is no noise, and there are as many rows
    as wanted. Orders from 2 to 8 and widths from 8 to 26 are tried, from small to large.

    Args:
        model: an `LPNNRegressor` or `LPNNClassifier`, a `FittedModel` or a ladder; or anything with ``predict``, such
            as a boosted model, a Gaussian process or a simulation: then rows must be given.
        rows: where the answers matter: training rows, or rows like them. By default those that the model keeps
            (``landmarks_``), about a hundred.
        tolerance: what the small model may cost, as a share of the error of a model that `order="auto"` has chosen. Of
            other models no error is known: then it is the share of their gain over a straight line that may be lost.
        size: weights that the small model may have; the closest that was tried is then taken, whatever it costs.
        terms: ask for a formula of so many terms in the units of the table instead, as close as it can be; see
            `ShortFormula`. ``tolerance`` and ``size`` are then not read.
        random_state: seed of the rows in between and of the starts.

    Returns:
        A model of the same type, with one ladder; of another's model an `LPNNRegressor` or `LPNNClassifier`; with
        ``terms`` a `ShortFormula`. Where nothing small enough is close enough, a model of ours is returned as it is.
        ``selection_.compact``, or ``card["compact"]`` of a `FittedModel`, says in a sentence what came of it.

    Example:
        >>> from sklearn.datasets import make_friedman1
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = make_friedman1(500, random_state=0)
        >>> small = compress(HistGradientBoostingRegressor(random_state=0).fit(X, y), X)
        >>> small.polynomial_.n_weights < 20_000
        True
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance must be above 0; got {tolerance}. It is 0.01 by default.")
    if size is not None and size < 1:
        raise ValueError(f"size must be at least 1; got {size}. It is the number of weights that are allowed.")
    if terms is not None:
        ours = isinstance(model, LadderEstimator | FittedModel | LadderPolynomial)
        found = model if ours else compress(model, rows, random_state=random_state)
        return short_formula(found, rows, terms, random_state)
    options = {"tolerance": tolerance, "size": size, "seed": random_state}
    if isinstance(model, LadderEstimator):
        return small_estimator(model, rows, options)
    if isinstance(model, LadderPolynomial | FittedModel):
        small = small_model(fitted_model(model), rows, options)
        return small if isinstance(model, FittedModel) else small.ladders[0]
    if not isinstance(model, Predicting):
        raise TypeError(f"model must have predict; got {type(model).__name__}. Give a fitted model, or a ladder.")
    if rows is None:
        raise ValueError(f"rows must be given for a {type(model).__name__}: it does not say where its data are.")
    return distilled(model, rows, options)


def small_estimator(model: LadderEstimator, rows: Any, options: dict[str, Any]) -> LadderEstimator:
    """A fitted estimator with one small ladder."""
    table = fitted_model(model).rows_like_training(rows)
    target, features, chosen = model.target_, model.features_, model.selected
    z = torch.from_numpy(np.ascontiguousarray(features.transform_table(table)))
    teacher = Teacher(model.members_, table, z, features.transform_table, target.guarded, target.loss, float("nan"))
    error = beyond_a_line(teacher) if chosen is None else chosen.error
    return with_ladder(model, teacher, compacted(replace(teacher, error=error), trying=AT_LEISURE, **options))


def with_ladder(model: LadderEstimator, teacher: Teacher, found: Compaction) -> LadderEstimator:
    """A fitted estimator with the ladder that was found, if one was, and with what is said of it."""
    small, target, order = copy(model), model.target_, None
    if found.ladder is not None:
        order = found.ladder.order
        small.members_, small.order_ = stack([found.ladder]), order
        small.support_ = support(small.members_, TrainingRows(teacher.z, teacher.z, None, 1, target.loss), None)
        if model.spread_ is not None:
            both = (teacher.held(mean_of(each.members_)(teacher.z)) for each in (small, model))
            difference = target.in_own_units(next(both)) - target.in_own_units(next(both))
            small.spread_ = allowed_for(model.spread_, teacher.table, teacher.z, difference)
    if model.selected is not None:
        small.selection_ = replace(model.selected, compact=found.sentence, compact_order=order)
    if model.card_ is not None:
        small.card_ = {**model.card_, "notes": [*model.card_.get("notes", ()), found.sentence]}
        if model.card_.get("selection"):
            small.card_["selection"] = {**model.card_["selection"], "compact": found.sentence}
    return small


def small_model(model: FittedModel, rows: Any, options: dict[str, Any]) -> FittedModel:
    """A fitted model with one small ladder."""
    if not isinstance(model.answer, Numbers | Classes):
        raise TypeError(
            f"The model must be one of numbers or classes; it is the posterior of a {model.kind}. Give the estimator "
            "and rows: a small ladder then learns its predictions."
        )
    table = model.rows_like_training(rows)
    outputs = model.ladders.out_features
    shift, scale = torch.zeros(outputs, dtype=torch.float64), torch.ones(outputs, dtype=torch.float64)
    loss: Loss = Logistic() if outputs == 1 else Softmax()

    def inputs(each: Table) -> Array:
        return np.ascontiguousarray(model.table_inputs(each))

    def held(found: Tensor) -> Tensor:
        return found if model.guard is None else found.clamp(*((end - shift) / scale for end in model.guard))

    z = torch.from_numpy(inputs(table))
    if isinstance(model.answer, Numbers):
        # In units of their spread, whatever those of the table are: all outputs count alike.
        said = mean_of(model.ladders)(z)
        loss, shift, scale = SQUARED, said.mean(0), said.std(0, correction=0)
        scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    teacher = Teacher(
        rescale_outputs(model.ladders, 1 / scale, -shift / scale), table, z, inputs, held, loss, float("nan")
    )
    found = compacted(replace(teacher, error=beyond_a_line(teacher)), trying=AT_LEISURE, **options)
    card = {**model.card, "compact": found.sentence}
    if found.ladder is None:
        return replace(model, card=card)
    ladder, answer = rescale_outputs(found.ladder, scale, shift), model.answer
    if isinstance(answer, Numbers) and answer.spread is not None:
        difference = ladder(z) - mean_of(model.ladders)(z)
        answer = replace(answer, spread=allowed_for(answer.spread, table, z, difference))
    return replace(model, ladders=stack([ladder]), answer=answer, card=card)


def beyond_a_line(teacher: Teacher) -> float:
    """The loss that the best line leaves of what a teacher says, which is its gain over a line."""
    said = teacher.held(mean_of(teacher.members)(teacher.z))
    means = teacher.loss.mean(said)
    return missing(teacher.loss, line_through(teacher.z, said, teacher.z), means)


def line_through(z: Tensor, outputs: Tensor, at: Tensor) -> Tensor:
    """The straight line of least squares through outputs (n, m) at rows z (n, d), at other rows."""
    solution = torch.linalg.lstsq(with_ones(z), outputs, driver="gelsd").solution
    return with_ones(at) @ solution


def with_ones(z: Tensor) -> Tensor:
    """Rows with a column of ones."""
    return torch.cat([z, z.new_ones(len(z), 1)], 1)


def missing(loss: Loss, outputs: Tensor, means: Tensor) -> float:
    """How much more outputs lose than those that predict the means would."""
    return max(0.0, loss.deviance(outputs, means) - loss.deviance(loss.link(means), means))


def distilled(teacher: Predicting, rows: Any, options: dict[str, Any]) -> LadderEstimator:
    """A small ladder that says what another's model says at rows and between them."""
    seed, sure = options["seed"], chooses(teacher) and isinstance(teacher, Sure)
    student = (LPNNClassifier if sure else LPNNRegressor)(compact=False, random_state=seed)
    given = read_rows(student, rows, categorical=None)
    rng = np.random.default_rng(seed)
    some = given.take(rng.permutation(len(given))[: TAUGHT // 2])
    inputs = Features().fit_table(given).transform_table(given)
    between = rows_between(given, inputs, TAUGHT + JUDGED, rng, near=CLOSE)
    points = joined(some, between)
    answers = answers_of(teacher, like_rows(points, rows))
    taught = np.arange(len(points) - JUDGED)
    if sure:
        assert isinstance(teacher, Sure)
        # Each row once for every class that is likely, weighted by how likely it is.
        row, label = np.nonzero(answers[taught] > LEAST_PROBABILITY)
        classes = np.asarray(teacher.classes_)
        student.fit(like_rows(points.take(row), rows), classes[label], sample_weight=answers[row, label])
        # Classes that are nowhere likely were not learned.
        answers = answers[:, [classes.tolist().index(each) for each in student.classes_.tolist()]]
        answers = answers / answers.sum(1, keepdims=True)
    else:
        student.fit(like_rows(points.take(taught), rows), answers[taught])
    target, features = student.target_, student.features_
    z = torch.from_numpy(np.ascontiguousarray(features.transform_table(points)))
    own = Teacher(
        student.members_, some, z[: len(some)], features.transform_table, target.guarded, target.loss, float("nan")
    )
    small = with_ladder(student, own, compacted(replace(own, error=beyond_a_line(own)), trying=AT_LEISURE, **options))
    said = torch.from_numpy(answers.reshape(len(points), -1))
    means = (said - target.mean) / target.scale if isinstance(target, NumberTarget) else said[:, -target.outputs :]
    judged = slice(len(taught), None)
    line = line_through(z[taught], target.loss.link(means[taught]), z[judged])
    gain = missing(target.loss, line, means[judged])
    lost = missing(target.loss, target.guarded(mean_of(small.members_)(z[judged])), means[judged])
    name, kind = type(teacher).__name__, "One ladder" if len(small.members_) == 1 else "A sum of ladders"
    learned = f"{kind} of order {small.order_} with {small.polynomial_.n_weights:,} weights learned from the {name}."
    kept = f"The {name} is a straight line, between the rows given."
    if gain > EXACT:
        kept = f"{1 - lost / gain:.1%} of what the {name} gains over a line is kept, between the rows given."
    small.selection_ = replace(small.selection_, compact=f"{learned} {kept}")
    # They were found to hold what the teacher says, which need not be true.
    small.thresholds_ = small.spread_ = None
    return small


def chooses(teacher: Predicting) -> bool:
    """Whether a model predicts classes; regressors of some libraries have an empty list of them."""
    return isinstance(teacher, Choosing) and teacher.classes_ is not None and len(teacher.classes_) > 0


def answers_of(teacher: Predicting, rows: Any) -> Array:
    """What a model answers: probabilities (n, classes), or numbers (n,) or (n, m)."""
    name = type(teacher).__name__
    if chooses(teacher):
        if not isinstance(teacher, Sure):
            raise TypeError(f"The {name} must have predict_proba: its labels do not say how sure it is. Calibrate it.")
        found = np.asarray(teacher.predict_proba(rows))
    else:
        found = np.asarray(teacher.predict(rows))
    if not np.issubdtype(found.dtype, np.number):
        raise TypeError(f"The {name} must answer with numbers, or have predict_proba; got {found.flat[0]!r}.")
    if found.ndim not in (1, 2) or len(found) != len(rows):
        raise ValueError(f"The {name} must give an answer for each of {len(rows):,} rows; got shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError(f"The {name} must answer with finite numbers; got {found[~np.isfinite(found)][0]:g}.")
    return found.astype(np.float64)


def joined(first: Table, second: Table) -> Table:
    """The rows of two tables of the same columns."""
    both = {i: np.concatenate([column, second.categories[i]]) for i, column in first.categories.items()}
    return replace(first, numbers=np.concatenate([first.numbers, second.numbers]), categories=both)
