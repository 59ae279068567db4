"""A model as a script: the report page's own evaluator, with this model's numbers."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import reduce
from typing import Any

from polyladder.convert.exported.cells import (
    PER_MICROSECOND,
    PLAIN_NUMBER,
    SPACES,
    ZONE,
    cell_words,
    date_texts,
    is_time,
    number_text,
    odd_categories,
    spellings_of,
    words_of,
)
from polyladder.convert.identifiers import check_identifier
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Banded
from polyladder.fitted.column import Column
from polyladder.fitted.model import AnyModel, FittedModel, fitted_model
from polyladder.fitted.steps import Blank, Clip, Fill, Step
from polyladder.report.page import embedded, text_of
from polyladder.report.payload import ArrayOperations, column_json, model_json, rule_of
from polyladder.report.scripts import joined
from polyladder.tables.columns import MISSING
from polyladder.tables.dates import FIRST_YEAR

START = """/*
 * A ladder polynomial of order {order}: the object {name}, in a page or from require().
 * {name}.predict(row) takes an object by column names, or an array in the order of {name}.columns; null is missing.
 * It gives the numbers that {name}.answers names, and throws a TypeError where a cell cannot be read. Columns hold (a
 * number in place of a date is days since 1970-01-01):
{columns}
 */
"""

WORDS = (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let new null package private protected "
    "public return static super switch this throw true try typeof var void while with yield"
)
"""Words of the language."""

NAMES = (
    "Array ArrayBuffer Date Error Float64Array Infinity JSON Map Math NaN Number Object RegExp Set String TypeError "
    "Uint8Array atob document exports globalThis location module require top undefined window __dirname __filename"
)
"""Names that a script reads, or that cannot be taken in a page or in Node."""


def javascript_source(model: AnyModel, name: str = "ladder") -> Source:
    """The script; it agrees with `predict` to 1e-12 of the size of the outputs.

    Args:
        model: a single `LadderPolynomial`, or a fitted estimator with a ladder behind it.
        name: of the object that the script defines.
    """
    check_identifier(name, "JavaScript", f"{WORDS} {NAMES}".split())
    described = fitted_model(model)
    carried = content(described)
    entry = "js/model/start.js"
    start = f'import {{ predictor }} from "./predictor.js";\nexport const made = predictor({embedded(carried)});\n'
    script = joined(entry, lambda path: start if path == entry else text_of(path))
    # The entry is the last of the modules that were joined; names of columns cannot begin a line.
    last = re.findall(r"^const (module\d+) = ", script, re.MULTILINE)[-1]
    columns = "\n".join(f" *   {commented(c.name)}: {commented(cell_words(c))[1:-1]}" for c in described.columns)
    head = START.format(order=described.ladders.order, name=name, columns=columns)
    body = f"const {name} = (() => {{\n{script}\nreturn {last}.made;\n}})();\n"
    return Source(f'{head}{body}if (typeof module === "object") module.exports = {name};\n')


def commented(text: str) -> str:
    r"""Text within a comment, in quotes and on one line.

    >>> print(commented("a*/\n"))
    "a*\/\n"
    """
    return embedded(text).replace("*/", r"*\/")


READING: dict[str, Any] = {
    "spaces": SPACES,
    "missing": MISSING,
    "plain": PLAIN_NUMBER,
    "zone": ZONE,
    "first": FIRST_YEAR,
    "perMicrosecond": PER_MICROSECOND,
}
"""How cells of all columns are read."""


def cells_json(column: Column) -> dict[str, Any]:
    """How the cells of one column are read."""
    kind = column.reading
    if column.kind == "category":
        return {"odd": odd_categories(column), "words": words_of(column) or None, "spelled": spellings_of(column)}
    if kind.kind == "date":
        return {"formats": [asdict(each) for each in date_texts(kind.date_format)], "times": is_time(column)}
    style = number_text(kind.style)
    return {"style": None if style is None else asdict(style), "missing": kind.missing}


def beyond_json(model: FittedModel, place: int) -> dict[str, Any]:
    """The inputs of a column that only the scale of errors reads, if there are some: arithmetic of its number."""
    if not isinstance(model.answer, Banded):
        return {}
    own = model.columns[place].inputs
    others = [(k, each.steps) for k, each in enumerate(model.steps) if each.column == place and k not in own]
    return {"beyond": [[k, reduce(written, steps, "x")] for k, steps in others]} if others else {}


def written(value: Any, step: Step) -> Any:
    """A step as arithmetic of a value whose gaps are filled."""
    match step:
        case Blank() | Fill():
            return value
        case Clip(low, high):
            return ["held", value, low, high]
        case _:
            return step.written(value, ArrayOperations())


def content(model: FittedModel) -> dict[str, Any]:
    """What the script carries, as the page has it."""
    columns = []
    for i, column in enumerate(model.columns):
        made = column_json(model, column) | {"cells": cells_json(column), **beyond_json(model, i)}
        # Only a page writes the word; here a missing cell is null.
        columns.append(made | ({"categories": list(column.categories)} if column.role == "category" else {}))
    return {
        "reading": READING,
        "columns": columns,
        "model": model_json(model),
        "rule": rule_of(model),
        "answers": list(model.answer_names),
        "labels": list(model.labels or ()),
    }
