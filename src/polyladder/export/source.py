"""`to_source`: a model as source text in another language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from polyladder.convert.source.c import c_source
from polyladder.convert.source.excel import excel_source
from polyladder.convert.source.fixed import fixed_source
from polyladder.convert.source.numpy import numpy_source
from polyladder.convert.source.sql import sql_source
from polyladder.convert.source.text import Source
from polyladder.export.javascript import javascript_source
from polyladder.files.kinds import first_line
from polyladder.fitted.model import AnyModel, fitted_model

Language = Literal["numpy", "c", "sql", "javascript", "excel"]

LANGUAGES: dict[str, Callable[..., Source]] = {
    "numpy": numpy_source,
    "c": c_source,
    "sql": sql_source,
    "excel": excel_source,
}
"""Languages that render one description of a model; a script for browsers carries what the page carries instead."""

ENDINGS = {"numpy": ".py", "c": ".c", "sql": ".sql", "javascript": ".js", "excel": ".formulas.csv"}
"""How files of each language end; a sheet must not be taken for the table of the same name."""

FIRST_LINES = {
    "numpy": f"# {first_line('NumPy')}\n",
    "c": f"/* {first_line('C')} */\n",
    "sql": f"-- {first_line('SQL')}\n",
    "javascript": f"// {first_line('JavaScript')}\n",
    "excel": "",
}
"""By which a later export knows that it may replace the file; the first line of a sheet is its header."""


def to_source(model: AnyModel, language: Language | str = "numpy", **options: Any) -> Source:
    """A model as source text that computes the same predictions without this library.

    Preprocessing, categories, missing values, clipping, the guard and the link to classes are part of it. Constants are
    written exactly (hexadecimal, or with 17 digits).

    Args:
        model: a `LadderPolynomial`, a single one, or a fitted estimator with a ladder behind it.
        language: "numpy" (a module that needs NumPy alone), "c" (C99, one file and a header), "sql" (one query for
            SQLite, DuckDB and PostgreSQL), "javascript" (one script, in a page or Node), "excel" (cells of a
            spreadsheet as CSV, for small models).
        options: of the language. c: ``name`` (prefix of its functions), ``numbers`` ("float64", "float32" or "fixed"
            for integers alone; see `polyladder.convert.source.fixed`). sql: ``table``, ``key``. javascript: ``name``.

    Returns:
        A `Source`: ``str(source)`` is the text, ``source.write(path)`` writes it, ``source.header`` is C's header.

    The difference to `predict`, relative to the size of the outputs, is below 1e-12 for NumPy, C and JavaScript in
    float64, and below 1e-9 for SQL and spreadsheets, on every estimator that the tests know.

    Example:
        >>> import torch
        >>> from polyladder import LadderPolynomial
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> module = {}
        >>> exec(str(to_source(square, "numpy")), module)
        >>> module["predict"]([[3.0]]).tolist()
        [[9.0]]
    """
    if language not in ENDINGS:
        raise ValueError(f"language must be one of {', '.join(ENDINGS)}; got {language!r}.")
    if language == "javascript":
        return signed(javascript_source(model, **options), language)
    render = LANGUAGES[language]
    if language == "c" and options.get("numbers") == "fixed":
        render = fixed_source
        options = {key: value for key, value in options.items() if key != "numbers"}
    return signed(render(fitted_model(model), **options), language)


def signed(source: Source, language: str) -> Source:
    """The source with a first line that says who wrote it, and so its header."""
    header = None if source.header is None else f"/* {first_line('C header')} */\n{source.header}"
    return replace(source, text=FIRST_LINES[language] + source.text, header=header)
