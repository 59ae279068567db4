"""One small ladder in the place of a large model, where it says the same: taught by the model, not by the targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.cost import RATE, Shape
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import MeanOfParts, UnitSum, mean_of
from polyladder.tables.between import rows_between
from polyladder.tables.table import Table
from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss
from polyladder.training.students.student import (
    FIRST_POINTS,
    FIRST_SWEEPS,
    GRAM_POINTS,
    Form,
    Lesson,
    fresh,
    ladders_in,
    learning,
    seen_start,
)
from polyladder.training.students.view import View, leading_view, slopes_at

TOLERANCE = 0.01
"""What a small ladder may cost by default: this share of the error on rows left out."""

JUDGED, VIEWED = 1_500, 500
"""Rows between the training rows that a student is judged by, and those that directions are found at."""

LOST = 0.003
"""Share of the error on rows left out that may be lost with the directions that a student does not see."""

MOST_DIRECTIONS = 40
"""Directions that a student sees, at most: the cost of a solve grows with their square."""

WIDE = 14
"""Width from which on a student may begin with ladders of the teacher."""

PACE = 12.0
"""A student that costs more than this times what it may, after a first look, is given up: sweeps over all points will
not make up for that. A larger number would let slow students use up the time."""

SLOW = 0.97
"""A sweep that leaves more than this part of a student's cost is its last."""

LEAST_GAIN = 0.5
"""A student has at most this part of the teacher's weights, or it is not worth what it costs."""

EXACT = 1e-10
"""Error on rows left out, in units of the loss, of a model without any: no student is as exact."""

LEAST_WEIGHT = 0.05
"""Rows whose class is certain count at least this much of the most uncertain one."""

STREAMING = 1.5
"""How much longer passes over many points take than their operations would in a large matrix product."""

LEAST_SECONDS, SECONDS_PER_ROW, SECONDS = 0.1, 7e-4, 0.45
"""What students may take on one core: the first, and the second for each row, at most the third. About a fifth of a
selection; more of a short one, as fewer points would not teach them."""


@dataclass(frozen=True)
class Trying:
    """How hard it is tried.

    Attributes:
        forms: students, from small to large.
        points: that one learns from.
        sweeps: over all points, at most.
        close: sweeps go on until a student costs less than this part of what it may.
        small: weights of a single ladder that is small as it is.
        seconds: that the solves may take on one core, as estimated; None for any.
    """

    forms: tuple[Form, ...]
    points: int
    sweeps: int
    close: float
    small: int
    seconds: float | None = None


IN_A_FIT = Trying(
    (Form(3, 10), Form(4, 14), Form(4, 20), Form(6, 16)), points=10_000, sweeps=6, close=0.4, small=20_000
)
AT_LEISURE = Trying(
    tuple(
        Form(order, width) for order, width in ((2, 8), (3, 8), (3, 12), (4, 12), (4, 18), (6, 18), (6, 26), (8, 26))
    ),
    points=24_000,
    sweeps=16,
    close=0.8,
    small=500,
)


@dataclass(frozen=True, eq=False)
class Teacher:
    """A model, and where it is right.

    Attributes:
        members: ladders whose mean it is. Batch shape (members,).
        table: its training rows, or rows like them. n of them.
        z: the same as the ladders read them. Shape (n, d).
        inputs: what the ladders read of the rows of a table.
        held: holds outputs (n, m) to the range of the targets, where the model does.
        loss: in whose units its outputs are.
        error: its mean loss on rows left out.
    """

    members: LadderPolynomial
    table: Table
    z: Tensor
    inputs: Callable[[Table], Array]
    held: Callable[[Tensor], Tensor]
    loss: Loss
    error: float


@dataclass(frozen=True, eq=False)
class Compaction:
    """What came of it.

    Attributes:
        ladder: the student; None where the model stays.
        cost: what the student, or the closest one that was tried, costs, as a share of the error; NaN where none was.
        sentence: all of this in words.
    """

    ladder: LadderPolynomial | None
    cost: float
    sentence: str


def compacted(
    teacher: Teacher,
    *,
    tolerance: float = TOLERANCE,
    trying: Trying = IN_A_FIT,
    size: int | None = None,
    seed: int = 0,
) -> Compaction:
    """Teach small ladders, and keep the first that is close enough.

    Args:
        teacher: the model.
        tolerance: what the student may cost, as a share of the teacher's error on rows left out.
        trying: which ladders are taught, and for how long.
        size: weights that the student may have at most; the closest is then kept whatever it costs.
        seed: of random numbers.
    """
    teaching = mean_of(teacher.members)
    before = weights_of(teaching, teacher.members.in_features)
    if size is None and len(teacher.members) == 1 and before <= trying.small:
        return Compaction(None, math.nan, f"The model is one ladder of {before:,} weights, small as it is.")
    if size is None and teacher.error <= EXACT:
        words = "it is exact on rows left out, so there is no error to judge a small one by"
        return Compaction(None, math.nan, f"The model of {before:,} weights was kept: {words}.")
    largest = int(LEAST_GAIN * before) if size is None else size
    best, reason = closest(teacher, teaching, tolerance, trying, largest, size is None, seed)
    if best is None:
        return Compaction(None, math.nan, f"The model of {before:,} weights was kept: {reason}.")
    cost, ladder = best
    found = f"ladder of order {ladder.order} with {ladder.n_weights:,} weights"
    if size is None and not cost <= tolerance:
        words = f"the closest {found} would cost {cost:.1%} of its error, and {100 * tolerance:g}% of it is allowed"
        if trying.seconds is not None:
            words += "; compress takes more time to look for one"
        return Compaction(None, cost, f"The model of {before:,} weights was kept: {words}.")
    members = "one" if len(teacher.members) == 1 else f"{len(teacher.members)}"
    words = f"stands for {members} of {before:,} weights in all; by estimate that costs {cost:.1%} of its error"
    return Compaction(ladder, cost, f"One {found} {words}.")


def closest(
    teacher: Teacher, teaching: MeanOfParts, tolerance: float, trying: Trying, largest: int, hurried: bool, seed: int
) -> tuple[tuple[float, LadderPolynomial] | None, str]:
    """The student that costs least, with its cost, up to the first that is close; and why there is none, if so.

    Args:
        teacher: the model.
        teaching: its members, as they are evaluated fastest.
        tolerance: what a student may cost.
        trying: which ladders are taught, and for how long.
        largest: weights of a student, at most.
        hurried: whether students are given up that will not be close enough.
        seed: of random numbers.
    """
    rng = np.random.default_rng(seed)
    points = rows_between(teacher.table, teacher.z.numpy(), JUDGED + trying.points, rng)
    z = torch.from_numpy(np.ascontiguousarray(teacher.inputs(points)))
    some = teacher.z[torch.from_numpy(rng.permutation(len(teacher.z))[:JUDGED])]
    judges = [(rows, teacher.held(teaching(rows))) for rows in (z[:JUDGED], some)]
    least = LOST * max(teacher.error, EXACT)
    view = leading_view(z[: 2 * VIEWED], slopes_at(teaching, z[:VIEWED]), least, MOST_DIRECTIONS)

    @cache
    def lesson(count: int) -> Lesson:
        rows = z[JUDGED : JUDGED + count]
        said = teacher.held(teaching(rows))
        return Lesson(view(rows), said, certainty(teacher.loss, said))

    def cost_of(ladder: LadderPolynomial) -> float:
        return max(extra(teacher, ladder, rows, said) for rows, said in judges)

    best, left = None, math.inf
    if trying.seconds is not None:
        left = trying.seconds - asking_seconds(teaching, trying.points)
    for start in starts(teaching, view, trying.forms, largest, seed):
        look, sweep = prices(start, trying.points)
        course = learning(lesson(FIRST_POINTS), partial(lesson, trying.points), start)
        cost = math.inf
        for to_come in reversed(range(trying.sweeps + 1)):
            left -= look if math.isinf(cost) else sweep
            if left < 0:
                return best, "there was no time to teach a small one"
            ladder = view.folded(next(course))
            before, cost = cost, cost_of(ladder)
            if best is None or cost < best[0]:
                best = cost, ladder
            if cost <= trying.close * tolerance or (hurried and not promising(cost, before, tolerance, to_come)):
                break
        if best is not None and best[0] <= tolerance:
            break
    return best, f"no ladder that is tried has at most {largest:,} weights"


def promising(cost: float, before: float, tolerance: float, to_come: int) -> bool:
    """Whether a student that goes on as it did in its last sweep will cost little enough.

    Args:
        cost: of the student now.
        before: a sweep ago; infinite after the first look.
        tolerance: what it may cost.
        to_come: sweeps that are left.
    """
    if math.isinf(before):
        return cost <= PACE * tolerance
    rate = cost / before
    return rate < SLOW and cost * rate**to_come <= tolerance


def prices(start: LadderPolynomial, points: int) -> tuple[float, float]:
    """Seconds of one core that a first look takes, and then each sweep."""
    shape = Shape(points, start.in_features, start.hidden[0], start.order, start.out_features)
    first = FIRST_SWEEPS * shape.sweep_seconds(FIRST_POINTS / points)
    return first, STREAMING * shape.sweep_seconds(gram_rows=GRAM_POINTS)


def asking_seconds(teaching: MeanOfParts, points: int) -> float:
    """Seconds of one core that a teacher takes to answer."""
    numbers = sum(
        part.n_weights if isinstance(part, LadderPolynomial) else part.directions.numel() + part.powers.numel()
        for part in teaching.parts
    )
    return STREAMING * 2.0 * numbers * points / RATE


def starts(
    teaching: MeanOfParts, view: View, forms: Sequence[Form], size: int, seed: int
) -> Iterator[LadderPolynomial]:
    """What students begin with: the teacher's own ladders where it has some and there is room for them, and noise.

    No order is above the teacher's, and what is not larger than the one before is left out.
    """
    own, order = ladders_in(teaching), max(order_of(part) for part in teaching.parts)
    outputs, known = len(teaching.parts[0].offset), set()
    for form in forms:
        noise = fresh(Form(min(form.order, order), form.width), view.matrix.shape[1], outputs, seed)
        for start in (seen_start(own, form.width, view) if form.width >= WIDE else None, noise):
            if start is None or (shape := (start.order, start.hidden[0], start is noise)) in known:
                continue
            known.add(shape)
            if view.folded(start).n_weights <= size:
                yield start


def order_of(part: UnitSum | LadderPolynomial) -> int:
    """The order of a part of a teacher; at least 2, that of a ladder of one layer."""
    return max(2, part.order if isinstance(part, LadderPolynomial) else len(part.powers) - 1)


def weights_of(teaching: MeanOfParts, inputs: int) -> int:
    """How many numbers a mean of parts has as one ladder: the units of all side by side."""
    parts = teaching.parts
    units = sum(sum(part.hidden[:1]) if isinstance(part, LadderPolynomial) else len(part.readout) for part in parts)
    order = max(order_of(part) for part in parts)
    return Form(order, units).weights(inputs, len(parts[0].offset))


def extra(teacher: Teacher, ladder: LadderPolynomial, z: Tensor, said: Tensor) -> float:
    """What a student costs where the teacher is right: the loss that it adds, as a share of the teacher's error.

    Of squares the share is that of the root.
    """
    loss, target = teacher.loss, teacher.loss.mean(said)
    added = loss.deviance(teacher.held(ladder(z)), target) - loss.deviance(said, target)
    if math.isnan(added):
        return math.inf
    share = max(added, 0.0) / max(teacher.error, EXACT)
    return share if loss.answer == "classes" else (1 + share) ** 0.5 - 1


def certainty(loss: Loss, said: Tensor) -> Tensor | None:
    """How much rows count: by the curvature of the loss, where that differs from row to row."""
    if loss.answer == "numbers":
        return None
    curvature = loss.curvatures(said, loss.mean(said)).mean(-1)
    return (curvature / curvature.amax()).clamp_min(LEAST_WEIGHT)


def fit_seconds(rows: int) -> float:
    """What students of a fit may take."""
    return min(SECONDS, LEAST_SECONDS + SECONDS_PER_ROW * rows)
