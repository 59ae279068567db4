"""A model as C99: no allocation, no input or output, no header but <tgmath.h> where a step or a link needs it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from polyladder.convert.identifiers import check_identifier
from polyladder.convert.source.c_codes import code_text
from polyladder.convert.source.c_words import declarations, has_codes, header_text, summary
from polyladder.convert.source.loops import Dialect, answers_text, feature_text, outputs_text, sizes, tables
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Draws, Numbers, Probit
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp

IS_CODE = """
/* 1 for a code, 0 for another that the column has, NAN for what is none. */
static real is_code(real x, int code, int count)
{
    return x == code ? 1 : x >= -1 && x < count ? 0 : (x - x) / (x - x);
}
"""

FEATURES = """
static void features(const real *row, real *z)
{{
    /* 0 for finite numbers, and NAN for others, so that every answer becomes NAN. */
    real none = 0;
    for (int i = 0; i < {columns}; i++)
        if (row[i] == row[i]) none += row[i] - row[i];
{blocks}
    z[0] += none;
}}
"""

PREDICT = """
void {name}_predict(const real *row, real *answers)
{{
    real z[INPUTS];
    features(row, z);
{outputs}
{answers}
}}
"""

CLASS = """
/* The most probable class, by its place among the labels; -1 where there is no answer. */
int {name}_class(const real *answers)
{{
    int best = 0;
    if (answers[0] != answers[0]) return -1;
    for (int i = 1; i < CLASSES; i++)
        if (answers[i] > answers[best]) best = i;
    return best;
}}
"""

SORTED = """
static void sorted(real *v, int n)
{
    for (int i = 1; i < n; i++) {
        real x = v[i];
        int j = i;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
}
"""

PHI = """
static real phi(real x) { return erfc(-x * (real)0.70710678118654752440) / 2; }
"""

WORDS = {
    r"EACH\((\w+), (\w+)\)": r"for (int \1 = 0; \1 < \2; \1++)",
    r"COUNTS? (?=\w)": "int ",
    r"REALS? (?=\w)": "real ",
    r"SORT\(": "sorted(",
}
"""What C writes for the words of `polyladder.convert.source.loops`."""

NumberType = Literal["float64", "float32"]

PLAIN = {Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp}
"""Steps that need no function of a library."""


def c_source(model: FittedModel, name: str = "ladder", numbers: NumberType = "float64") -> Source:
    """The source and its header.

    In float64 it agrees with `predict` to 1e-12 of the size of the outputs, in float32 to about 1e-5. Compile with
    ``-O3`` (and ``-march=native``); weights are laid out so that the inner loops run over units.

    Args:
        model: to be rendered.
        name: prefix of the public functions.
        numbers: the type that everything is computed in.
    """
    check_identifier(name, "C")
    if numbers not in ("float64", "float32"):
        raise ValueError(f"numbers must be 'float64', 'float32' or 'fixed'; got {numbers!r}.")
    real = {"float64": "double", "float32": "float"}[numbers]
    dialect = Dialect(float32 if numbers == "float32" else float.hex, WORDS)
    kinds = {type(step) for feature in model.steps for step in feature.steps}
    libm = bool(kinds - PLAIN) or not isinstance(model.answer, Numbers)
    note = "NAN is a missing number; where a number is infinite or no answer exists, answers are NAN."
    words = summary(model, real, [""] * len(model.columns), [note])
    parts = [
        f"/* {words} */",
        "#include <stddef.h>",
        *(["#include <tgmath.h>"] if libm else []),
        f"\ntypedef {real} real;",
        declarations(model, name, real),
        f"enum {{ {', '.join(f'{size} = {count}' for size, count in sizes(model).items())} }};",
        *([code_text(model, name), IS_CODE] if has_codes(model) else []),
        *(array_text(table, values, dialect) for table, values in tables(model).items()),
        *([SORTED] if isinstance(model.answer, Draws) else [PHI] if isinstance(model.answer, Probit) else []),
        FEATURES.format(columns=len(model.columns), blocks=features_text(model, dialect)),
        PREDICT.format(
            name=name, outputs=outputs_text(model, dialect), answers=answers_text(model, dialect).strip("\n")
        ),
    ]
    parts += [CLASS.format(name=name)] if model.labels is not None else []
    return Source("\n".join(parts), header_text(model, name, real, words))


def float32(value: float) -> str:
    """The nearest number of single precision, exactly: hexadecimal."""
    return float(np.float32(value)).hex() + "f"


def array_text(name: str, values: Any, dialect: Dialect) -> str:
    """A constant array of any shape."""
    values = np.asarray(values, dtype=np.float64)
    shape = "".join(f"[{n}]" for n in values.shape)

    def nested(part: Any) -> str:
        return "{" + ", ".join(map(nested, part)) + "}" if isinstance(part, list) else dialect.number(part)

    return f"static const real {name}{shape} = {nested(values.tolist())};"


def features_text(model: FittedModel, dialect: Dialect) -> str:
    """Statements from a row to inputs of the ladders."""
    blocks = []
    for at, feature in enumerate(model.steps):
        start, steps = f"row[{feature.column}]", feature.steps
        match steps:
            case (IsCategory(category),):
                known = model.columns[feature.column].categories
                start, steps = f"is_code({start}, {known.index(category)}, {len(known)})", ()
        blocks.append(feature_text(steps, at, start, dialect))
    return "\n".join(blocks)
