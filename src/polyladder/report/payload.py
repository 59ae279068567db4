"""What the page carries: weights, features, densities, scores. Everything is plain JSON; numbers in bulk are base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.data.features import Features
from polyladder.estimators.base import GUARD
from polyladder.estimators.bayesian import SUREST
from polyladder.estimators.store import versions
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.report.columns import Column, dense_features, table_columns, values_of
from polyladder.report.quality import bands, calibration, qualities
from polyladder.report.strength import strengths
from polyladder.report.terms import largest_terms
from polyladder.training.noise import TILT
from polyladder.training.probit import NODES

Json = dict[str, Any]

LEVEL = 90
"""Percentage of the error band."""

KEPT_ROWS = 300
"""Rows that are carried as examples."""


def payload(estimator: Any, rows: Any = None, target: Any = None) -> Json:
    """Everything that a page about a fitted estimator needs.

    Args:
        estimator: fitted, with a polynomial behind it; of a grid search the best one is taken.
        rows: rows of the same table, if there are any to show. Shape (n, d).
        target: what was observed for them. Shape (n,) or (n, m).
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    check_is_fitted(estimator)
    if target is not None and rows is None:
        raise ValueError("target must come with rows; got rows=None. Pass the rows that it was observed for.")
    features, ladders, card = dense_features(estimator), ladders_of(estimator), getattr(estimator, "card_", None) or {}
    columns = table_columns(estimator, rows)
    table = None if rows is None else estimator._read_table(rows, fresh=False)
    shown = qualities(estimator, rows, target)
    return {
        "target": str(card.get("target", "prediction")),
        "unit": card.get("unit"),
        "estimator": type(estimator).__name__,
        "posterior": hasattr(estimator, "posterior_"),
        "rule": rule_of(estimator),
        "outputs": output_names(estimator, ladders.out_features),
        "columns": [column_json(features, column) for column in columns],
        "model": model_json(ladders, estimator),
        "band": {"level": LEVEL, **bands(estimator, shown, LEVEL)},
        "range": target_range(estimator),
        "strengths": strengths(estimator, ladders, columns, None if table is None else features.transform_table(table)),
        "rows": [] if table is None else example_rows(features, columns, table),
        "quality": [quality.json() for quality in shown],
        "calibration": calibration(estimator, shown, rows, target),
        "order_path": order_path(estimator, card),
        "formula": largest_terms(estimator, ladders),
        "card": card_json(estimator, card, ladders),
    }


def ladders_of(estimator: Any) -> LadderPolynomial:
    """The ladders whose mean or median the estimator predicts, in units of the target. ``batch_shape`` (draws,)."""
    if hasattr(estimator, "posterior_"):
        found = estimator._in_target_units(estimator.posterior_.weights)
    elif isinstance(getattr(estimator, "members_", None), LadderPolynomial):
        # The members, not the wide ladder of their mean: that is mostly zeros.
        found = estimator._in_target_units(estimator.members_)
    else:
        found = getattr(estimator, "polynomial_", None)
    if not isinstance(found, LadderPolynomial):
        raise TypeError(
            f"estimator must have a ladder behind it to be carried by a page; got {type(estimator).__name__}. "
            "Use LPNNRegressor or LPNNClassifier."
        )
    single = found if found.batch_shape else found.map(lambda t: t.unsqueeze(0))
    return single.to("cpu", torch.float64).map(Tensor.detach)


def rule_of(estimator: Any) -> Json:
    """How the outputs of the ladders become a prediction."""
    if hasattr(estimator, "classes_"):
        return {"task": "classification", "guard": None, **class_rule(estimator)}
    guard = None
    if estimator.guard:
        low, high = guard_range(estimator)
        guard = {"low": low.tolist(), "high": high.tolist()}
    return {
        "task": "regression",
        "combine": "median" if hasattr(estimator, "posterior_") else "mean",
        "guard": guard,
    }


def class_rule(estimator: Any) -> Json:
    """Posterior draws have a probability each (probit); scores are averaged first and have one together."""
    if hasattr(estimator, "posterior_"):
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        shares = weights / weights.sum()
        return {"combine": "draws", "surest": SUREST, "nodes": packed(nodes), "weights": packed(shares)}
    apart = len(estimator.classes_) > 2 and getattr(estimator, "multiclass", "softmax") != "softmax"
    return {"combine": "mean", "link": "one-versus-rest" if apart else "softmax"}


def guard_range(estimator: Any) -> tuple[Tensor, Tensor]:
    """The range that guarded predictions are held to. Shapes (m,)."""
    margin = GUARD * (estimator.target_high_ - estimator.target_low_)
    return estimator.target_low_ - margin, estimator.target_high_ + margin


def target_range(estimator: Any) -> list[list[float]] | None:
    """Smallest and largest training target of each output; None for classes."""
    if hasattr(estimator, "classes_"):
        return None
    return [list(pair) for pair in zip(estimator.target_low_.tolist(), estimator.target_high_.tolist(), strict=True)]


def output_names(estimator: Any, outputs: int) -> list[str]:
    """What can be shown: the classes, or the outputs."""
    if hasattr(estimator, "classes_"):
        return [str(c) for c in estimator.classes_]
    return ["prediction"] if outputs == 1 else [f"output {i + 1}" for i in range(outputs)]


def packed(values: Any) -> str:
    """Numbers as base64 of little-endian float64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def model_json(ladders: LadderPolynomial, estimator: Any) -> Json:
    """The weights, draw after draw: W, b, V, c of each layer, then readout and offset."""
    layers = [t for layer in ladders.layers() for t in layer]
    weights = torch.cat([t.flatten(1) for t in (*layers, ladders.readout, ladders.offset)], 1)
    return {
        "draws": len(ladders),
        "inputs": ladders.in_features,
        "hidden": list(ladders.hidden),
        "outputs": ladders.out_features,
        "weights": packed(weights),
        "noise": noise_json(estimator),
    }


def noise_json(estimator: Any) -> Json | None:
    """The noise of every draw, in units of the target; None where there are no draws or no noise."""
    if not hasattr(estimator, "posterior_") or hasattr(estimator, "classes_"):
        return None
    posterior = estimator.posterior_
    return {
        "scales": packed(posterior.noise * estimator.target_scale_),
        "degrees": packed(posterior.degrees),
        "slopes": packed(posterior.slopes),
        "tilt": TILT,
    }


def column_json(features: Features, column: Column) -> Json:
    """A column with its transform."""
    found: Json = {"name": column.name, "kind": column.kind, "unit": column.unit}
    if column.kind == "category":
        names = ["missing" if c is None else c for c in column.categories]
        found |= {"at": column.at, "categories": names, "start": column.categories.index(column.typical)}
    if column.kind == "numeric":
        found |= {
            "at": column.at,
            "flag": column.flag,
            "fill": column.fill,
            "low": column.low,
            "high": column.high,
            "start": column.typical,
            "clip": bool(features.clip),
            "mean": float(features.scaler_.mean_[column.at]),
            "scale": float(features.scaler_.scale_[column.at]),
            "shape": features.kind,
        }
        if features.shaper_ is not None and features.kind == "quantile":
            knots = features.shaper_.quantiles_[:, column.at]
            found |= {"knots": packed(knots), "levels": packed(features.shaper_.references_)}
        elif features.shaper_ is not None:
            found["lambda"] = float(features.shaper_.lambdas_[column.at])
    if column.counts:
        found["density"] = {"edges": list(column.edges), "counts": list(column.counts)}
    return found


def example_rows(features: Features, columns: Sequence[Column], table: Any) -> list[list[Any]]:
    """Some rows of the table, evenly picked; categories by position, -1 for those that training did not see."""
    n = len(table.numbers)
    picked = np.unique(np.linspace(0, n - 1, min(n, KEPT_ROWS)).round().astype(int))
    return [
        [
            (column.categories.index(v) if v in column.categories else -1) if column.kind == "category" else v
            for column, v in zip(columns, row, strict=True)
        ]
        for row in values_of(features, columns, table.take(picked))
    ]


def order_path(estimator: Any, card: Json) -> list[list[float]]:
    """Held-out error of each order that was tried, from the card or from the walk of ``order="auto"``."""
    if card.get("order_path"):
        return [list(pair) for pair in card["order_path"]]
    growth = getattr(estimator, "growth_", None)
    return [] if growth is None else [list(pair) for pair in zip(growth.orders, growth.errors, strict=True)]


def card_json(estimator: Any, card: Json, ladders: LadderPolynomial) -> Json:
    """The model card's facts, as far as they are known."""
    return {
        "rows": card.get("rows"),
        "scores": card.get("scores", []),
        "settings": card.get("settings") or {k: str(v) for k, v in estimator.get_params(deep=False).items()},
        "seed": card.get("seed"),
        "versions": card.get("versions") or versions(),
        "created": card.get("created"),
        "source": card.get("source"),
        "order": ladders.order,
        "widths": list(ladders.hidden),
        "ladders": len(ladders),
        "weights": ladders.n_weights,
        "solver": getattr(estimator, "solver_", None),
    }
