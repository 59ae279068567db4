"""What the page carries: weights, features, densities, scores. Everything is plain JSON; numbers in bulk are base64."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.explain.baseline import training_mean
from polyladder.explain.quality import bands, calibration, qualities
from polyladder.explain.strengths import Strengths, spread_rows, stored, strengths, summed_parts
from polyladder.explain.terms import Formula, formulas, term_count
from polyladder.explain.typical import typical_row
from polyladder.files.versions import versions
from polyladder.fitted.answers import Banded, Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, HasModel, fitted_model
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, Quantile, Ramp, YeoJohnson
from polyladder.fitted.values import bent_steps, main_steps, values_of
from polyladder.polynomial.trim import trim
from polyladder.report.spread import spread_json
from polyladder.report.weights import ladders_json, packed
from polyladder.tables.dates import DAYS, SHARES_OF_DAY

Json = dict[str, Any]

LEVEL = 90
"""Percentage of the error band."""

INNER = 50
"""Percentage of the darker band within it, where a model has a spread."""

PAIRS = 10
"""Interactions that are listed."""

KEPT_ROWS = 300
"""Rows that are carried as examples."""

WHOLE = 60
"""Most terms of a formula that is shown whole."""

LARGEST = 16
"""Terms that are shown of a longer formula, the largest ones; the page bounds what the others add."""


def payload(model: FittedModel | HasModel, rows: Any = None, target: Any = None) -> Json:
    """Everything that a page about a fitted model needs.

    Args:
        model: fitted, with a ladder behind it; of a grid search the best one is taken.
        rows: rows of the same table, if there are any to show. Shape (n, d).
        target: what was observed for them. Shape (n,) or (n, m).
    """
    model = fitted_model(model).described_by(rows)
    # Read once, and transformed once, for the predictions.
    table = None if rows is None else model.read(rows)
    shown = qualities(model, table, target)
    # What the card says of all training rows is not worked out again over the rows at hand.
    known = stored(model.card, [column.name for column in model.columns]) is not None
    some = None if known or table is None else model.inputs(table.take(spread_rows(len(table))))
    found = strengths(model, some)
    return {
        "target": model.target,
        "unit": model.card.get("unit"),
        "estimator": model.kind,
        "posterior": model.answer.by_member,
        "rule": rule_of(model),
        "outputs": choices_of(model),
        "written": model.card.get("target_written"),
        "columns": columns_json(model, table),
        "way": way_json(model),
        "model": model_json(model),
        "band": {"level": LEVEL, **bands(model, shown, LEVEL)},
        "spread": spread_json(model, (INNER, LEVEL)),
        "range": target_range(model),
        "strengths": strengths_json(model, found),
        "rows": [] if table is None else example_rows(model, table),
        "quality": [quality.json() for quality in shown],
        "calibration": calibration(model, shown),
        "order_path": order_path(model),
        "candidates": model.card.get("candidates"),
        "order_note": (model.card.get("selection") or {}).get("order_note", ""),
        "formula": [] if model.answer.by_member else formula_json(model),
        "card": card_json(model),
    }


def rule_of(model: FittedModel) -> Json:
    """How the outputs of the ladders become a prediction."""
    match model.answer:
        case Numbers(guard) | Draws(guard):
            combine = "median" if model.answer.by_member else "mean"
            return {"task": "regression", "combine": combine, "guard": range_json(guard)}
        case Banded(guard, logs, most, widths):
            band = {"guard": range_json(guard), "logs": range_json(logs), "most": most, "widths": list(widths)}
            return {"task": "regression", "combine": "mean", "guard": None, "band": band}
        case Classes(_, link):
            return {"task": "classification", "guard": None, "combine": "mean", "link": link}
        case Probit(_, surest) as probit:
            nodes = {"nodes": packed(probit.nodes), "weights": packed(probit.weights)}
            return {"task": "classification", "guard": None, "combine": "draws", "surest": surest, **nodes}
        case _:
            raise TypeError(f"{type(model.answer).__name__} must have a rule of its own on the page; it has none.")


def range_json(guard: Guard | None) -> Json | None:
    """The lowest and the highest values of outputs, if they are held to a range."""
    return None if guard is None else {"low": list(guard[0]), "high": list(guard[1])}


def target_range(model: FittedModel) -> list[list[float]] | None:
    """Smallest and largest training target of each output; None for classes."""
    span = model.answer.span if isinstance(model.answer, Numbers | Draws) else None
    return None if span is None else [list(pair) for pair in zip(*span, strict=True)]


def choices_of(model: FittedModel) -> list[str]:
    """What can be shown: the classes, or the outputs."""
    if model.labels is not None:
        return [str(label) for label in model.labels]
    count = model.ladders.out_features
    if count == 1:
        return ["prediction"]
    return list(model.outputs) if len(model.outputs) == count else [f"output {i + 1}" for i in range(count)]


def model_json(model: FittedModel) -> Json:
    """The weights of all ladders, in parts of one shape each, and the noise of a posterior's.

    Members of an ensemble are padded to one shape; here each has its own again.
    """
    noise = noise_json(model.answer) if isinstance(model.answer, Draws) else None
    parts = [model.ladders] if model.answer.by_member else summed_parts(model)
    return {"parts": [ladders_json(part) for part in parts], "noise": noise}


def noise_json(answer: Draws) -> Json:
    """The noise of every draw, in units of the target."""
    return {
        "scales": packed(answer.scales),
        "degrees": packed(answer.degrees),
        "slopes": packed(answer.slopes),
        "tilt": answer.tilt,
    }


def strengths_json(model: FittedModel, found: Strengths) -> Json:
    """Strengths by the positions of columns, and the strongest pairs of those that the page can move."""
    moving = {i for i, column in enumerate(model.columns) if column.role != "constant"}
    pairs = [[*places, value] for places, (_, _, value) in zip(found.pair_positions, found.pairs, strict=True)]
    return {
        "over": found.over,
        "note": found.note,
        "columns": [[i, value] for i, (_, value) in zip(found.positions, found.columns, strict=True)],
        "pairs": [pair for pair in pairs if moving.issuperset(pair[:2])][:PAIRS],
    }


def columns_json(model: FittedModel, rows: Any) -> list[Json]:
    """All columns, each starting at its value in a typical row."""
    typical: Any = model.card.get("typical") or (None if rows is None else typical_row(model, rows))
    found = []
    for i, column in enumerate(model.columns):
        made = column_json(model, column)
        if column.written is not None and column.role == "numeric":
            made["written"] = column.written
        if column.unit in (DAYS, SHARES_OF_DAY):
            # Files of before have no other sign of dates.
            made["unit"], made["written"] = None, column.written or {"kind": "date", "date_format": None}
        if typical is not None and column.role == "category" and typical[i] in column.categories:
            made["start"] = column.categories.index(typical[i])
        elif typical is not None and column.role == "numeric" and typical[i] is not None:
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


def column_json(model: FittedModel, column: Column) -> Json:
    """A column with the steps of its inputs."""
    found: Json = {"name": column.name, "kind": column.role, "unit": column.unit}
    if column.role == "category":
        names = ["missing" if c is None else c for c in column.categories]
        found |= {"at": column.inputs[0], "categories": names, "start": column.categories.index(column.typical)}
    if column.role == "numeric":
        found |= {
            "at": column.main,
            "flag": column.flag,
            "fill": column.fill,
            "low": column.low,
            "high": column.high,
            "hold": list(column.reach),
            "start": column.typical,
            "clip": column.held is not None,
            **(further_json(model, column) if column.main is None else scale_json(model, column)),
        }
        ramps = None if column.main is None else ramps_json(model, column)
        if ramps is not None:
            found["ramps"] = ramps
    if column.role == "constant" and column.flag is not None:
        found |= {"flag": column.flag, "fill": column.fill, "start": column.typical}
    if column.counts:
        found["density"] = {"edges": list(column.edges), "counts": list(column.counts)}
    return found


class ArrayOperations:
    """Arithmetic as nested arrays, such as ["sin", ["*", "x", 0.26]], which the page evaluates."""

    def number(self, value: float) -> Json | float:
        """A constant."""
        return value

    def minus(self, a: Any, b: Any) -> Any:
        """A difference."""
        return ["-", a, b]

    def times(self, a: Any, b: Any) -> Any:
        """A product."""
        return ["*", a, b]

    def sine(self, a: Any) -> Any:
        """The sine."""
        return ["sin", a]


def further_json(model: FittedModel, column: Column) -> Json:
    """A column that is read through functions of its number: these as arithmetic of the number itself."""
    found = []
    for k in column.inputs:
        if k != column.flag:
            value: Any = "x"
            # The page fills gaps and holds numbers to ranges before.
            for step in model.steps[k].steps:
                value = value if isinstance(step, Blank | Fill | Clip) else step.written(value, ArrayOperations())
            found.append([k, value])
    return {"shape": "standard", "mean": 0.0, "scale": 1.0, "functions": found}


def scale_json(model: FittedModel, column: Column) -> Json:
    """How a number is shaped and scaled."""
    found: Json = {"shape": "standard", "mean": 0.0, "scale": 1.0}
    for step in main_steps(model, column):
        match step:
            case Affine(shift, scale):
                found |= {"mean": shift, "scale": scale}
            case YeoJohnson(power):
                found |= {"shape": "yeo-johnson", "lambda": power}
            case Quantile(knots, before, _, after):
                sides = [
                    (k, level) for k, b, a in zip(knots, before, after, strict=True) for level in dict.fromkeys((b, a))
                ]
                places, levels = zip(*sides, strict=True)
                found |= {"shape": "quantile", "knots": packed(places), "levels": packed(levels)}
    return found


def ramps_json(model: FittedModel, column: Column) -> Json | None:
    """The ramps of a column, if it has some."""
    found: Json = {"at": [], "low": [], "high": [], "mean": [], "scale": []}
    for k, steps in bent_steps(model, column).items():
        match steps:
            case (Ramp(low, high), Affine(mean, scale)):
                for name, value in zip(found, (k, low, high, mean, scale), strict=True):
                    found[name].append(value)
    return found if found["at"] else None


def example_rows(model: FittedModel, table: Any) -> list[list[Any]]:
    """Some rows of the table, evenly picked; categories by position, -1 for those that training did not see."""
    n, columns = len(table.numbers), model.columns
    picked = np.unique(np.linspace(0, n - 1, min(n, KEPT_ROWS)).round().astype(int))
    return [
        [
            (column.categories.index(v) if v in column.categories else -1) if column.role == "category" else v
            for column, v in zip(columns, row, strict=True)
        ]
        for row in values_of(columns, table.take(picked))
    ]


def order_path(model: FittedModel) -> list[list[float]]:
    """The error of each order that was tried, if several were."""
    kept = (model.card.get("selection") or {}).get("order_path") or model.card.get("order_path") or ()
    return [list(pair) for pair in kept]


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
    card, ladders = model.card, model.ladders
    return {
        **{name: card.get(name) for name in ("rows", "seed", "created", "source", "solver")},
        "scores": card.get("scores", []),
        "settings": card.get("settings", {}),
        "versions": card.get("versions") or versions(),
        "notes": card.get("notes", []),
        "selection": (card.get("selection") or {}).get("sentence"),
        "compact": card.get("compact"),
        "order": card.get("order", ladders.order),
        "widths": list(ladders.hidden),
        "ladders": len(ladders),
        "weights": ladders.n_weights if model.answer.by_member else sum(trim(each).n_weights for each in ladders),
    }
