"""What was tried and what each part counts: the record that a fitted estimator keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """A model that was tried.

    Attributes:
        model: "constant", "linear", "kernel" (directions through training rows) or "ladder" (fitted directions).
        features: how columns of numbers were scaled; "piecewise" has ramps as well.
        order: of the polynomial.
        error: on rows that were left out of its fit: the mean loss, of squares the share of the variance.
        weight: in the final sum.
    """

    model: str
    features: str
    order: int
    error: float
    weight: float

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        if self.model == "constant":
            return "constant"
        order = "" if self.model == "linear" else f" of order {self.order}"
        return f"{self.model}{order}, {self.features} features"


@dataclass(frozen=True)
class Selection:
    """How a model was chosen.

    Attributes:
        measure: what ``error`` is, as the loss calls its mean: "share of variance", "log loss" or "Huber loss".
        candidates: all that were tried, in order.
        error: of the weighted sum, on rows that were left out.
        rows: how many different rows the choice was made on.
        folds: how many folds classes and ladders were fitted on; every kernel leaves out row after row. 1 where classes
            have so many rows that one part of them was held out.
        compact: what became of the try to put one small ladder in the place of the sum, in a sentence; empty where none
            was made.
        compact_order: the order of that ladder; None where the sum was kept.
        factor: what the scores of a sum of classes were multiplied by, so that the rows left out were as probable as
            can be. ``error`` is that of the multiplied scores.
    """

    measure: str
    candidates: tuple[Candidate, ...]
    error: float
    rows: int
    folds: int
    compact: str = ""
    compact_order: int | None = None
    factor: float = 1.0

    @property
    def winner(self) -> Candidate:
        """The candidate that counts most."""
        return max(self.candidates, key=lambda each: each.weight)

    @property
    def floor(self) -> str:
        """Where nothing beyond it counts, "constant" or "linear"; else empty."""
        orders = [each.order for each in self.candidates if each.weight > 0]
        return {0: "constant", 1: "linear"}.get(max(orders, default=0), "")

    @property
    def order_path(self) -> list[tuple[int, float]]:
        """The lowest error of each order that was tried."""
        best: dict[int, float] = {}
        for each in self.candidates:
            if each.model != "constant":
                best[each.order] = min(each.error, best.get(each.order, each.error))
        return sorted(best.items())

    @property
    def kinds(self) -> list[Candidate]:
        """Candidates that are called alike as one, with the least of their errors and the sum of their weights."""
        found: dict[str, Candidate] = {}
        for each in self.candidates:
            one = found.get(each.words, replace(each, weight=0.0))
            found[each.words] = replace(one, error=min(one.error, each.error), weight=one.weight + each.weight)
        return list(found.values())

    @property
    def facts(self) -> dict[str, Any]:
        """What a card and a page say of it."""
        names = ("model", "features", "order", "error", "weight")
        kinds = [{name: vars(each)[name] for name in names} for each in self.kinds]
        # A line is held as a ladder of order 2: the order that counts is the highest among the candidates that do.
        counting = [each.order for each in self.candidates if each.weight > 0]
        return {
            "order_path": self.order_path,
            "candidates": {"measure": self.measure, "tried": len(self.candidates), "kinds": kinds},
            **({"order": self.compact_order or max(counting)} if counting else {}),
            **({"compact": self.compact} if self.compact else {}),
        }

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        used = sorted((c for c in self.kinds if c.weight > 0), key=lambda c: -c.weight)
        listed = "; ".join(f"{c.weight:.2f} of {c.words}" for c in used) or "nothing beyond the mean"
        return (
            f"Stacked from {len(self.candidates)} candidates by their predictions of "
            f"left-out rows among {self.rows:,}: {listed}.{self.tempered}"
        )

    @property
    def tempered(self) -> str:
        """What was done to the scores of classes, in a sentence behind others; empty where that is nothing."""
        if self.factor == 1:
            return ""
        sure = "too sure" if self.factor < 1 else "not sure enough"
        return f" Scores were multiplied by {self.factor:.2f}: the probabilities of rows left out were {sure}."
