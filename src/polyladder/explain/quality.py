"""How good a fitted estimator is: predictions against observations, error bands, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyladder.fitted.answers import Draws, Numbers
from polyladder.fitted.model import FittedModel
from polyladder.predictive.calibration import (
    Reliability,
    class_reliability,
    interval_reliability,
    predictive_reliability,
)

Array = np.ndarray[Any, Any]

KEPT = 2000
"""Rows of a chart; what is computed from rows is computed from all of them."""

BINS = 10
"""Bins of a reliability diagram."""

TENTHS = tuple(p / 10 for p in range(1, 10))
"""Stated probabilities at which intervals are looked at, where a card says nothing of them."""


@dataclass(frozen=True)
class Quality:
    """Rows whose targets are known.

    Attributes:
        label: which rows they are.
        observed: numbers (n, m), or class numbers (n,).
        predicted: as observed.
        probability: of each class (n, classes), where the target is one.
        intervals: how often intervals hold what was observed, where the model states some.
    """

    label: str
    observed: Array
    predicted: Array
    probability: Array | None = None
    intervals: Reliability | None = None

    def json(self) -> dict[str, Any]:
        """For the page: scores of all rows, and some of the rows for charts."""
        keep = slice(None, None, math.ceil(len(self.observed) / KEPT))
        found = {
            "label": self.label,
            "rows": len(self.observed),
            "observed": self.observed[keep].T.tolist(),
            "predicted": self.predicted[keep].T.tolist(),
        }
        if self.observed.ndim == 1:
            classes = 1 + int(max(self.observed.max(), self.predicted.max()))
            table = np.zeros((classes, classes), dtype=int)
            np.add.at(table, (self.observed, self.predicted), 1)
            return found | {"error": float((self.observed != self.predicted).mean()), "confusion": table.tolist()}
        residual = self.observed - self.predicted
        spread = self.observed.var(0)
        return found | {
            "rmse": np.sqrt((residual**2).mean(0)).tolist(),
            "r2": [1 - float((r**2).mean()) / v if v > 0 else None for r, v in zip(residual.T, spread, strict=True)],
        }


def qualities(model: FittedModel, rows: Any, target: Any) -> list[Quality]:
    """What is known: held-out rows of the card, and the rows given with their target."""
    found = []
    held_out = model.card.get("held_out")
    if held_out and len(held_out["observed"]):
        observed, predicted = (as_target(model, held_out[name]) for name in ("observed", "predicted"))
        probability = held_out.get("probability")
        stated = None if probability is None else np.asarray(probability, dtype=np.float64)
        found.append(Quality("held-out rows", observed, predicted, stated))
    if target is not None:
        if rows is None:
            raise ValueError("target must come with rows; got rows=None. Pass the rows that it was observed for.")
        observed = as_target(model, target)
        if len(observed) != len(rows):
            raise ValueError(f"target must have one entry per row; got {len(observed)} for {len(rows)} rows.")
        found.append(predicted_quality(model, rows, observed))
    return found


def predicted_quality(model: FittedModel, rows: Any, observed: Array) -> Quality:
    """What the model says of rows whose targets are known; it looks at them once."""
    label = "the rows given"
    if model.labels is not None:
        stated = model.predict_proba(rows)
        return Quality(label, observed, stated.argmax(1), stated)
    if isinstance(model.answer, Draws):
        mixture = model.distribution(rows)
        curve = interval_reliability(mixture.distribution(torch.tensor(observed)), TENTHS)
        return Quality(label, observed, mixture.median().numpy(), intervals=curve)
    if has_spread(model):
        said = model.predict_distribution(rows)
        curve = predictive_reliability(said, observed.reshape(said.mean.shape), TENTHS)
        return Quality(label, observed, said.mean.reshape(observed.shape), intervals=curve)
    return Quality(label, observed, as_target(model, model.predict(rows)))


def has_spread(model: FittedModel) -> bool:
    """Whether a model of numbers has learned how far new observations lie from its predictions."""
    return isinstance(model.answer, Numbers) and model.answer.spread is not None


def as_target(model: FittedModel, values: Any) -> Array:
    """Numbers as (n, m), classes as their numbers (n,)."""
    if model.labels is None:
        numbers = np.asarray(values, dtype=np.float64)
        return numbers.reshape(len(numbers), -1)
    # A card holds classes as text, whatever they were.
    known = {str(c): i for i, c in enumerate(model.labels)}
    listed = [str(v) for v in np.asarray(values).ravel().tolist()]
    unknown = sorted(set(listed) - set(known))
    if unknown:
        raise ValueError(f"target must hold the classes {list(known)}; got {unknown[0]!r}.")
    return np.array([known[v] for v in listed], dtype=np.intp)


def bands(model: FittedModel, shown: list[Quality], level: int) -> dict[str, Any]:
    """Where the error band comes from: draws, a spread, residuals of held-out rows or of the rows given, or nowhere."""
    if model.labels is not None:
        return {"kind": None}
    if model.answer.by_member:
        return {"kind": "draws"}
    if has_spread(model):
        return {"kind": "spread"}
    if not shown:
        return {"kind": None}
    half = model.card.get("residual_quantiles", {}).get(str(level))
    if half is not None:
        return {"kind": "residuals", "half": [float(half)], "source": "held-out rows"}
    rows = shown[-1]
    sizes = np.sort(np.abs(rows.observed - rows.predicted), axis=0)
    rank = min(math.ceil((len(sizes) + 1) * level / 100), len(sizes))
    return {"kind": "residuals", "half": sizes[rank - 1].tolist(), "source": rows.label}


def calibration(model: FittedModel, shown: list[Quality]) -> dict[str, Any] | None:
    """Stated against actual: how often a class of stated probability is there, or an interval holds its target.

    What the card says of held-out rows comes before the rows given.
    """
    held_out = card_coverage(model)
    if held_out is not None:
        return curve_json("intervals", "held-out rows", held_out)
    for quality in shown:
        if quality.intervals is not None:
            return curve_json("intervals", quality.label, quality.intervals)
        if quality.probability is not None:
            return curve_json("classes", quality.label, class_curve(quality.probability, quality.observed))
    return None


def card_coverage(model: FittedModel) -> Reliability | None:
    """How often intervals hold what was observed at held-out rows, as the card has it."""
    scores = model.card.get("scores")
    found, rows = (scores[0].get("coverage"), scores[0].get("scored")) if scores else (None, None)
    if not found or not rows:
        return None
    points = sorted((int(percent) / 100, share) for percent, share in found.items())
    stated, actual = torch.tensor(points, dtype=torch.float64).T
    return Reliability(stated, actual, torch.full_like(stated, float(rows)))


def class_curve(probability: Array, observed: Array) -> Reliability:
    """How often a class is there, by its stated probability: the second of two classes, else the likeliest one.

    Args:
        probability: of each class. Shape (n, classes).
        observed: class numbers. Shape (n,).
    """
    return class_reliability(probability[:, 1] if probability.shape[1] == 2 else probability, observed, BINS)


def curve_json(kind: str, label: str, curve: Reliability) -> dict[str, Any]:
    """Points (stated, actual, rows) of a reliability curve, those without rows left out."""
    points = zip(curve.stated.tolist(), curve.actual.tolist(), curve.rows.tolist(), strict=True)
    return {"kind": kind, "label": label, "points": [[s, a, int(n)] for s, a, n in points if n]}
