"""A model as a script: the report page's own evaluator, with this model's numbers."""

from __future__ import annotations

import dataclasses
import re
from importlib.resources import files
from typing import Any

import torch

from polyladder.convert.exported.answers import Classes, Numbers, Posterior, Probit
from polyladder.convert.exported.model import ExportedModel, identifier
from polyladder.convert.source.text import Source
from polyladder.report.page import embedded
from polyladder.report.payload import packed
from polyladder.report.scripts import joined

START = """/*
 * A ladder polynomial of order {order}: the object {name}, in a page or from require().
 * {name}.predict(row) takes an object by column names, or an array in the order of {name}.columns; null is missing.
 * It gives the numbers that {name}.answers names.
 */
"""


def javascript_source(model: ExportedModel, name: str = "ladder") -> Source:
    """The script; it agrees with `predict` to 1e-12 of the size of the outputs.

    Args:
        model: to be rendered.
        name: of the object that the script defines.
    """
    if name != identifier(name):
        raise ValueError(f"name must be an identifier of JavaScript; got {name!r}. Use {identifier(name)!r}.")
    entry = "export/js/start.js"
    start = (
        f'import {{ predictor }} from "./predictor.js";\nexport const made = predictor({embedded(content(model))});\n'
    )
    script = joined(entry, lambda path: start if path == entry else text_of(path))
    # The entry is the last of the modules that were joined; names of columns cannot begin a line.
    last = re.findall(r"^const (module\d+) = ", script, re.MULTILINE)[-1]
    head = START.format(order=model.ladders.order, name=name)
    body = f"const {name} = (() => {{\n{script}\nreturn {last}.made;\n}})();\n"
    return Source(f'{head}{body}if (typeof module === "object") module.exports = {name};\n')


def text_of(path: str) -> str:
    """A file of the package."""
    return files("polyladder").joinpath(path).read_text(encoding="utf-8")


def content(model: ExportedModel) -> dict[str, Any]:
    """What the script carries, as plain JSON."""
    p, answer = model.ladders, model.answer
    blocks = [t for layer in p.layers() for t in layer] + [p.readout, p.offset]
    noise = None
    if isinstance(answer, Posterior):
        noise = {"variance": packed(answer.variance), "slopes": packed(answer.slopes), "tilt": answer.tilt}
    return {
        "columns": [{"name": column.name, "kind": column.kind} for column in model.columns],
        "features": [
            {"column": f.column, "steps": [{"kind": type(s).__name__, **dataclasses.asdict(s)} for s in f.steps]}
            for f in model.features
        ],
        "model": {
            "draws": len(p),
            "inputs": p.in_features,
            "hidden": list(p.hidden),
            "outputs": p.out_features,
            "weights": packed(torch.cat([t.flatten(1) for t in blocks], 1)),
        },
        "noise": noise,
        "rule": rule(model),
        "answers": list(model.answer_names),
        "labels": list(answer.labels) if isinstance(answer, Classes | Probit) else [],
    }


def rule(model: ExportedModel) -> dict[str, Any]:
    """How outputs become answers, in the words of the page's evaluator."""
    answer = model.answer
    match answer:
        case Numbers(guard) | Posterior(guard=guard):
            held = None if guard is None else {"low": list(guard[0]), "high": list(guard[1])}
            combine = "median" if isinstance(answer, Posterior) else "mean"
            return {"task": "regression", "combine": combine, "guard": held}
        case Classes(_, link):
            return {"task": "classification", "guard": None, "combine": "mean", "link": link}
        case Probit(_, surest, nodes, weights):
            numbers = {"nodes": packed(nodes), "weights": packed(weights)}
            return {"task": "classification", "guard": None, "combine": "draws", "surest": surest, **numbers}
