"""A model as a Python module that needs nothing but NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.convert.exported.cells import cell_words
from polyladder.convert.source.numpy_cells import cells_text, read_text
from polyladder.convert.source.operations import TextOperations
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Banded, Classes, Draws, Numbers, Probit
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson

HEAD = '''"""{title}

predict(rows) takes a mapping from names to columns (a data frame is one), or an array with columns as in COLUMNS.
{gives}
What is missing is None, NaN or an empty text. Columns hold (a number in place of a date is days since 1970-01-01):
{columns_in_words}
"""

{imports}

import numpy as np

COLUMNS = {columns}
ANSWERS = {answers}
{labels}'''

QUANTILE = """
def _quantile(x, knots, before, at, after):
    knots, before, at, after = map(np.array, (knots, before, at, after))
    i = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
    share = (x - knots[i]) / (knots[i + 1] - knots[i])
    y = after[i] + (before[i + 1] - after[i]) * share
    y = np.where(x == knots[i], at[i], y)
    y = np.where(x >= knots[-1], at[-1], np.where(x <= knots[0], at[0], y))
    return np.where(np.isnan(x), x, y)

"""

YEO_JOHNSON = """
def _yeo_johnson(x, power):
    log = np.log1p(np.abs(x))
    up = log if abs(power) < 2.220446049250313e-16 else np.expm1(power * log) / power
    down = -log if abs(power - 2) <= 2.220446049250313e-16 else -np.expm1((2 - power) * log) / (2 - power)
    return np.where(x >= 0, up, down)

"""

LADDERS = '''
def outputs(z):
    """Outputs of every ladder. Shape (ladders, n, outputs)."""
    h = z
    for W, b, V, c in zip(_W, _B, _V, _C):
        h = (h @ W + b) * (z @ V + c)
    return h @ _READOUT + _OFFSET

'''

PROBIT = """
_erfc = np.frompyfunc(math.erfc, 1, 1)


def _phi(x):
    return (0.5 * _erfc(-x / math.sqrt(2.0))).astype(np.float64)


def _probit(f):
    if f.shape[-1] == 1:
        f = np.clip(f, -{surest!r}, {surest!r})
        return _phi(np.concatenate([-f, f], -1))
    f = np.maximum(f - f.max(-1, keepdims=True), -{surest!r})
    margin = f[..., :, None] - f[..., None, :]
    others = ~np.eye(f.shape[-1], dtype=bool)
    total = sum(w * np.where(others, _phi(margin + t), 1.0).prod(-1) for t, w in zip(_NODES, _SHARES))
    return total / total.sum(-1, keepdims=True)

"""


def numpy_source(model: FittedModel) -> Source:
    """The module. It agrees with `predict` to rounding: 1e-12 of the size of the outputs."""
    kinds = {type(step) for feature in model.steps for step in feature.steps}
    labels = model.labels or ()
    reading = cells_text(model)
    body = [QUANTILE] * (Quantile in kinds) + [YEO_JOHNSON] * (YeoJohnson in kinds)
    body += [features_text(model), weights_text(model), LADDERS, answer_text(model)]
    used = "\n".join([reading, *body])
    head = HEAD.format(
        title=f"A ladder polynomial of order {model.ladders.order} for {documented(model.target)}.",
        gives=f"It gives an array with one row per row: {documented(', '.join(model.answer_names))}.",
        columns_in_words="\n".join(f"    {documented(c.name)}: {documented(cell_words(c))}" for c in model.columns),
        imports="\n".join(f"import {name}" for name in MODULES if f"{name}." in used),
        columns=repr([column.name for column in model.columns]),
        answers=repr(list(model.answer_names)),
        labels=f"LABELS = {list(labels)!r}\n" if labels else "",
    )
    return Source("\n".join([head, used]).replace("\n\n\n\n", "\n\n\n"))


MODULES = ("datetime", "math", "numbers", "re")
"""Those of the standard library that a module may use."""


def documented(text: str) -> str:
    r"""Text within a docstring: what is not printable as escapes, and nothing that could end it.

    >>> print(documented('a" \n'))
    a\" \n
    """
    return repr(text)[1:-1].replace('"', '\\"')


def features_text(model: FittedModel) -> str:
    """The function from rows to inputs of the ladders."""
    lines = ["def features(rows):", '    """Inputs of the ladders. Shape (n, inputs)."""']
    used = sorted({feature.column for feature in model.steps})
    for i in used:
        lines.append(f"    x{i} = {read_text(model.columns[i], i)}")
    lines.append(f"    z = np.empty((len(x{used[0]}), {len(model.steps)}))")
    for at, feature in enumerate(model.steps):
        value = f"x{feature.column}"
        for step in feature.steps:
            value = step_text(step, value)
        lines.append(f"    z[:, {at}] = {value}")
    return "\n".join([*lines, "    return z", "", ""])


OPERATIONS = TextOperations(repr, "np.sin")


def step_text(step: Step, x: str) -> str:
    """One step as an expression of x."""
    match step:
        case Blank(code):
            return f"np.where({x} == {code!r}, np.nan, {x})"
        case Fill(value):
            return f"np.where(np.isnan({x}), {value!r}, {x})"
        case Clip(low, high):
            return f"np.clip({x}, {low!r}, {high!r})"
        case Affine(shift, scale):
            return f"({x} - {shift!r}) / {scale!r}"
        case Ramp(low, high):
            return f"np.clip(({x} - {low!r}) / {high - low!r}, 0.0, 1.0)"
        case YeoJohnson(power):
            return f"_yeo_johnson({x}, {power!r})"
        case Quantile(knots, before, at, after):
            return f"_quantile({x}, {list(knots)}, {list(before)}, {list(at)}, {list(after)})"
        case IsMissing():
            return f"np.isnan({x})"
        case IsCategory(category):
            return f"_is({x}, {category!r})"
        case _:
            return step.written(x, OPERATIONS)


def array(values: Any) -> str:
    """Numbers as Python reads them back, bit for bit."""
    return repr(np.asarray(values, dtype=np.float64).tolist())


def weights_text(model: FittedModel) -> str:
    """The weights, matrices transposed: rows times matrix."""
    p = model.ladders
    lists = {"_W": p.W, "_V": p.V}
    lines = [
        f"{name} = [np.array(w) for w in {[w.mT.tolist() for w in matrices]!r}]" for name, matrices in lists.items()
    ]
    for name, vectors in {"_B": p.b, "_C": p.c}.items():
        lines.append(f"{name} = [np.array(w) for w in {[w.unsqueeze(1).tolist() for w in vectors]!r}]")
    lines.append(f"_READOUT = np.array({array(p.readout.mT)})")
    lines.append(f"_OFFSET = np.array({array(p.offset.unsqueeze(1))})")
    return "\n".join(lines) + "\n"


def answer_text(model: FittedModel) -> str:
    """The function `predict`."""
    answer = model.answer
    start = 'def predict(rows):\n    """Answers for rows. Shape (n, answers)."""\n'
    match answer:
        case Numbers(guard):
            held = "y" if guard is None else f"np.clip(y, {list(guard[0])!r}, {list(guard[1])!r})"
            return f"{start}    y = outputs(features(rows)).mean(0)\n    return {held}\n"
        case Banded():
            return banded_text(answer, start)
        case Classes(_, link):
            lines = ["    s = outputs(features(rows)).mean(0)"]
            if model.ladders.out_features == 1:
                lines.append("    s = np.concatenate([np.zeros_like(s), s], 1)")
            if link == "one-versus-rest":
                lines.append("    s = np.minimum(s, 0.0) - np.log1p(np.exp(-np.abs(s)))")
            lines += ["    e = np.exp(s - s.max(1, keepdims=True))", "    return e / e.sum(1, keepdims=True)", ""]
            return start + "\n".join(lines)
        case Draws():
            return posterior_text(answer, start)
        case Probit(_, surest):
            numbers = f"_NODES = {array(answer.nodes)}\n_SHARES = {array(answer.weights)}\n"
            helper = PROBIT.format(surest=surest)
            return f"{numbers}{helper}\n{start}    return _probit(outputs(features(rows))).mean(0)\n"
        case _:
            raise TypeError(f"{type(answer).__name__} must have words of its own in NumPy; it has none.")


def banded_text(answer: Banded, start: str) -> str:
    """Predictions, the ends of their intervals, and scales."""
    lines = ["    y, log_scale, growth = np.split(outputs(features(rows)).mean(0), 3, 1)"]
    if answer.guard is not None:
        low, high = map(list, answer.guard)
        lines.append(f"    y = np.clip(y, {low!r}, {high!r})")
    low, high = map(list, answer.log_scales)
    lines.append(f"    scale = np.exp(np.clip(log_scale, {low!r}, {high!r}) + np.minimum(growth, {answer.most!r}))")
    lines.append(f"    half = np.array({list(answer.widths)!r}) * scale")
    lines.append("    return np.concatenate([y, y - half, y + half, scale], 1)")
    return start + "\n".join([*lines, ""])


def posterior_text(answer: Draws, start: str) -> str:
    """Lower median and standard deviation over the believed draws."""
    lines = [f"_VARIANCE = np.array({array(answer.variance[:, None])})"]
    if answer.slopes.shape[-1]:
        lines.append(f"_SLOPES = np.array({array(answer.slopes.swapaxes(1, 2))})")
    lines += ["", "", start.rstrip("\n"), "    z = features(rows)", "    f = outputs(z)"]
    if answer.guard is not None:
        low, high = (list(side) for side in answer.guard)
        lines.append(f"    low, high = np.array({low!r}), np.array({high!r})")
        lines.append("    inside = ((f >= low) & (f <= high)).all(-1, keepdims=True)")
        lines.append("    inside |= ~inside.any(0)")
        lines.append("    f = np.clip(f, low, high)")
    else:
        lines.append("    inside = np.ones(f.shape[:2] + (1,), dtype=bool)")
    noise = "_VARIANCE"
    if answer.slopes.shape[-1]:
        lines.append("    x = np.clip(z, -3.0, 3.0)")
        lines.append("    raw = np.concatenate([x, (x * x - 1.0) / 2.0], 1) @ _SLOPES")
        noise += f" * np.exp(-{answer.tilt!r} * np.tanh(raw / {answer.tilt!r}))"
    return "\n".join(
        [
            *lines,
            "    count = inside.sum(0)",
            "    ranked = np.sort(np.where(inside, f, np.inf), 0)",
            "    median = np.take_along_axis(ranked, ((count - 1) // 2)[None].repeat(f.shape[-1], 2), 0)[0]",
            "    mean = np.where(inside, f, 0.0).sum(0) / count",
            f"    noise = np.where(inside, {noise}, 0.0).sum(0) / count",
            "    spread = np.where(inside, (f - mean) ** 2, 0.0).sum(0) / count",
            "    return np.concatenate([median, np.sqrt(spread + noise)], 1)",
            "",
        ]
    )
