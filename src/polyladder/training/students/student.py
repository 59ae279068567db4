"""Small ladders that learn what a teacher says, by block solves: without noise, and on as many rows as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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

FIRST_POINTS, FIRST_SWEEPS = 3_000, 4
"""Points and sweeps that a student begins with. They also say how much the rest of the points may be trusted: the ridge
weights that are estimated there stay. A teacher has no noise, but what a student cannot follow acts as noise."""

GRAM_POINTS = 5_000
"""Points that the Gram matrices of later sweeps are summed over. More would make a sweep slower and hardly better."""


@dataclass(frozen=True)
class Form:
    """What a student looks like.

    Attributes:
        order: of the ladder.
        width: units per layer.
    """

    order: int
    width: int

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


def learning(first: Lesson, whole: Callable[[], Lesson], start: LadderPolynomial) -> Iterator[LadderPolynomial]:
    """Ladders over the coordinates that say more and more closely what was said: after a first look, then after sweeps.

    Args:
        first: a few points.
        whole: gives all points; asked for after the first look.
        start: what to begin with.
    """
    mean, scale = first.said.mean(0), first.said.std(0)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    # All gain of a sweep counts: who looks on decides when it is not worth it.
    options: dict[str, Any] = {"relaxation": RELAXATION, "tolerance": 0.0}
    fit = fit_alternating(
        start.map(lambda t: t.unsqueeze(0)),
        first.w,
        (first.said - mean) / scale,
        sample_weight=first.weight,
        sweeps=FIRST_SWEEPS,
        **options,
    )
    yield rescale_outputs(fit.polynomial[0], scale, mean)
    lesson = whole()
    said = (lesson.said - mean) / scale
    alpha = fit.alpha * len(first.w) / len(said)
    while True:
        fit = fit_alternating(
            fit.polynomial,
            lesson.w,
            said,
            alpha=0.0,
            known_alpha=alpha,
            sample_weight=lesson.weight,
            sweeps=1,
            exact_sweeps=0,
            gram_rows=GRAM_POINTS,
            **options,
        )
        yield rescale_outputs(fit.polynomial[0], scale, mean)


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
