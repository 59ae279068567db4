"""Calibration by rows that were left out: how wide intervals, and how large sets of classes, had to be for them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.predictive import Array, check_level

ROUNDING = 1e-9
"""What a product of a level and a number of rows may exceed a whole number by, and still count as that number."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Half widths of central intervals, in units of each row's scale, at some levels; linear in between.

    Attributes:
        levels: ascending, in (0, 1). Shape (k,).
        widths: never falling with the level. Shape (k, m), or (k, n, m) where rows have widths of their own.
    """

    levels: Tensor
    widths: Tensor

    def __post_init__(self) -> None:
        check_ascending(self.levels)
        if self.widths.dim() not in (2, 3) or len(self.widths) != len(self.levels):
            wanted = f"({len(self.levels)}, m) or ({len(self.levels)}, n, m)"
            raise ValueError(f"widths must have shape {wanted}; got shape {tuple(self.widths.shape)}.")
        check_rising("widths", self.widths)

    def held(self, level: float, width: Tensor) -> Tensor:
        """The width at a level; outside of the calibrated levels the one given (m,), held to the outermost ones."""
        if level < self.levels[0]:
            return width.minimum(self.widths[0])
        if level > self.levels[-1]:
            return width.maximum(self.widths[-1])
        return between(self.levels, self.widths, level)

    def rows(self, index: Tensor) -> Calibrated:
        """The widths of the rows with these numbers (k,)."""
        return self if self.widths.dim() == 2 else Calibrated(self.levels, self.widths[:, index])


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The score of `class_scores` up to which a class belongs to the set, at some levels; linear in between.

    Attributes:
        levels: ascending, in (0, 1). Shape (k,).
        scores: never falling with the level. Shape (k,).
    """

    levels: Tensor
    scores: Tensor

    def __post_init__(self) -> None:
        check_ascending(self.levels)
        if self.scores.shape != self.levels.shape:
            wanted = tuple(self.levels.shape)
            raise ValueError(f"scores must have shape {wanted}, as levels have; got shape {tuple(self.scores.shape)}.")
        check_rising("scores", self.scores)

    def at(self, level: float) -> float:
        """The largest score of a class in the set: that of the lowest level below it, infinity above the highest."""
        if level > self.levels[-1]:
            return float("inf")
        return float(between(self.levels, self.scores, max(level, float(self.levels[0]))))


def conformal_widths(scores: Tensor, levels: Sequence[float]) -> Calibrated:
    """How many scales wide central intervals must be, judged by rows that were left out.

    At each level it is the ceil((n + 1) level)-th smallest of the n scores. Levels above n / (n + 1), for which n is
    too few, are left out.

    What is guaranteed depends on where the scores come from:

    - From rows that the model was not fitted to (split conformal). If they are exchangeable with that of a new row, the
      interval holds a new observation with at least the stated probability, on average over such sets of rows.
    - From rows that were left out one by one, of a model that is then fitted to all rows (the jackknife). Intervals
      hold about what they state where fits are stable, without a guarantee for any number of rows. The jackknife+ has
      one: it keeps all the fits, builds its intervals from their predictions, and holds at least 1 - 2 alpha for a
      stated 1 - alpha.

    Args:
        scores: absolute left-out residuals, each divided by its row's scale. Shape (n, m).
        levels: ascending, in (0, 1).
    """
    if scores.dim() != 2 or not len(scores):
        raise ValueError(f"scores must have shape (n, m), n at least 1; got shape {tuple(scores.shape)}.")
    kept, values = smallest(scores.abs(), levels)
    return Calibrated(kept, values)


def grouped_widths(scores: Tensor, groups: Array, levels: Sequence[float]) -> dict[Hashable, Calibrated]:
    """`conformal_widths` of each group by itself, so that what it says of coverage holds within each group.

    Groups of too few rows for any of the levels are left out.

    Args:
        scores: as for `conformal_widths`. Shape (n, m).
        groups: the group of each row. Shape (n,).
        levels: ascending, in (0, 1).
    """
    groups = np.asarray(groups)
    if groups.shape != scores.shape[:1]:
        raise ValueError(f"groups must have shape {tuple(scores.shape[:1])}; got shape {groups.shape}.")
    members = {label: torch.from_numpy(groups == label) for label in np.unique(groups).tolist()}
    enough = {label: rows for label, rows in members.items() if rank(int(rows.sum()), levels[0]) <= int(rows.sum())}
    return {label: conformal_widths(scores[rows], levels) for label, rows in enough.items()}


def mass_before(probabilities: Tensor) -> Tensor:
    """The summed probability of all classes more probable than each; of equal ones the first comes first.

    Shapes (n, classes).
    """
    falling, order = probabilities.sort(dim=1, descending=True, stable=True)
    before = torch.cat([torch.zeros_like(falling[:, :1]), falling.cumsum(1)[:, :-1]], 1)
    return torch.empty_like(before).scatter(1, order, before)


def class_scores(probabilities: Tensor, label_numbers: Tensor) -> Tensor:
    """How far down the list of classes each label stands: the summed probability of all classes more probable.

    It is the score of adaptive prediction sets without their random part, and without the label's own probability: so
    the most probable class always belongs to the set, and sets do not grow beyond their level because it does.

    Args:
        probabilities: Shape (n, classes).
        label_numbers: Shape (n,), int64.

    Returns:
        Shape (n,), in [0, 1).
    """
    return mass_before(probabilities).gather(1, label_numbers.unsqueeze(1))[:, 0]


def class_thresholds(scores: Tensor, levels: Sequence[float], weight: Tensor | None = None) -> Thresholds:
    """Which classes must be in a set to hold the label, judged by rows that were left out.

    Ranks, levels and the guarantee are those of `conformal_widths`. Of weighted rows, which have mean weight 1 here,
    the score of a rank is the first whose row and all rows of smaller scores weigh at least as much as the rank.

    Args:
        scores: of `class_scores` at rows that were left out. Shape (n,).
        levels: ascending, in (0, 1).
        weight: of the rows, none below 0; None for equal ones. Shape (n,).
    """
    if scores.dim() != 1 or not len(scores):
        raise ValueError(f"scores must have shape (n,), n at least 1; got shape {tuple(scores.shape)}.")
    if weight is None:
        return Thresholds(*smallest(scores, levels))
    kept, _ = smallest(scores, levels)
    falling, order = scores.double().sort()
    reached = weight[order].cumsum(0) * (len(scores) / weight.sum())
    ranks = (len(scores) + 1) * kept - ROUNDING
    return Thresholds(kept, falling[torch.searchsorted(reached, ranks).clamp_max(len(scores) - 1)])


def rank(n: int, level: float) -> int:
    """Which of n scores, counted from the smallest, a level asks for."""
    return int(np.ceil((n + 1) * level - ROUNDING))


def smallest(scores: Tensor, levels: Sequence[float]) -> tuple[Tensor, Tensor]:
    """The levels that n allows, and the scores (n, ...) of their ranks, in order."""
    n = len(scores)
    check_ascending(torch.tensor(levels, dtype=torch.float64))
    if not bool(scores.isfinite().all()):
        raise ValueError("scores must be finite; got a score that is not. Leave such rows out.")
    kept = [level for level in levels if rank(n, level) <= n]
    if not kept:
        raise ValueError(
            f"levels must be at most n / (n + 1) = {n / (n + 1):.3g} for {n} scores; got {levels[0]:g} and higher. "
            "Take lower levels or more rows."
        )
    ranks = torch.tensor([rank(n, level) - 1 for level in kept])
    return torch.tensor(kept, dtype=torch.float64), scores.double().sort(0).values[ranks]


def between(levels: Tensor, values: Tensor, level: float) -> Tensor:
    """Values (k, ...) at a level within the levels (k,), linear between them."""
    above = int(torch.searchsorted(levels, level))
    if levels[above] == level:
        return values[above]
    share = (level - levels[above - 1]) / (levels[above] - levels[above - 1])
    return values[above - 1] + share * (values[above] - values[above - 1])


def check_ascending(levels: Tensor) -> None:
    """Refuse levels that are none, or not in order."""
    if levels.dim() != 1 or not len(levels):
        raise ValueError(f"levels must have shape (k,), k at least 1; got shape {tuple(levels.shape)}.")
    for level in levels.tolist():
        check_level(level, "levels")
    if not bool((levels.diff() > 0).all()):
        raise ValueError(f"levels must ascend; got {levels.tolist()}. Sort them, each once.")


def check_rising(name: str, values: Tensor) -> None:
    """Refuse values (k, ...) that fall somewhere, are negative or not finite."""
    if not bool(values.isfinite().all() & (values >= 0).all() & (values.diff(dim=0) >= 0).all()):
        raise ValueError(f"{name} must be finite, at least 0 and never fall with the level; got {values.tolist()}.")
