"""How good a fitted estimator is: predictions against observations, error bands, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]

KEPT = 2000
"""Rows of a chart; what is computed from rows is computed from all of them."""

BINS = 10
"""Bins of a reliability diagram."""


@dataclass(frozen=True)
class Quality:
    """Rows whose targets are known.

    Attributes:
        label: which rows they are.
        observed: numbers (n, m), or class numbers (n,).
        predicted: as observed.
        probability: of each class (n, classes), where the target is one.
    """

    label: str
    observed: Array
    predicted: Array
    probability: Array | None = None

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


def qualities(estimator: Any, rows: Any, target: Any) -> list[Quality]:
    """What is known: held-out rows of the card, and the rows given with their target."""
    found = []
    held_out = (getattr(estimator, "card_", None) or {}).get("held_out")
    if held_out and len(held_out["observed"]):
        probability = held_out.get("probability")
        found.append(
            Quality(
                "held-out rows",
                as_target(estimator, held_out["observed"]),
                as_target(estimator, held_out["predicted"]),
                None if probability is None else np.asarray(probability, dtype=np.float64),
            )
        )
    if target is not None:
        observed = as_target(estimator, target)
        if len(observed) != len(rows):
            raise ValueError(f"target must have one entry a row; got {len(observed)} for {len(rows)} rows.")
        probability = estimator.predict_proba(rows) if hasattr(estimator, "classes_") else None
        found.append(Quality("the rows given", observed, as_target(estimator, estimator.predict(rows)), probability))
    return found


def as_target(estimator: Any, values: Any) -> Array:
    """Numbers as (n, m), classes as their numbers (n,)."""
    if not hasattr(estimator, "classes_"):
        numbers = np.asarray(values, dtype=np.float64)
        return numbers.reshape(len(numbers), -1)
    # A card holds classes as text, whatever they were.
    known = {str(c): i for i, c in enumerate(estimator.classes_)}
    listed = [str(v) for v in np.asarray(values).ravel().tolist()]
    unknown = sorted(set(listed) - set(known))
    if unknown:
        raise ValueError(f"target must hold the classes {list(known)}; got {unknown[0]!r}.")
    return np.array([known[v] for v in listed], dtype=np.intp)


def bands(estimator: Any, shown: list[Quality], level: int) -> dict[str, Any]:
    """Where the error band comes from: posterior draws, held-out residuals, residuals of the rows given, or nowhere."""
    if hasattr(estimator, "classes_"):
        return {"kind": None}
    if hasattr(estimator, "posterior_"):
        return {"kind": "draws"}
    if not shown:
        return {"kind": None}
    half = (getattr(estimator, "card_", None) or {}).get("residual_quantiles", {}).get(str(level))
    if half is not None:
        return {"kind": "residuals", "half": [float(half)], "source": "held-out rows"}
    rows = shown[-1]
    sizes = np.sort(np.abs(rows.observed - rows.predicted), axis=0)
    rank = min(math.ceil((len(sizes) + 1) * level / 100), len(sizes))
    return {"kind": "residuals", "half": sizes[rank - 1].tolist(), "source": rows.label}


def calibration(estimator: Any, shown: list[Quality], rows: Any, target: Any) -> dict[str, Any] | None:
    """Stated against actual: how often a class of stated probability is there, or an interval holds its target."""
    if hasattr(estimator, "posterior_") and not hasattr(estimator, "classes_"):
        return None if target is None else coverage(estimator, rows, as_target(estimator, target))
    for quality in shown:
        if quality.probability is not None:
            return reliability(quality)
    return None


def reliability(quality: Quality) -> dict[str, Any]:
    """Points (mean stated probability, actual share, rows): of the second of two classes, of the likeliest of many."""
    assert quality.probability is not None
    two = quality.probability.shape[1] == 2
    stated = quality.probability[:, 1] if two else quality.probability.max(1)
    actual = quality.observed == (1 if two else quality.probability.argmax(1))
    place = np.minimum((stated * BINS).astype(int), BINS - 1)
    points = [
        [float(stated[place == b].mean()), float(actual[place == b].mean()), int((place == b).sum())]
        for b in range(BINS)
        if (place == b).any()
    ]
    return {"kind": "classes", "label": quality.label, "points": points}


def coverage(estimator: Any, rows: Any, observed: Array) -> dict[str, Any]:
    """Points (stated level, share of targets inside the central interval of that level, rows) of a posterior."""
    below = estimator._mixture(rows).distribution(torch.tensor(observed)).numpy()
    inside = np.abs(2 * below - 1)
    points = [[p / 100, float((inside <= p / 100).mean()), int(inside.size)] for p in range(10, 100, 10)]
    return {"kind": "intervals", "label": "the rows given", "points": points}
