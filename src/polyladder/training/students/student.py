"""Small ladders that learn what a teacher says, by block solves: without noise, and on as many rows as wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.separate import separate
from polyladder.polynomial.substitute import rescale_outputs
from polyladder.polynomial.units import MeanOfParts
from polyladder.polynomial.widen import widen
from polyladder.training.solves.alternating import fit_alternating, random_start
from polyladder.training.solves.stages import RELAXATION
from polyladder.training.students.view import View

RIDGE = 1e-6
"""Ridge weight: a teacher has no noise, and solves need a trace of it."""

TOLERANCE = 1e-4
"""A sweep that lowers the difference by less than this, relatively, is the last."""


@dataclass(frozen=True)
class Form:
    """What a student looks like, and how long it learns.

    Attributes:
        order: of the ladder.
        width: units per layer.
        sweeps: at most.
    """

    order: int
    width: int
    sweeps: int

    def weights(self, inputs: int, outputs: int) -> int:
        """Numbers of such a ladder."""
        k = self.width
        return self.order * k * (inputs + 1) + (self.order - 2) * k * (k + 1) + outputs * (k + 1)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a teacher says, and where.

    Attributes:
        w: coordinates of the rows, as the student sees them. Shape (n, k).
        said: by the teacher there. Shape (n, m).
        weight: of the rows, or None.
    """

    w: Tensor
    said: Tensor
    weight: Tensor | None

    def first(self, count: int) -> Lesson:
        """Its first rows."""
        weight = None if self.weight is None else self.weight[:count]
        return Lesson(self.w[:count], self.said[:count], weight)


def learned(lesson: Lesson, start: LadderPolynomial, sweeps: int) -> LadderPolynomial:
    """A ladder over the coordinates that says what was said, solved from a start."""
    mean, scale = lesson.said.mean(0), lesson.said.std(0)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    fit = fit_alternating(
        start.map(lambda t: t.unsqueeze(0)),
        lesson.w,
        (lesson.said - mean) / scale,
        alpha=RIDGE,
        sample_weight=lesson.weight,
        sweeps=sweeps,
        tolerance=TOLERANCE,
        relaxation=RELAXATION,
    )
    return rescale_outputs(fit.polynomial[0], scale, mean)


def fresh(form: Form, inputs: int, outputs: int, seed: int) -> LadderPolynomial:
    """A random start."""
    return random_start(inputs, (form.width,) * (form.order - 1), outputs, [seed], 1)[0]


def ladders_in(teacher: MeanOfParts) -> list[LadderPolynomial]:
    """Of the teacher's ladders with fitted directions, those of the part that has most of them; one by one."""
    parts = [separate(part) for part in teacher.parts if isinstance(part, LadderPolynomial) and part.W]
    return max(parts, key=len, default=[])


def seen_start(ladders: Sequence[LadderPolynomial], width: int, view: View) -> LadderPolynomial | None:
    """As many of a teacher's ladders side by side as the width has room for; None where not even one is.

    Their sum is near the teacher already, or a multiple of it: the first solve is that of the readout.
    """
    own = max((each.hidden[0] for each in ladders), default=width + 1)
    if own > width:
        return None
    return view.seen(widen(ladders[: width // own]))
