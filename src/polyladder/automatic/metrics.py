"""How well a model did on rows that it did not see."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyladder.explain.quality import class_curve, has_spread
from polyladder.fitted.answers import Draws
from polyladder.fitted.model import FittedModel
from polyladder.predictive.calibration import predictive_reliability

if TYPE_CHECKING:
    from polyladder.automatic.card import DistributionScore, HeldOut, Score

FEW_ROWS = 20
"""A class with fewer rows than this can hardly be judged."""

RARE = 0.02
"""A class with a smaller share than this is easily ignored by a model."""


SCORED_DRAWS = 60_000
"""Draws times held-out rows, evenly picked, at which a posterior is scored, at most: about 5 seconds. Raised, scores
are of more rows and take longer."""


def judged(name: str, model: Any, X: Any, y: NDArray[Any], seconds: float, task: str) -> tuple[Score, HeldOut]:
    """The scores of a fitted model on rows that it did not see, and its predictions."""
    from sklearn.metrics import r2_score, root_mean_squared_error

    score: Score = {"model": name, "seconds": seconds}
    if task == "regression":
        predicted = model.predict(X)
        score["rmse"] = float(root_mean_squared_error(y, predicted))
        score["r2"] = float(r2_score(y, predicted)) if len(y) > 1 else math.nan
        return score, {"observed": y.tolist(), "predicted": predicted.tolist()}
    probability = model.predict_proba(X)
    predicted = model.classes_[probability.argmax(1)]
    return (
        score | class_scores(y, probability, model.classes_),  # type: ignore[return-value]
        {"observed": y.tolist(), "predicted": predicted.tolist(), "probability": probability.tolist()},
    )


def row_losses(held_out: HeldOut, classes: NDArray[Any] | None) -> NDArray[np.float64]:
    """Squared error of each row, or its log loss. Shape (n,).

    Args:
        held_out: what was observed and predicted.
        classes: in the order of the probabilities; None for numbers.
    """
    if classes is None:
        return np.square(np.subtract(held_out["predicted"], held_out["observed"]))
    place = {label: k for k, label in enumerate(classes.tolist())}
    given = [
        p[place[label]] if label in place else 0.0
        for label, p in zip(held_out["observed"], held_out["probability"], strict=True)
    ]
    return np.asarray(-np.log(np.maximum(given, np.finfo(float).eps)))


def distribution_scores(model: FittedModel, rows: Any, y: NDArray[Any]) -> DistributionScore:
    """How good the distributions of a model of numbers are on rows that it did not see; empty where it has none.

    Args:
        model: fitted.
        rows: of its table. Shape (n, columns).
        y: what was observed there. Shape (n,).
    """
    posterior = isinstance(model.answer, Draws)
    if not posterior and not has_spread(model):
        return {}
    table = model.read(rows)
    if posterior:
        some = np.arange(0, len(y), math.ceil(len(y) * len(model.ladders) / SCORED_DRAWS))
        table, y = table.take(some), y[some]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is strange about the rows was said when they were predicted
        said = model.predict_distribution(table)
    curve = predictive_reliability(said, y)
    percents = [f"{round(100 * stated)}" for stated in curve.stated.tolist()]
    low, high = said.interval(0.9)
    return {
        "crps": float(said.crps(y).mean()),
        "log_likelihood": float(said.log_likelihood(y).mean()),
        "coverage": dict(zip(percents, curve.actual.tolist(), strict=True)),
        "half_width": float(np.median(high - low) / 2),
        "scored": len(y),
    }


def class_scores(y: NDArray[Any], probability: NDArray[Any], classes: NDArray[Any]) -> dict[str, float]:
    """Error, log loss, area under the ROC curve, average precision, F1 and expected calibration error.

    Of two classes the second is the one to be found; of several, each is against the others, and the mean over those
    that occur is given.

    Args:
        y: the classes observed. Shape (n,).
        probability: of each class. Shape (n, classes).
        classes: in the order of the probabilities.
    """
    from sklearn.metrics import average_precision_score, f1_score, log_loss, roc_auc_score

    predicted = classes[probability.argmax(1)]
    wanted = classes[1:] if len(classes) == 2 else classes
    columns = range(len(classes) - len(wanted), len(classes))
    areas, precisions, f1 = [], [], []
    for label, k in zip(wanted, columns, strict=True):
        there = y == label
        if there.any() and not there.all():
            areas.append(roc_auc_score(there, probability[:, k]))
            precisions.append(average_precision_score(there, probability[:, k]))
        f1.append(f1_score(there, predicted == label, zero_division=0.0))
    found = {"error": np.mean(predicted != y), "log_loss": log_loss(y, probability, labels=classes)}
    place = {label: k for k, label in enumerate(classes.tolist())}
    curve = class_curve(probability, np.array([place[label] for label in y.tolist()]))
    # A single class among the rows has no curve to look at.
    if areas:
        found |= {"auc": np.mean(areas), "average_precision": np.mean(precisions)}
    found |= {"f1": np.mean(f1), "calibration_error": curve.error}
    return {name: float(value) for name, value in found.items()}


def confusion(held_out: HeldOut, classes: list[Any]) -> list[list[int]]:
    """How many rows of each class (line) were predicted as each class (column)."""
    place = {str(label): i for i, label in enumerate(classes)}
    table = [[0] * len(classes) for _ in classes]
    for observed, predicted in zip(held_out["observed"], held_out["predicted"], strict=True):
        table[place[str(observed)]][place[str(predicted)]] += 1
    return table


def class_counts(y: NDArray[Any]) -> dict[str, int]:
    """How many rows each class has."""
    classes, counts = np.unique(y, return_counts=True)
    return {str(label): int(count) for label, count in zip(classes, counts, strict=True)}


def balance_notes(y: NDArray[Any]) -> list[str]:
    """A sentence about classes with few rows, if there are any."""
    counts = class_counts(y)
    few = [f"{label} ({count})" for label, count in counts.items() if count < FEW_ROWS]
    if few:
        return [f"Few rows of {', '.join(few[:5])}{', ...' if len(few) > 5 else ''}: judge these classes with care."]
    rare = [f"{label} ({count / len(y):.1%})" for label, count in counts.items() if count < RARE * len(y)]
    return [f"Rare: {', '.join(rare[:5])}. --balance counts classes equally."] if rare else []
