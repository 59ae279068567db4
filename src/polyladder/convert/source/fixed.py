"""A model as C99 that computes only with integers: word lengths and errors follow from proven ranges."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from polyladder.convert.exported.ranges import Array, Interval, input_box, ladder_ranges
from polyladder.convert.identifiers import check_identifier
from polyladder.convert.printed import rounded_up
from polyladder.convert.source.c_codes import code_text, has_codes
from polyladder.convert.source.c_words import answer_words, column_words, commented, model_words
from polyladder.convert.source.fixed_point import (
    Fixed,
    affine,
    bits_after_point,
    error_of_product,
    integers,
)
from polyladder.convert.source.fixed_steps import FixedColumn, features_text
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Guard, Numbers
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Clip, Ramp
from polyladder.polynomial.ladder import LadderPolynomial

ROUNDED = """
static wide rounded(wide x, int n)
{
    wide half;
    if (n <= 0) return x * ((wide)1 << -n);
    half = (wide)1 << (n - 1);
    return x >= 0 ? (x + half) >> n : -((-x + half) >> n);
}
"""


def fixed_source(
    model: FittedModel,
    name: str = "ladder",
    bits: Literal[16, 32] = 32,
    ranges: Sequence[tuple[float, float]] | None = None,
) -> Source:
    """The source and its header; ``source.bound`` is the proven largest difference to the exact model.

    Every number lies in a word of ``bits`` bits, with as many of them behind the point as its proven range leaves;
    sums and products are taken in words of twice the length. A row holds, for each column, the value times a power of
    two that the header states, rounded; a missing number is the smallest word. The bound includes that rounding.

    Args:
        model: of numbers, each column held to a range, by clipping or ramps.
        name: prefix of the public function.
        bits: of a word.
        ranges: (low, high) of each column of a model that does not hold its columns itself, such as a bare ladder.
    """
    check_identifier(name, "C")
    if bits not in (16, 32):
        raise ValueError(f"bits must be 16 or 32; got {bits!r}.")
    answer = model.answer
    if not isinstance(answer, Numbers):
        raise ValueError("Fixed point must have a model of numbers; links of classes and posteriors are not integer.")
    if ranges is not None:
        model = held(model, ranges)
    box = input_box(model)
    columns = [column_of(model, i, bits) for i in range(len(model.columns))]
    steps, inputs = features_text(model, columns, box, bits)
    tables, body, outputs = ladders_text(model.ladders, inputs, box, bits)
    guard_lines, bound = guarded(answer.guard, outputs)
    words = summary(model, bits, columns, outputs, bound)
    head = header(model, name, bits, words, columns, outputs)
    text = [
        f"/* {words} */",
        "#include <stddef.h>",
        "#include <stdint.h>",
        f"\ntypedef int{bits}_t word;\ntypedef int{2 * bits}_t wide;\n",
        *declarations(model, name, "word"),
        code_text(model, name),
        ROUNDED,
        *tables,
        f"\nvoid {name}_predict(const word *row, word *answers)",
        "{",
        f"    wide z[{len(model.steps)}], f[{len(outputs)}], x, sum;",
        "    int i, j;",
        *steps,
        *body,
        *guard_lines,
        f"    for (i = 0; i < {len(outputs)}; i++) answers[i] = (word)f[i];",
        "}",
        "",
    ]
    return Source("\n".join(text), head, tuple(bound))


def held(model: FittedModel, ranges: Sequence[tuple[float, float]]) -> FittedModel:
    """The model with every number held to a range first."""
    if len(ranges) != len(model.columns) or not all(low < high for low, high in ranges):
        raise ValueError(f"ranges must hold (low, high) for each of {len(model.columns)} columns; got {ranges!r}.")
    features = tuple(
        dataclasses.replace(f, steps=(Clip(*ranges[f.column]), *f.steps))
        if model.columns[f.column].kind == "number"
        else f
        for f in model.steps
    )
    return dataclasses.replace(model, steps=features)


def column_of(model: FittedModel, position: int, bits: int) -> FixedColumn:
    """A column, scaled so that the range that it is clipped to just fits into a word."""
    column = model.columns[position]
    edges = [
        edge
        for feature in model.steps
        if feature.column == position
        for step in feature.steps
        if isinstance(step, Clip | Ramp)
        for edge in (step.low, step.high)
    ]
    if column.kind == "category" or not edges:
        return FixedColumn(column, 0)
    return FixedColumn(column, bits_after_point(max(map(abs, edges)), bits))


def ladders_text(p: LadderPolynomial, z: Fixed, box: Interval, bits: int) -> tuple[list[str], list[str], Fixed]:
    """Tables, statements, and what the outputs are: the mean over the ladders, written to f."""
    tables: list[str] = []
    body: list[str] = []
    m, count = p.out_features, len(p)
    # All ladders add to the same outputs, so these share one scale.
    total = sum(ladder_ranges(p[s], box)[1].size for s in range(count)) / count
    point = bits_after_point(float(np.max(total)), bits)
    error: Array = np.full(m, 0.0)
    body.append(f"    for (i = 0; i < {m}; i++) f[i] = 0;")
    for s in range(count):
        single = p[s]
        rungs, _ = ladder_ranges(single, box)
        h, before = z, "z"
        for l, ((W, b, V, c), rung) in enumerate(zip(single.layers(), rungs, strict=True)):
            k = len(rung.product.low)
            made, lines, u = affine(f"{s}_{l}w", W.numpy(), b.numpy(), h, rung.inner, before, "u", bits)
            gates, more, g = affine(f"{s}_{l}v", V.numpy(), c.numpy(), z, rung.gate, "z", "g", bits)
            to = bits_after_point(float((rung.product.size).max()), bits)
            shift = u.point + g.point - to
            body += ["    {", f"    wide u[{k}], g[{k}];", *lines, *more]
            body += [f"    for (i = 0; i < {k}; i++) h{s}_{l}[i] = rounded(u[i] * g[i], {shift});", "    }"]
            body.insert(0, f"    wide h{s}_{l}[{k}];")
            tables += [*made, *gates]
            h = Fixed(to, rung.product.size, error_of_product(u, g) + 2.0 ** -(to + 1))
            before = f"h{s}_{l}"
        made, lines, part = affine(
            f"{s}_r", single.readout.numpy() / count, single.offset.numpy() / count, h, None, before, "f", bits, point
        )
        tables += made
        body += lines
        error = error + part.error
    return tables, body, Fixed(point, np.asarray(total), error)


def guarded(guard: Guard | None, outputs: Fixed) -> tuple[list[str], Array]:
    """Statements that clip outputs to the guard's range, and the error of the answers."""
    bound = outputs.error
    if guard is None:
        return [], bound
    low, high = (integers(side, outputs.point) for side in guard)
    lines = []
    for j, (a, b) in enumerate(zip(low, high, strict=True)):
        lines.append(f"    if (f[{j}] < {a}) f[{j}] = {a};")
        lines.append(f"    if (f[{j}] > {b}) f[{j}] = {b};")
    return lines, np.maximum(bound, 2.0 ** -(outputs.point + 1))


def summary(model: FittedModel, bits: int, columns: list[FixedColumn], outputs: Fixed, bound: Array) -> str:
    """What the model is and how a row is laid out, as a comment that nothing in it can end."""
    lines = [f"{model_words(model)}, in integers of {bits} bits. A row holds, in this order:"]
    for i, column in enumerate(columns):
        scale = "" if column.column.kind == "category" else f", times 2^{column.point}, rounded"
        lines.append(f"   {i}  {commented(column.column.name)}: {column_words(column.column)}{scale}")
    lines.append(f"A missing number is the smallest word. Answers are to be multiplied by 2^{-outputs.point}.")
    lines.append("Proven largest error of each: " + ", ".join(map(rounded_up, bound.tolist())) + ".")
    return "\n".join([*lines, answer_words(model)])


def declarations(model: FittedModel, name: str, word: str) -> list[str]:
    """The public functions."""
    code = [f"int {name}_code(int column, const char *text);"] if has_codes(model) else []
    return [f"void {name}_predict(const {word} *row, {word} *answers);", *code]


def header(model: FittedModel, name: str, bits: int, words: str, columns: list[FixedColumn], outputs: Fixed) -> str:
    """The header, with the scale of every column and of the answers."""
    upper = name.upper()
    return "\n".join(
        [
            f"/* {words} */",
            f"#ifndef POLYLADDER_{upper}_H",
            f"#define POLYLADDER_{upper}_H",
            "#include <stdint.h>",
            f"#define {upper}_COLUMNS {len(columns)}",
            f"#define {upper}_ANSWERS {len(outputs)}",
            f"#define {upper}_ANSWER_EXPONENT ({-outputs.point})",
            f"static const int {name}_column_exponents[] = {{{', '.join(str(-c.point) for c in columns)}}};",
            *declarations(model, name, f"int{bits}_t"),
            "#endif",
            "",
        ]
    )
