"""What the page carries: weights, features, densities, scores. Everything is plain JSON; numbers in bulk are base64."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from polyladder.estimators.bayesian import SUREST
from polyladder.estimators.posterior import Posterior
from polyladder.estimators.store import versions
from polyladder.estimators.targets import ClassTarget, NumberTarget
from polyladder.explain.baseline import training_mean
from polyladder.explain.columns import Column, values_of
from polyladder.explain.fitted import FittedModel, read_model, target_names
from polyladder.explain.quality import bands, calibration, qualities
from polyladder.explain.strengths import Strengths, spread_rows, stored, strengths
from polyladder.explain.terms import Formula, formulas, term_count
from polyladder.explain.typical import typical_row
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.trim import trim
from polyladder.tables.dates import DAYS, SHARES_OF_DAY
from polyladder.tables.features import Features
from polyladder.training.bayes.noise import TILT
from polyladder.training.bayes.probit import NODES

Json = dict[str, Any]

LEVEL = 90
"""Percentage of the error band."""

PAIRS = 10
"""Interactions that are listed."""

KEPT_ROWS = 300
"""Rows that are carried as examples."""

WHOLE = 60
"""A formula of up to this many terms is shown whole ..."""

LARGEST = 16
"""... and of a longer one this many, the largest; the others are bounded."""


def payload(estimator: Any, rows: Any = None, target: Any = None) -> Json:
    """Everything that a page about a fitted estimator needs.

    Args:
        estimator: fitted, with a polynomial behind it; of a grid search the best one is taken.
        rows: rows of the same table, if there are any to show. Shape (n, d).
        target: what was observed for them. Shape (n,) or (n, m).
    """
    model = read_model(estimator, rows)
    # Read once, and transformed once, for the predictions.
    table = None if rows is None else model.estimator.read_table(rows)
    shown = qualities(model, table, target)
    # What the card says of all training rows is not worked out again over the rows at hand.
    known = stored(model.card, [column.name for column in model.columns]) is not None
    some = None if known or table is None else model.estimator.inputs(table.take(spread_rows(len(table))))
    found = strengths(model, some)
    return {
        "target": model.target_name,
        "unit": model.card.get("unit"),
        "estimator": type(model.estimator).__name__,
        "posterior": model.posterior is not None,
        "rule": rule_of(model),
        "outputs": choices_of(model),
        "written": model.card.get("target_written"),
        "columns": columns_json(model, table),
        "way": way_json(model),
        "model": model_json(model),
        "band": {"level": LEVEL, **bands(model, shown, LEVEL)},
        "range": target_range(model),
        "strengths": strengths_json(model, found),
        "rows": [] if table is None else example_rows(model, table),
        "quality": [quality.json() for quality in shown],
        "calibration": calibration(model, shown),
        "order_path": order_path(model),
        "candidates": candidates(model),
        "order_note": (model.card.get("selection") or {}).get("order_note", ""),
        "formula": [] if model.posterior is not None else formula_json(model),
        "card": card_json(model),
    }


def rule_of(model: FittedModel) -> Json:
    """How the outputs of the ladders become a prediction."""
    if isinstance(model.target, ClassTarget):
        return {"task": "classification", "guard": None, **class_rule(model)}
    guard = None
    if model.guard_range is not None:
        low, high = model.guard_range
        guard = {"low": low.tolist(), "high": high.tolist()}
    return {"task": "regression", "combine": "mean" if model.posterior is None else "median", "guard": guard}


def class_rule(model: FittedModel) -> Json:
    """Posterior draws have a probability each (probit); scores are averaged first and have one together."""
    if model.posterior is not None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        shares = weights / weights.sum()
        return {"combine": "draws", "surest": SUREST, "nodes": packed(nodes), "weights": packed(shares)}
    several = model.target.outputs > 1
    apart = several and model.estimator.get_params(deep=False).get("multiclass", "softmax") != "softmax"
    return {"combine": "mean", "link": "one-versus-rest" if apart else "softmax"}


def target_range(model: FittedModel) -> list[list[float]] | None:
    """Smallest and largest training target of each output; None for classes."""
    if not isinstance(model.target, NumberTarget):
        return None
    return [list(pair) for pair in zip(model.target.low.tolist(), model.target.high.tolist(), strict=True)]


def choices_of(model: FittedModel) -> list[str]:
    """What can be shown: the classes, or the outputs."""
    if isinstance(model.target, ClassTarget):
        return [str(c) for c in model.target.labels]
    outputs, names = model.target.outputs, target_names(model.estimator)
    if outputs == 1:
        return ["prediction"]
    return list(names) if len(names) == outputs else [f"output {i + 1}" for i in range(outputs)]


def packed(values: Any) -> str:
    """Numbers as base64 of little-endian float64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def model_json(model: FittedModel) -> Json:
    """The weights of all ladders, in parts of one shape each, and the noise of a posterior's.

    Members of an ensemble are padded to one shape; here each has its own again.
    """
    noise = None
    if model.posterior is not None and isinstance(model.target, NumberTarget):
        noise = noise_json(model.posterior, model.target)
    own = (
        [model.ladders]
        if model.posterior is not None
        else [trim(member).map(lambda t: t.unsqueeze(0)) for member in model.ladders]
    )
    return {"parts": [ladders_json(part) for part in own], "noise": noise}


def ladders_json(ladders: LadderPolynomial) -> Json:
    """The weights, draw after draw: W, b, V, c of each layer, then readout and offset.

    Of a layer that is diagonal in every draw only the diagonal is written, and of gates that repeat those of the layer
    before nothing.

    Args:
        ladders: batch shape (draws,), float64.
    """
    diagonals = [W.diagonal(dim1=-2, dim2=-1) for W in ladders.W]
    square = [W.shape[-1] == W.shape[-2] for W in ladders.W]
    diagonal = [l > 0 and square[l] and torch.equal(torch.diag_embed(diagonals[l]), W) for l, W in enumerate(ladders.W)]
    gates = list(zip(ladders.V, ladders.c, strict=True))
    repeated = [False] + [all(map(torch.equal, now, before)) for before, now in pairwise(gates)]
    layers = []
    for l, (W, b, V, c) in enumerate(ladders.layers()):
        layers += [diagonals[l] if diagonal[l] else W, b, *(() if repeated[l] else (V, c))]
    weights = torch.cat([t.flatten(1) for t in (*layers, ladders.readout, ladders.offset)], 1)
    return {
        "draws": len(ladders),
        "inputs": ladders.in_features,
        "hidden": list(ladders.hidden),
        "outputs": ladders.out_features,
        "diagonal": diagonal,
        "repeated": repeated,
        "weights": packed(weights),
    }


def noise_json(posterior: Posterior, target: NumberTarget) -> Json:
    """The noise of every draw, in units of the target."""
    return {
        "scales": packed(posterior.noise * target.scale),
        "degrees": packed(posterior.degrees),
        "slopes": packed(posterior.slopes),
        "tilt": TILT,
    }


def strengths_json(model: FittedModel, found: Strengths) -> Json:
    """Strengths by the positions of columns, and the strongest pairs of those that the page can move."""
    moving = {i for i, column in enumerate(model.columns) if column.kind != "constant"}
    pairs = [[*places, value] for places, (_, _, value) in zip(found.pair_positions, found.pairs, strict=True)]
    return {
        "over": found.over,
        "note": found.note,
        "columns": [[i, value] for i, (_, value) in zip(found.positions, found.columns, strict=True)],
        "pairs": [pair for pair in pairs if moving.issuperset(pair[:2])][:PAIRS],
    }


def columns_json(model: FittedModel, rows: Any) -> list[Json]:
    """All columns, each starting at its value in a typical row."""
    notes = {note["name"]: note for note in model.card.get("columns", ())}
    typical: Any = model.card.get("typical") or (None if rows is None else typical_row(model, rows))
    found = []
    for i, column in enumerate(model.columns):
        made = column_json(model.features, column)
        written = notes.get(column.name, {}).get("written")
        if written is not None and column.kind == "numeric":
            made["written"] = written
        if column.unit in (DAYS, SHARES_OF_DAY):
            # Files of before have no other sign of dates.
            made["unit"], made["written"] = None, written or {"kind": "date", "date_format": None}
        if typical is not None and column.kind == "category" and typical[i] in column.categories:
            made["start"] = column.categories.index(typical[i])
        elif typical is not None and column.kind == "numeric" and typical[i] is not None:
            made["start"] = min(max(float(typical[i]), column.low), column.high)
        found.append(made)
    return found


def way_json(model: FittedModel) -> Json:
    """Where contributions start, and the nodes of the rule that integrates along the way from there to a row."""
    mean = training_mean(model)
    nodes, weights = np.polynomial.legendre.leggauss((model.ladders.order + 1) // 2)
    return {
        "start": packed(mean.inputs),
        "words": mean.words,
        "nodes": ((nodes + 1) / 2).tolist(),
        "weights": (weights / 2).tolist(),
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
            "hold": list(column.held),
            "start": column.typical,
            "clip": bool(features.clip),
            "mean": float(features.scaler_.mean_[column.at]),
            "scale": float(features.scaler_.scale_[column.at]),
            "shape": features.kind,
        }
        if features.ramps_ is not None and column.ramps:
            own = features.ramps_.column == column.at
            edges = {name: vars(features.ramps_)[name][own].tolist() for name in ("low", "high", "mean", "scale")}
            found["ramps"] = {"at": list(column.ramps), **edges}
        if features.shaper_ is not None and features.kind == "quantile":
            knots = features.shaper_.quantiles_[:, column.at]
            found |= {"knots": packed(knots), "levels": packed(features.shaper_.references_)}
        elif features.shaper_ is not None:
            found["lambda"] = float(features.shaper_.lambdas_[column.at])
    if column.kind == "constant" and column.flag is not None:
        found |= {"flag": column.flag, "fill": column.fill, "start": column.typical}
    if column.counts:
        found["density"] = {"edges": list(column.edges), "counts": list(column.counts)}
    return found


def example_rows(model: FittedModel, table: Any) -> list[list[Any]]:
    """Some rows of the table, evenly picked; categories by position, -1 for those that training did not see."""
    n, columns = len(table.numbers), model.columns
    picked = np.unique(np.linspace(0, n - 1, min(n, KEPT_ROWS)).round().astype(int))
    return [
        [
            (column.categories.index(v) if v in column.categories else -1) if column.kind == "category" else v
            for column, v in zip(columns, row, strict=True)
        ]
        for row in values_of(model.features, columns, table.take(picked))
    ]


def order_path(model: FittedModel) -> list[list[float]]:
    """The error of each order that was tried, from the card or from the walk of ``order="auto"``."""
    kept = (model.card.get("selection") or model.card).get("order_path")
    if kept:
        return [list(pair) for pair in kept]
    selection = vars(model.estimator).get("selection_")
    if selection is not None:
        return [list(pair) for pair in selection.order_path]
    growth = vars(model.estimator).get("growth_")
    return [] if growth is None else [list(pair) for pair in zip(growth.orders, growth.errors, strict=True)]


def candidates(model: FittedModel) -> Json | None:
    """What a selection tried; None where nothing was selected."""
    selection = vars(model.estimator).get("selection_")
    if selection is None:
        return None
    names = ("model", "features", "order", "error", "weight")
    return {
        "measure": selection.measure,
        "tried": len(selection.candidates),
        "kinds": [{name: vars(each)[name] for name in names} for each in selection.kinds],
    }


def taken_order(model: FittedModel) -> int:
    """Of the polynomial; of a selection the highest order that counts, as a line is held as a ladder of order 2."""
    selection = vars(model.estimator).get("selection_")
    counting = [] if selection is None else [each.order for each in selection.candidates if each.weight > 0]
    return max(counting, default=model.ladders.order)


def formula_json(model: FittedModel) -> list[Json]:
    """The largest terms of each output; where there are too many to multiply out, those that were looked at."""
    total = term_count(model)

    def as_json(formula: Formula) -> Json:
        terms = [[term.coefficient, [list(power) for power in term.powers]] for term in formula.terms]
        rest = None if formula.searched else formula.rest
        found = {"own_units": formula.own_units, "total": total, "rest": rest, "terms": terms}
        return found | {"searched": formula.searched}

    return [as_json(formula) for formula in formulas(model, total if total <= WHOLE else LARGEST)]


def card_json(model: FittedModel) -> Json:
    """The model card's facts, as far as they are known."""
    card, ladders, estimator = model.card, model.ladders, model.estimator
    selected = "selection_" in vars(estimator)
    return {
        "rows": card.get("rows"),
        "scores": card.get("scores", []),
        "settings": card.get("settings") or {k: str(v) for k, v in estimator.get_params(deep=False).items()},
        "seed": card.get("seed"),
        "versions": card.get("versions") or versions(),
        "created": card.get("created"),
        "source": card.get("source"),
        "notes": card.get("notes", []),
        "selection": (card.get("selection") or {}).get("sentence"),
        "order": taken_order(model),
        "widths": list(ladders.hidden),
        "ladders": len(ladders),
        "weights": sum(trim(each).n_weights for each in ladders) if selected else ladders.n_weights,
        "solver": vars(estimator).get("solver_"),
    }
