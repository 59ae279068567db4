"""How the error of a fitted estimator grows with the radius: what is proven and what an attack reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from torch import Tensor

from polyladder.fitted.model import AnyModel
from polyladder.renamed import renamed
from polyladder.robustness.attack import attack
from polyladder.robustness.table_model import read_estimator
from polyladder.training.threads import small_on_one_thread


@dataclass(frozen=True)
class RobustnessCurve:
    """Errors over radii. The true worst error lies between what was attacked and what is certified.

    Attributes:
        radii: parts of each column's training range.
        certified: an error that no attack can exceed, for each radius.
        attacked: the error that was reached.
        measure: "error rate" of classes, or "mean absolute error" of numbers.
    """

    radii: tuple[float, ...]
    certified: tuple[float, ...]
    attacked: tuple[float, ...]
    measure: Literal["error rate", "mean absolute error"]


@renamed("restarts", estimator="model", X="x")
@small_on_one_thread
def robustness_curve(model: AnyModel, x: Any, y: Any, radii: Sequence[float], *, restarts: int = 2) -> RobustnessCurve:
    """Certified and attacked error of a fitted estimator over several radii.

    Args:
        model: a fitted estimator with one polynomial behind it.
        x: rows of its table.
        y: their labels or numbers.
        radii: parts of each column's training range.
        restarts: starts of the attack for each row.
    """
    classes = read_estimator(model).labels is not None
    if not len(radii):
        raise ValueError("radii must hold at least one number; got none.")
    certified, attacked = [], []
    for radius in radii:
        found = attack(model, x, y, float(radius), restarts=restarts)
        assert found.bound is not None
        certified.append(summary(found.bound, classes))
        attacked.append(summary(found.value, classes))
    return RobustnessCurve(
        tuple(float(r) for r in radii),
        tuple(certified),
        tuple(attacked),
        "error rate" if classes else "mean absolute error",
    )


def summary(values: Tensor, classes: bool) -> float:
    """The share of rows whose margin is lost, or the mean distance from the target."""
    # A tie counts as lost.
    return float((values >= 0).double().mean() if classes else values.mean())


def default_radii(largest: float = 0.1, count: int = 6) -> list[float]:
    """Evenly spaced radii from 0 on."""
    return [float(r) for r in np.linspace(0.0, largest, count)]
