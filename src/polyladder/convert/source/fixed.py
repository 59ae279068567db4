"""A model as C99 that computes only with integers: word lengths and errors follow from proven ranges."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from polyladder.convert.exported.ranges import Array, input_box, ladder_ranges, size_of
from polyladder.convert.identifiers import check_identifier
from polyladder.convert.printed import rounded_up
from polyladder.convert.source.c_codes import code_text
from polyladder.convert.source.c_words import declarations, header_text, summary
from polyladder.convert.source.fixed_point import (
    Fixed,
    affine,
    bits_after_point,
    integers,
)
from polyladder.convert.source.fixed_steps import features_text
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Banded, Guard, Numbers
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Clip, Ramp
from polyladder.polynomial.ball import Ball, product_error
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
    if isinstance(answer, Banded):
        raise ValueError("Fixed point must be without intervals: their scales are not integer. Leave interval out.")
    if not isinstance(answer, Numbers):
        raise ValueError("Fixed point must have a model of numbers; links of classes and posteriors are not integer.")
    if ranges is not None:
        model = held(model, ranges)
    box = input_box(model)
    points = [point_of(model, i, bits) for i in range(len(model.columns))]
    steps, inputs = features_text(model, points, size_of(box), bits)
    tables, body, outputs = ladders_text(model.ladders, inputs, box, bits)
    guard_lines, bound = guarded(answer.guard, outputs)
    scales = [
        "" if column.kind == "category" else f", times 2^{point}, rounded"
        for column, point in zip(model.columns, points, strict=True)
    ]
    notes = [
        f"A missing number is the smallest word. Answers are to be multiplied by 2^{-outputs.point}.",
        f"Proven largest error of each: {', '.join(map(rounded_up, bound.tolist()))}.",
    ]
    words = summary(model, f"integers of {bits} bits", scales, notes)
    exponents = [
        "#include <stdint.h>",
        f"#define {name.upper()}_ANSWER_EXPONENT ({-outputs.point})",
        f"static const int {name}_column_exponents[] = {{{', '.join(str(-point) for point in points)}}};",
    ]
    text = [
        f"/* {words} */",
        "#include <stddef.h>",
        "#include <stdint.h>",
        f"\ntypedef int{bits}_t word;\ntypedef int{2 * bits}_t wide;\n",
        declarations(model, name, "word"),
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
    return Source("\n".join(text), header_text(model, name, f"int{bits}_t", words, exponents), tuple(bound))


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


def point_of(model: FittedModel, position: int, bits: int) -> int:
    """Bits behind the point of a column's values, so that the range that it is clipped to just fits into a word."""
    edges = [
        edge
        for feature in model.steps
        if feature.column == position
        for step in feature.steps
        if isinstance(step, Clip | Ramp)
        for edge in (step.low, step.high)
    ]
    return bits_after_point(max(map(abs, edges)), bits) if edges else 0


def ladders_text(p: LadderPolynomial, z: Fixed, box: Ball, bits: int) -> tuple[list[str], list[str], Fixed]:
    """Tables, statements, and what the outputs are: the mean over the ladders, written to f."""
    tables: list[str] = []
    body: list[str] = []
    m, count = p.out_features, len(p)
    # All ladders add to the same outputs, so these share one scale.
    ranges = [ladder_ranges(p[s], box) for s in range(count)]
    total = np.sum([size_of(output) for _, output in ranges], 0) / count
    point = bits_after_point(float(np.max(total)), bits)
    error: Array = np.full(m, 0.0)
    body.append(f"    for (i = 0; i < {m}; i++) f[i] = 0;")
    for s in range(count):
        single, (rungs, _) = p[s], ranges[s]
        h, before = z, "z"
        for l, ((W, b, V, c), rung) in enumerate(zip(single.layers(), rungs, strict=True)):
            k, size = len(b), size_of(rung.product)
            made, lines, u = affine(f"{s}_{l}w", W.numpy(), b.numpy(), h, size_of(rung.inner), before, "u", bits)
            gates, more, g = affine(f"{s}_{l}v", V.numpy(), c.numpy(), z, size_of(rung.gate), "z", "g", bits)
            to = bits_after_point(float(size.max()), bits)
            shift = u.point + g.point - to
            body += ["    {", f"    wide u[{k}], g[{k}];", *lines, *more]
            body += [f"    for (i = 0; i < {k}; i++) h{s}_{l}[i] = rounded(u[i] * g[i], {shift});", "    }"]
            body.insert(0, f"    wide h{s}_{l}[{k}];")
            tables += [*made, *gates]
            h = Fixed(to, size, product_error(u.size, u.error, g.size, g.error) + 2.0 ** -(to + 1))
            before = f"h{s}_{l}"
        made, lines, part = affine(
            f"{s}_r", single.readout.numpy() / count, single.offset.numpy() / count, h, None, before, "f", bits, point
        )
        tables += made
        body += lines
        error = error + part.error
    return tables, body, Fixed(point, total, error)


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
