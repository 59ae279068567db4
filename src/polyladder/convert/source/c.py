"""A model as C99: no allocation, no input or output, no header but <tgmath.h> where a step or a link needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from polyladder.convert.identifiers import check_identifier
from polyladder.convert.source.c_answers import answer_text
from polyladder.convert.source.c_codes import code_text, has_codes
from polyladder.convert.source.c_words import answer_words, column_words, commented, model_words
from polyladder.convert.source.operations import TextOperations
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Classes, Numbers, Probit
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson

IS_CODE = """
/* 1 for a code, 0 for another that the column has, NAN for what is none. */
static real is_code(real x, int code, int count)
{
    return x == code ? 1 : x >= -1 && x < count ? 0 : (x - x) / (x - x);
}
"""

QUANTILE = """
static real quantile(real x, int n, const real *knots, const real *before, const real *at, const real *after)
{
    int lo = 0, hi = n - 1;
    if (x != x) return x;
    if (x <= knots[0]) return at[0];
    if (x >= knots[hi]) return at[hi];
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;
        if (knots[mid] <= x) lo = mid;
        else hi = mid;
    }
    if (x == knots[lo]) return at[lo];
    return after[lo] + (before[hi] - after[lo]) * ((x - knots[lo]) / (knots[hi] - knots[lo]));
}
"""

YEO_JOHNSON = """
static real yeo_johnson(real x, real power)
{
    if (x >= 0) return power == 0 ? log1p(x) : expm1(power * log1p(x)) / power;
    return power == 2 ? -log1p(-x) : -expm1((2 - power) * log1p(-x)) / (2 - power);
}
"""

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
    kinds = {type(step) for feature in model.steps for step in feature.steps}
    libm = bool(kinds - PLAIN) or not isinstance(model.answer, Numbers)
    parts = [
        f"/* {summary(model, real)} */",
        "#include <stddef.h>",
        *(["#include <tgmath.h>"] if libm else []),
        f"\ntypedef {real} real;",
        declarations(model, name, real),
    ]
    if has_codes(model):
        parts += [code_text(model, name), IS_CODE]
    parts += [QUANTILE] * (Quantile in kinds) + [YEO_JOHNSON] * (YeoJohnson in kinds)
    parts += [features_text(model, numbers), ladder_text(model, numbers), answer_text(model, name, numbers)]
    return Source("\n".join(parts), header_text(model, name, real))


def summary(model: FittedModel, real: str) -> str:
    """What the model is and how a row is laid out, as a comment that nothing in it can end."""
    lines = [f"{model_words(model)}, in {real}. A row holds, in this order:"]
    lines += [f"   {i}  {commented(column.name)}: {column_words(column)}" for i, column in enumerate(model.columns)]
    lines.append("NAN is a missing number; where a number is infinite or no answer exists, answers are NAN.")
    return "\n".join([*lines, answer_words(model)])


def declarations(model: FittedModel, name: str, real: str) -> str:
    """The public functions."""
    lines = [f"void {name}_predict(const {real} *row, {real} *answers);"]
    if isinstance(model.answer, Classes | Probit):
        lines.append(f"int {name}_class(const {real} *answers);")
    if has_codes(model):
        lines.append(f"int {name}_code(int column, const char *text);")
    return "\n".join(lines)


def header_text(model: FittedModel, name: str, real: str) -> str:
    """The header, with sizes and labels."""
    # The first word keeps the guard apart from those of system headers.
    guard = f"POLYLADDER_{name.upper()}_H"
    lines = [
        f"/* {summary(model, real)} */",
        f"#ifndef {guard}",
        f"#define {guard}",
        f"#define {name.upper()}_COLUMNS {len(model.columns)}",
        f"#define {name.upper()}_ANSWERS {len(model.answer_names)}",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        declarations(model, name, real),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def literal(value: float, numbers: NumberType) -> str:
    """A number, exactly: hexadecimal."""
    if numbers == "float32":
        return float(np.float32(value)).hex() + "f"
    return float(value).hex()


def array_text(name: str, values: Any, numbers: NumberType) -> str:
    """A constant array of any shape."""
    values = np.asarray(values, dtype=np.float64)
    shape = "".join(f"[{n}]" for n in values.shape)

    def nested(part: Any) -> str:
        if not isinstance(part, Iterable):
            return literal(part, numbers)
        return "{" + ", ".join(map(nested, part)) + "}"

    return f"static const real {name}{shape} = {nested(values.tolist())};"


def features_text(model: FittedModel, numbers: NumberType) -> str:
    """The function from a row to inputs of the ladders."""
    tables: list[str] = []
    # Adds 0 for finite numbers, and NAN for others, so that every answer becomes NAN.
    lines = ["static void features(const real *row, real *z)", "{", "    real x, none = 0;", "    int i;"]
    lines.append(f"    for (i = 0; i < {len(model.columns)}; i++)")
    lines.append("        if (row[i] == row[i]) none += row[i] - row[i];")
    for at, feature in enumerate(model.steps):
        lines.append(f"    x = row[{feature.column}];")
        for step in feature.steps:
            if isinstance(step, Quantile):
                sides = {"knots": step.knots, "before": step.before, "at": step.at, "after": step.after}
                tables += [array_text(f"{side}{at}", values, numbers) for side, values in sides.items()]
                lines.append(f"    x = quantile(x, {len(step.knots)}, knots{at}, before{at}, at{at}, after{at});")
            else:
                categories = model.columns[feature.column].categories
                lines.append(f"    {step_text(step, categories, numbers)}")
        lines.append(f"    z[{at}] = x;")
    return "\n".join(["", *tables, *lines, "    z[0] += none;", "}"])


def step_text(step: Step, categories: tuple[str | None, ...], numbers: NumberType) -> str:
    """One step as a statement about x."""
    match step:
        case Blank(code):
            return f"if (x == {literal(code, numbers)}) x = (x - x) / (x - x);"
        case Fill(value):
            return f"if (x != x) x = {literal(value, numbers)};"
        case Clip(low, high):
            return held("x", literal(low, numbers), literal(high, numbers))
        case Affine(shift, scale):
            return f"x = (x - {literal(shift, numbers)}) / {literal(scale, numbers)};"
        case Ramp(low, high):
            scaled = f"x = (x - {literal(low, numbers)}) / {literal(high - low, numbers)};"
            return f"{scaled} {held('x', '0', '1')}"
        case YeoJohnson(power):
            return f"x = yeo_johnson(x, {literal(power, numbers)});"
        case IsMissing():
            return "x = x != x ? 1 : 0;"
        case IsCategory(category):
            return f"x = is_code(x, {categories.index(category)}, {len(categories)});"
        case Quantile():
            raise AssertionError("quantiles need tables")
        case _:
            return f"x = {step.written('x', TextOperations(lambda value: literal(value, numbers), 'sin'))};"


def held(x: str, low: str, high: str) -> str:
    """A statement that holds x between two numbers and leaves NaN alone."""
    return f"{x} = {x} < {low} ? {low} : {x} > {high} ? {high} : {x};"


def ladder_text(model: FittedModel, numbers: NumberType) -> str:
    """The ladders one after another; matrices lie transposed, so that the inner loops run over units."""
    p = model.ladders
    s, d, m = len(p), p.in_features, p.out_features
    tables, body = [], []
    width, before = d, "z"
    for l, (W, b, V, c) in enumerate(p.layers()):
        k = W.shape[-2]
        tables += [array_text(f"W{l}", W.mT, numbers), array_text(f"b{l}", b, numbers)]
        tables += [array_text(f"V{l}", V.mT, numbers), array_text(f"c{l}", c, numbers)]
        body += [f"        real h{l}[{k}], g{l}[{k}];"]
        body += sums(f"h{l}", f"b{l}[s]", f"W{l}[s]", before, width, k)
        body += sums(f"g{l}", f"c{l}[s]", f"V{l}[s]", "z", d, k)
        body += [f"        for (i = 0; i < {k}; i++) h{l}[i] *= g{l}[i];"]
        width, before = k, f"h{l}"
    tables += [array_text("readout", p.readout.mT, numbers), array_text("offset", p.offset, numbers)]
    body += sums("f", "offset[s]", "readout[s]", before, width, m)
    head = ["static void ladders(const real *z, real *f)", "{", "    int s, i, j;"]
    return "\n".join(
        ["", *tables, *head, f"    for (s = 0; s < {s}; s++) {{", *body, f"        f += {m};", "    }", "}"]
    )


def sums(to: str, start: str, matrix: str, vector: str, width: int, k: int) -> list[str]:
    """Statements for to = start + matrix' vector, with k entries."""
    return [
        f"        for (i = 0; i < {k}; i++) {to}[i] = {start}[i];",
        f"        for (j = 0; j < {width}; j++)",
        f"            for (i = 0; i < {k}; i++) {to}[i] += {matrix}[j][i] * {vector}[j];",
    ]
