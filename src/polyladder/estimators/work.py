"""What a fit by block solves will do with a number of seconds: decided before anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polyladder.estimators.cost import Shape, usual_seconds
from polyladder.estimators.rows import TrainingRows
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.solves.stages import Stage

SWEEPS = 7
"""Sweeps on all rows."""

MORE_SWEEPS = 7
"""Further sweeps where the noise is below `LITTLE_NOISE`: there, what is wrong is mostly unfinished solving."""

LITTLE_NOISE = 0.006
"""Share of the target's variance below which noise counts as little."""

FULL = (Stage(1.0, SWEEPS), Stage(1.0, MORE_SWEEPS, LITTLE_NOISE))
"""Sweeps on all rows, where there is time for them."""

LONG = (Stage(0.25, 6), Stage(0.5, 2), Stage(1.0, 3), Stage(1.0, 3, LITTLE_NOISE))
"""Sweeps of three fifths of that cost, two fifths where there is noise; the error is within a percent of theirs."""

SHORT = (Stage(0.125, 3), Stage(0.5, 2), Stage(1.0, 2))
"""Sweeps of a quarter of that cost."""

CLASS_SWEEPS = 20
"""Sweeps on all rows for classes: the quadratic bounds of their losses are loose, and each sweep gains less."""

CLASS_LONG = (Stage(0.25, 12), Stage(0.5, 4), Stage(1.0, 4))
"""Sweeps of less than half of that cost."""

CLASS_SHORT = (Stage(0.125, 6), Stage(0.5, 4), Stage(1.0, 4))
"""Sweeps of a third of that cost."""

STAGED_ROWS = 4000
"""From this many rows on, first sweeps may use a part of the rows; a part of fewer would be too small."""

LEAST_ROWS = 2000
"""Fewest rows of the last stage; where there is no time for them, Adam is cheaper."""

LEAST_SWEEPS = 4
"""Fewest sweeps on a small table; where there is no time for them, Adam is used."""

MANY_CLASSES = 5
"""Classes above which "auto" means Adam: they share the units of a ladder, and the bound of their loss is loose."""

MULTIPLE = 5.7
"""How much longer than boosted trees a fit may take, by default."""


@dataclass(frozen=True)
class Work:
    """What a fit will do.

    Attributes:
        solver: "alternating" or "adam".
        models: how many ladders are averaged.
        stages: of block solves; () for Adam.
        seconds: what that is estimated to take on one core; 0 for Adam.
        budget: what it may take.
        reason: why, in a sentence.
    """

    solver: str
    models: int
    stages: tuple[Stage, ...]
    seconds: float
    budget: float
    reason: str

    def __str__(self) -> str:
        if self.solver == "adam":
            return f"adam: {self.reason}"
        plan = ", then ".join(
            f"{s.sweeps} sweeps on {s.share:.3g} of the rows" + (" if noise is low" if s.noise_below < 1 else "")
            for s in self.stages
        )
        return (
            f"block solves of {self.models} ladders, {plan}; about {self.seconds:.2g} s of {self.budget:.2g} s: "
            f"{self.reason}"
        )


def work_for(
    solver: str, rows: TrainingRows, width: int, order: int, models: int | None, max_seconds: float | None
) -> Work:
    """Settle the solver, the size of the ensemble and the sweeps.

    Args:
        solver: "auto", or what the user wants.
        rows: to be fitted.
        width: units per layer.
        order: of the ladders.
        models: how many ladders the user wants; None for as many as there is time for, up to the usual number.
        max_seconds: budget; None for `MULTIPLE` times what boosted trees would take.
    """
    n, d = rows.z.shape
    budget = MULTIPLE * usual_seconds(n, d, rows.outputs) if max_seconds is None else max_seconds
    usual = (4 if rows.many else 8) if models is None else models
    if solver == "adam":
        return Work("adam", usual, (), 0.0, budget, "it was asked for.")
    if is_sparse(rows.z):
        return Work("adam", usual, (), 0.0, budget, "the rows are sparse.")
    if solver == "auto" and rows.loss.answer == "classes" and rows.outputs > MANY_CLASSES:
        return Work("adam", usual, (), 0.0, budget, "many classes need wider ladders than block solves can afford.")
    shape = Shape(n, d, width, order, rows.outputs)
    full, *others = ways_for(rows)
    if n < STAGED_ROWS and max_seconds is None and usual * shape.seconds(full[0]) <= 2 * budget:
        return Work("alternating", usual, full[0], usual * shape.seconds(full[0]), budget, "the table is small.")
    found = within_budget(shape, usual, models is not None, budget, [full, *others])
    if found is not None:
        return found
    if solver == "auto":
        return Work("adam", usual, (), 0.0, budget, f"block solves would take more than {budget:.2g} s.")
    least = Work("alternating", models or 1, SHORT, 0.0, budget, "block solves were asked for, whatever they take.")
    return replace(least, seconds=least.models * shape.seconds(SHORT))


Way = tuple[tuple[Stage, ...], str]


def ways_for(rows: TrainingRows) -> list[Way]:
    """Stages and why they would be chosen, from the most accurate to the cheapest."""
    numbers = rows.loss.answer == "numbers"
    all_rows = FULL if numbers else (Stage(1.0, CLASS_SWEEPS),)
    ways: list[Way] = [(all_rows, "sweeps on all rows fit into the budget.")]
    if len(rows.z) < STAGED_ROWS:
        return ways
    long, short = ((LONG, LONG[:-1]), SHORT) if numbers else ((CLASS_LONG,), CLASS_SHORT)
    ways += [(stages, "first sweeps on fewer rows save time.") for stages in long]
    return [*ways, (short, "few sweeps save time.")]


def within_budget(shape: Shape, usual: int, fixed: bool, budget: float, ways: list[Way]) -> Work | None:
    """The first of the ways that the budget allows, with as many ladders as it allows."""
    counts = [usual] if fixed else sorted({usual, max(1, usual // 2), max(1, usual // 4), 1}, reverse=True)
    for count in counts:
        for stages, reason in ways:
            seconds = count * shape.seconds(stages)
            if seconds <= budget:
                return Work("alternating", count, stages, seconds, budget, reason)
    return fewer(shape, counts[-1], ways[-1][0], budget)


def fewer(shape: Shape, models: int, stages: tuple[Stage, ...], budget: float) -> Work | None:
    """The same stages on as many of the rows, or for as many sweeps, as there is time for."""
    share = 1.0
    while (share := 0.9 * share) * shape.n >= LEAST_ROWS:
        part = tuple(replace(s, share=share * s.share) for s in stages)
        seconds = models * shape.seconds(part)
        if seconds <= budget:
            return Work("alternating", models, part, seconds, budget, "no more rows fit into the budget.")
    sweeps = int(budget / (models * shape.sweep_seconds()))
    if shape.n >= STAGED_ROWS or sweeps < LEAST_SWEEPS:
        return None
    seconds = models * sweeps * shape.sweep_seconds()
    only = (Stage(1.0, sweeps),)
    return Work("alternating", models, only, seconds, budget, "no more sweeps fit into the budget.")
