"""A model as a script: the report page's own evaluator, with this model's numbers."""

from __future__ import annotations

import re
from typing import Any

from polyladder.convert.exported.answers import Classes, Probit
from polyladder.convert.exported.model import ExportedModel, exported_ladder, identifier
from polyladder.convert.source.text import Source
from polyladder.explain.fitted import read_model
from polyladder.export.read import exported
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.report.page import embedded, text_of
from polyladder.report.payload import column_json, ladders_json, model_json, rule_of
from polyladder.report.scripts import joined

START = """/*
 * A ladder polynomial of order {order}: the object {name}, in a page or from require().
 * {name}.predict(row) takes an object by column names, or an array in the order of {name}.columns; null is missing.
 * It gives the numbers that {name}.answers names.
 */
"""

IDENTITY = {"kind": "numeric", "flag": None, "fill": None, "clip": False, "shape": "standard"}
"""A column that the ladder reads as it is."""


def javascript_source(model: Any, name: str = "ladder") -> Source:
    """The script; it agrees with `predict` to 1e-12 of the size of the outputs.

    Args:
        model: a single `LadderPolynomial`, or a fitted estimator with a ladder behind it.
        name: of the object that the script defines.
    """
    if name != identifier(name):
        raise ValueError(f"name must be an identifier of JavaScript; got {name!r}. Use {identifier(name)!r}.")
    ladder = isinstance(model, LadderPolynomial)
    described = exported_ladder(model) if ladder else exported(model)
    carried = ladder_content(described) if ladder else fitted_content(model, described)
    entry = "js/model/start.js"
    start = f'import {{ predictor }} from "./predictor.js";\nexport const made = predictor({embedded(carried)});\n'
    script = joined(entry, lambda path: start if path == entry else text_of(path))
    # The entry is the last of the modules that were joined; names of columns cannot begin a line.
    last = re.findall(r"^const (module\d+) = ", script, re.MULTILINE)[-1]
    head = START.format(order=described.ladders.order, name=name)
    body = f"const {name} = (() => {{\n{script}\nreturn {last}.made;\n}})();\n"
    return Source(f'{head}{body}if (typeof module === "object") module.exports = {name};\n')


def fitted_content(estimator: Any, described: ExportedModel) -> dict[str, Any]:
    """What the script of an estimator carries, as the page has it."""
    fitted = read_model(estimator)
    columns = []
    for column in fitted.columns:
        made = column_json(fitted.features, column)
        # Only a page writes the word; here a missing cell is null.
        columns.append(made | ({"categories": list(column.categories)} if column.kind == "category" else {}))
    labels = list(described.answer.labels) if isinstance(described.answer, Classes | Probit) else []
    return {
        "columns": columns,
        "model": model_json(fitted),
        "rule": rule_of(fitted),
        "answers": list(described.answer_names),
        "labels": labels,
    }


def ladder_content(model: ExportedModel) -> dict[str, Any]:
    """What the script of a single ladder carries."""
    return {
        "columns": [
            {**IDENTITY, "name": column.name, "at": i, "low": 0.0, "high": 0.0, "mean": 0.0, "scale": 1.0}
            for i, column in enumerate(model.columns)
        ],
        "model": {**ladders_json(model.ladders), "noise": None},
        "rule": {"task": "regression", "combine": "mean", "guard": None},
        "answers": list(model.answer_names),
        "labels": [],
    }
