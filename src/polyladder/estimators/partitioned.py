"""Ladders fitted to rows in parts: first sweeps on a random sample in memory, the last over all rows where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.settled import settled
from polyladder.estimators.table_estimator import Prepared
from polyladder.estimators.targets import ClassTarget, NumberTarget, Target, refuse_dates, refuse_masked
from polyladder.fitted.features import Features
from polyladder.fitted.whole_features import Summarize, Summary, features_of, part_table
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import as_rows
from polyladder.polynomial.widen import widen
from polyladder.tables.landmarks import Landmarks, landmarks_of
from polyladder.tables.partitions import Coded, Part, Partitions
from polyladder.tables.table import Table
from polyladder.training.partitions.fit import fit_partitions
from polyladder.training.solves.alternating import AlternatingFit, fit_alternating, random_start
from polyladder.training.threads import limited, threads_for

if TYPE_CHECKING:
    from polyladder.estimators.ladder import LadderEstimator

SAMPLE_ROWS = 100_000
"""Rows of the random sample on which the first sweeps are made."""

SAMPLE_SWEEPS = 12
"""Sweeps on the sample. Their cost depends on the size of the sample, not on that of the table."""

WHOLE_SWEEPS = 2
"""Sweeps over all rows. Each reads all rows once for every block."""

ORDERS = (2, 3, 4, 5)
"""Orders that ``order="auto"`` compares on the sample. Each further order costs two more passes in every sweep."""

MODELS = 2
"""Ladders that are averaged."""

Tell = Callable[[str], object]
Ridge = float | Literal["auto"]
Fittable = TypeVar("Fittable", bound="LadderEstimator")


@dataclass(frozen=True, eq=False)
class CodeRows:
    """The rows of a part as the polynomial reads them, and their coded targets."""

    features: Features
    target: Target

    def __call__(self, part: Part) -> Part:
        """As tensors."""
        z = as_rows(self.features.transform_table(part_table(part.X)))
        weight = None if part.weight is None else torch.as_tensor(np.asarray(part.weight, dtype=np.float64))
        return Part(part.first, z, self.target.encode(np.asarray(part.y)), weight)


@dataclass(frozen=True, eq=False)
class MarkRows:
    """The landmarks of a part."""

    features: Features
    polynomial: LadderPolynomial

    def __call__(self, part: Part) -> Marked:
        """Of its rows that count."""
        table = part_table(part.X)
        if part.weight is not None:
            table = table.take(np.flatnonzero(np.asarray(part.weight) > 0))
        return Marked(self, table, landmarks_of(table, self.outputs))

    def outputs(self, table: Table) -> Any:
        """What is predicted for rows. Shape (n, m)."""
        return self.polynomial(as_rows(self.features.transform_table(table))).numpy()


@dataclass(frozen=True, eq=False)
class Marked:
    """Landmarks of some rows; those of two parts join to those of both.

    Attributes:
        by: how they were found.
        table: one of the parts.
        landmarks: found so far.
    """

    by: MarkRows
    table: Table
    landmarks: Landmarks

    def __add__(self, other: Marked) -> Marked:
        both = (self.landmarks + other.landmarks).table(self.table)
        return Marked(self.by, self.table, landmarks_of(both, self.by.outputs))


@dataclass(frozen=True, eq=False)
class Scan:
    """What one pass learns before anything is fitted: of the columns, and of the target.

    Attributes:
        columns: of the table.
        labels: all classes, where the target is one of classes.
        moments: rows, mean and sum of squared distances from it of each target of numbers. Shape (3, m).
        low: least targets (m,).
        high: greatest targets (m,).
    """

    columns: Summary
    labels: Any
    moments: Any
    low: Any
    high: Any

    def __add__(self, other: Scan) -> Scan:
        columns = self.columns + other.columns
        if self.labels is not None:
            return Scan(columns, np.union1d(self.labels, other.labels), None, None, None)
        (n, mean, spread), (k, more, beyond) = self.moments, other.moments
        total = n + k
        moments = np.stack(
            [total, mean + k / total * (more - mean), spread + beyond + n * k / total * (more - mean) ** 2]
        )
        return Scan(columns, None, moments, np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True)
class ScanPart:
    """The scan of a part."""

    size: int
    classes: bool

    def __call__(self, part: Part) -> Scan:
        """Of all its rows."""
        refuse_dates(part.y)
        refuse_masked("y", part.y)
        y = np.asarray(part.y)
        columns = Summarize(self.size)(part)
        if self.classes:
            return Scan(columns, np.unique(y), None, None, None)
        y = y.astype(np.float64).reshape(len(y), -1)
        if not np.isfinite(y).all():
            raise ValueError("y must be finite; got NaN or infinity. Drop those rows first.")
        mean = y.mean(0)
        moments = np.stack([np.full(y.shape[1], float(len(y))), mean, ((y - mean) ** 2).sum(0)])
        return Scan(columns, None, moments, y.min(0), y.max(0))


def target_of(scan: Scan, estimator: LadderEstimator) -> Target:
    """How the target of all rows is coded: by their moments, or by the sample where the loss needs other figures."""
    if scan.labels is not None:
        return ClassTarget.learn(scan.labels, type(estimator).__name__)
    sampled = estimator._learn_target(scan.columns.sample.y, None)
    assert isinstance(sampled, NumberTarget)
    if not sampled.loss.quadratic:
        low, high = (torch.tensor(each, dtype=torch.float64) for each in (scan.low, scan.high))
        return replace(sampled, low=low, high=high)
    n, mean, spread = scan.moments
    scale = np.sqrt(spread / n)
    flat = scan.columns.sample.y.ndim == 1
    scale = np.where(scale > 0, scale, 1.0)
    tensors = [torch.tensor(each, dtype=torch.float64) for each in (mean, scale, scan.low, scan.high)]
    return NumberTarget(tensors[0], tensors[1], tensors[2], tensors[3], flat)


@dataclass(frozen=True, eq=False)
class Sweeping:
    """A fit on its way: what is known after some sweeps over all rows.

    Attributes:
        polynomial: the ladders. Batch shape (models,).
        alpha: their ridge weights for all rows. Shape (blocks, models).
        done: sweeps over all rows so far.
    """

    polynomial: LadderPolynomial
    alpha: Tensor
    done: int


def sample_fit(rows: TrainingRows, order: int, width: int, seeds: list[int], alpha: Ridge) -> AlternatingFit:
    """The first sweeps, in memory."""
    start = random_start(rows.z.shape[1], (width,) * (order - 1), rows.outputs, seeds, len(seeds))
    return fit_alternating(start, rows.z, rows.y, loss=rows.loss, alpha=alpha, sweeps=SAMPLE_SWEEPS)


def best_order(rows: TrainingRows, width: int, seeds: list[int], alpha: Ridge, tell: Tell) -> int:
    """The order with the smallest error on a fifth of the sample."""
    some = torch.arange(min(len(rows.z), SAMPLE_ROWS // 4))
    held = some % 5 == 0
    train, test = rows.take(some[~held]), rows.take(some[held])
    errors = {}
    for order in ORDERS:
        outputs = widen(sample_fit(train, order, width, seeds, alpha).polynomial)(test.z)
        errors[order] = sample_error(outputs, test)
        tell(f"order {order} on a sample: {errors[order]:.4g}")
    return min(errors, key=lambda order: errors[order])


def sample_error(outputs: Tensor, rows: TrainingRows) -> float:
    """Mean loss of numbers, or share of wrong classes."""
    if rows.loss.answer == "numbers":
        return rows.loss.deviance(outputs, rows.y)
    found = (outputs[:, 0] > 0).long() if rows.outputs == 1 else outputs.argmax(-1)
    return float((found != rows.y).double().mean())


def fit_in_parts(
    estimator: Fittable,
    rows: Partitions,
    *,
    sweeps: int = WHOLE_SWEEPS,
    sample_rows: int = SAMPLE_ROWS,
    tell: Tell = lambda words: None,
    keep: Callable[[Fittable, Sweeping], object] = lambda draft, state: None,
    resumed: tuple[Fittable, Sweeping] | None = None,
) -> Fittable:
    """Fit `LPNNRegressor` or `LPNNClassifier` to rows in parts.

    One pass learns scales, ranges, categories and a random sample; the sample chooses the order, where that is "auto",
    and makes the first sweeps; ``sweeps`` more go over all rows, with 2 order - 1 passes each.

    Args:
        estimator: with the parameters to fit by; its ``max_iter`` is the number of sweeps over all rows, if given.
        rows: arrays or frames, with targets as the estimator takes them.
        sweeps: over all rows.
        sample_rows: of the sample.
        tell: told what is being done.
        keep: called after the sample's fit and after each sweep with the estimator as it is then and the state.
        resumed: what ``keep`` was given last, to go on from.
    """
    threads = None
    if resumed is None:
        draft, state, count = begun(estimator, rows, sample_rows, tell)
        threads = threads_for(count)
        keep(draft, state)
    else:
        draft, state = resumed
    if estimator.max_iter != "auto":
        sweeps = int(estimator.max_iter)
    coded = Coded(rows, CodeRows(draft.features_, draft.target_))
    ahead = None
    for sweep in range(state.done + 1, sweeps + 1):
        tell(f"sweep {sweep} of {sweeps} over all rows")
        auto = estimator.alpha == "auto"
        with limited(threads):
            fit = fit_partitions(
                state.polynomial,
                coded,
                loss=draft.target_.loss,
                alpha="auto" if auto else float(estimator.alpha),
                sweeps=1,
                known_alpha=state.alpha if auto else None,
                ahead=ahead,
            )
        ahead = fit.ahead
        state = Sweeping(fit.polynomial, fit.alpha, sweep)
        draft.adopt_parts(state.polynomial, [*draft.loss_curve_, *fit.training_loss.mean(0).tolist()])
        keep(draft, state)
    tell("looking for the highest and lowest predictions")
    draft.landmarks_ = rows.fold(MarkRows(draft.features_, draft.polynomial_), add).landmarks
    estimator.__dict__ = dict(vars(draft))
    return estimator


def read_parts(estimator: LadderEstimator, rows: Partitions, sample_rows: int, tell: Tell) -> tuple[Prepared, int]:
    """The first pass: features and target of all rows, the rows of the sample, and how many rows there are."""
    tell("reading scales, ranges and categories")
    scan = rows.fold(ScanPart(sample_rows, estimator.kind_of_target is not NumberTarget), add)
    summary = scan.columns
    if summary.rows < 2:
        raise ValueError(f"Found {summary.rows} row(s) while a minimum of 2 is required.")
    features = features_of(summary, estimator.unfitted_features)
    target = target_of(scan, estimator)
    z = as_rows(features.transform_table(summary.sample.table))
    known = TrainingRows(z, target.encode(summary.sample.y), None, target.outputs, target.loss)
    names = summary.sample.table.names
    framed = not all(name == f"x{i}" for i, name in enumerate(names))
    columns = np.array(names, dtype=object) if framed else None
    prepared = Prepared(known, features, target, len(names), columns, summary.sample.table)
    return settled(prepared), summary.rows


def begun(estimator: Fittable, rows: Partitions, sample_rows: int, tell: Tell) -> tuple[Fittable, Sweeping, int]:
    """The first pass, and the fit to the sample; and how many rows there are."""
    prepared, count_rows = read_parts(estimator, rows, sample_rows, tell)
    known = prepared.rows
    width = 12 if estimator.width == "auto" else int(estimator.width)
    count = MODELS if estimator.n_estimators == "auto" else int(estimator.n_estimators)
    seeds = seeds_from(estimator.random_state, count)
    alpha: Ridge = "auto" if estimator.alpha == "auto" else float(estimator.alpha)
    order = estimator.order
    with limited(threads_for(len(known.z))):
        if order == "auto":
            order = best_order(known, width, seeds, alpha, tell)
        tell(f"order {order}: first sweeps on {len(known.z):,} rows in memory")
        fit = sample_fit(known, int(order), width, seeds, alpha)
    draft = object.__new__(type(estimator))
    draft.__dict__.update({k: v for k, v in vars(estimator).items() if not k.endswith("_")})
    draft.open_parts(prepared)
    draft.adopt_parts(fit.polynomial, [float(fit.training_loss.nan_to_num(0).mean(0)[-1])])
    draft.support_rows(known)
    # A ridge weight is a prior precision divided by the number of rows.
    return draft, Sweeping(fit.polynomial, fit.alpha * (len(known.z) / count_rows), 0), count_rows
