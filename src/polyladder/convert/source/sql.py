"""A model as one SQL query: one common table expression per rung. SQLite, DuckDB and PostgreSQL run the same text."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from polyladder.convert.exported.cells import cell_words, refuse_nul
from polyladder.convert.exported.parts import consecutive, exported_parts
from polyladder.convert.source.operations import TextOperations
from polyladder.convert.source.sql_cells import LARGEST, cell_parts, table_name
from polyladder.convert.source.sql_draws import draws_query
from polyladder.convert.source.sql_probit import probit_query
from polyladder.convert.source.sql_words import (
    balanced,
    best_text,
    comment,
    held,
    label_text,
    number,
    product_sum,
    quoted,
    quoted_text,
)
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Banded, Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson
from polyladder.polynomial.few_directions import few_directions
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import UnitSum

COLUMNS = 1600
"""Most columns of a table, gates included: PostgreSQL allows 1,664 and SQLite 2,000."""


def sql_source(model: FittedModel, table: str = "rows", key: str | None = None) -> Source:
    """The query: one row for each row of a table, with its key and the answers.

    Each rung is materialized, so the text and the work grow with the number of weights and no faster. It agrees with
    `predict` to 1e-9 of the size of the outputs. Classes come as their probabilities and as the best label. The draws
    of a posterior are a table of their own, which the rows are joined with.

    Args:
        model: to be rendered.
        table: the name of a table or view that has the model's columns, with its schema if need be: main.houses.
        key: a column that identifies rows; by default rows are numbered in their order, in ``row_number``.
    """
    refuse_names(model, table, key)
    name = "row_number" if key is None else key
    value = "ROW_NUMBER() OVER ()" if key is None else f"r.{quoted(key)}"
    head = [*cell_parts(model, table_name(table), value), *feature_parts(model)]
    answer = model.answer
    if isinstance(answer, Draws):
        return Source(summary(model) + draws_query(model, answer, head, quoted(name)))
    if isinstance(answer, Probit):
        return Source(summary(model) + probit_query(model, answer, head, quoted(name)))
    parts = [*head, *rungs(model)]
    match answer:
        case Numbers(guard):
            last = final_numbers(model, guard, name)
        case Banded():
            more, last = final_banded(model, answer, name)
            parts += more
        case Classes(labels, link):
            more, last = final_classes(labels, link, model.ladders.out_features, name)
            parts += more
    return Source(summary(model) + "WITH " + ",\n".join(parts) + "\n" + last + ";\n")


def summary(model: FittedModel) -> str:
    """What the query reads, as comments of one line each."""
    lines = [f'A ladder polynomial of order {model.ladders.order} for "{model.target}", from these columns:']
    lines += [f'  "{column.name}": {cell_words(column)}' for column in model.columns]
    return "".join(map(comment, lines))


def refuse_names(model: FittedModel, table: str, key: str | None) -> None:
    """Refuse names and texts that SQL cannot hold, or cannot tell apart."""
    refuse_nul(model, "SQL")
    labels = model.labels or ()
    names = [column.name for column in model.columns]
    if "" in (*names, key):
        raise ValueError("Columns must have names for SQL; got ''. Rename it and fit again.")
    for text in (*names, *map(str, labels), table, key or ""):
        if "\0" in text:
            raise ValueError(f"Names must be without the character NUL for SQL; got {text!r}. Rename it and fit again.")
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(
                f"Columns must differ by more than capitals for SQL; got {other!r} and {name!r}. "
                "Rename one of them and fit again."
            )


def feature_parts(model: FittedModel) -> list[str]:
    """The inputs of the ladders: first those that go through steps of their own, then what goes on from these."""
    base = {i: base_of(model, i) for i in range(len(model.steps))}
    own = [i for i, start in base.items() if start is None]
    first = ",\n    ".join(f"{feature_text(model, i)} AS z{i}" for i in own)
    parts = [f"ladder_scaled AS MATERIALIZED (\n  SELECT k,\n    {first}\n  FROM ladder_cells\n)"]
    columns = ",\n    ".join(
        f"z{i}" if start is None else f"{further_text(model, i, start)} AS z{i}" for i, start in base.items()
    )
    return [*parts, f"ladder_features AS MATERIALIZED (\n  SELECT k,\n    {columns}\n  FROM ladder_scaled\n)"]


def base_of(model: FittedModel, at: int) -> int | None:
    """The input of the same column whose steps this one begins with, as those of ramps do; None where there is none."""
    feature = model.steps[at]
    main = model.columns[feature.column].main
    if main is None or main == at:
        return None
    begun = model.steps[main].steps
    return main if begun and feature.steps[: len(begun)] == begun else None


def further_text(model: FittedModel, at: int, start: int) -> str:
    """One input of the ladders as an expression of another that it goes on from; NULL stays NULL."""
    value = f"z{start}"
    for step in model.steps[at].steps[len(model.steps[start].steps) :]:
        value = step_text(step, value)
    return value


def feature_text(model: FittedModel, at: int) -> str:
    """One input of the ladders as an expression of a cell; NULL where the cell could not be read."""
    feature = model.steps[at]
    column, value = model.columns[feature.column], f"c{feature.column}"
    if column.reading.kind == "boolean":
        return boolean_text(feature.steps, value, column.categories)
    wrong = f"ABS({value}) > {LARGEST}" if column.kind == "number" else ""
    for step in feature.steps:
        value = step_text(step, value)
    return f"CASE WHEN {wrong} THEN NULL ELSE {value} END" if wrong else value


def boolean_text(steps: Sequence[Step], value: str, categories: Sequence[str | None]) -> str:
    """Whether a word for yes or no is a category; NULL where it is neither."""
    (step,) = steps
    assert isinstance(step, IsCategory)
    known = ", ".join(quoted_text(c) for c in categories if c is not None)
    return f"CASE WHEN {value} IN ({known}) OR {value} IS NULL THEN {step_text(step, value)} END"


def step_text(step: Step, x: str) -> str:
    """One step as an expression of x."""
    match step:
        case Blank(code):
            return f"NULLIF({x}, {number(code)})"
        case Fill(value):
            return f"COALESCE({x}, {number(value)})"
        case Clip(low, high):
            return held(x, number(low), number(high))
        case Affine(shift, scale):
            return f"({x} - {number(shift)}) / {number(scale)}"
        case Ramp(low, high):
            return held(f"(({x} - {number(low)}) / {number(high - low)})", "0e0", "1e0")
        case YeoJohnson(power):
            return yeo_johnson(x, power)
        case Quantile():
            ends = f"WHEN {x} <= {number(step.knots[0])} THEN {number(step.at[0])} "
            ends += f"WHEN {x} >= {number(step.knots[-1])} THEN {number(step.at[-1])} "
            return f"(CASE {ends}WHEN {x} IS NOT NULL THEN {between_knots(step, x, 0, len(step.knots) - 1)} END)"
        case IsMissing():
            return f"CAST(CASE WHEN {x} IS NULL THEN 1 ELSE 0 END AS DOUBLE PRECISION)"
        case IsCategory(category):
            same = f"{x} IS NULL" if category is None else f"{x} = {quoted_text(category)}"
            return f"CAST(CASE WHEN {same} THEN 1 ELSE 0 END AS DOUBLE PRECISION)"
        case _:
            return step.written(x, TextOperations(number, "SIN"))


def yeo_johnson(x: str, power: float) -> str:
    """The power transform by exp and ln."""
    up = f"LN(1e0 + {x})" if power == 0 else f"(EXP({number(power)} * LN(1e0 + {x})) - 1e0) / {number(power)}"
    other = 2 - power
    down = f"-LN(1e0 - {x})"
    if other != 0:
        down = f"(1e0 - EXP({number(other)} * LN(1e0 - {x}))) / {number(other)}"
    return f"(CASE WHEN {x} >= 0e0 THEN {up} WHEN {x} < 0e0 THEN {down} END)"


def between_knots(step: Quantile, x: str, low: int, high: int) -> str:
    """The value of x strictly between knots low and high: a binary search as nested cases, which are not deep."""
    if high - low == 1:
        slope = (step.before[high] - step.after[low]) / (step.knots[high] - step.knots[low])
        return f"{number(step.after[low])} + {number(slope)} * ({x} - {number(step.knots[low])})"
    middle = (low + high) // 2
    knot = number(step.knots[middle])
    below, above = between_knots(step, x, low, middle), between_knots(step, x, middle, high)
    return f"CASE WHEN {x} < {knot} THEN {below} WHEN {x} > {knot} THEN {above} ELSE {number(step.at[middle])} END"


def rungs(model: FittedModel) -> list[str]:
    """One expression per rung: all ladders side by side, without units that nothing reads; inputs are carried along.

    Gates that the next rung has as well are columns of their own, computed once, while there are few enough columns. So
    are the directions of a ladder that reads its inputs along few.
    """
    whole = [part for part in exported_parts(model) if isinstance(part, LadderPolynomial)]
    read = [few_directions(p) if p.W else None for p in whole]
    members = [p if few is None else few.inner for p, few in zip(whole, read, strict=True)]
    inputs = [f"z{i}" for i in range(model.ladders.in_features)]
    parts, sums = unit_rungs(model, inputs if members else [])
    before = "ladder_sums" if parts else "ladder_features"
    # What each ladder reads, which later rungs read again.
    own = [
        inputs if few is None else [f"d{s}_{i}" for i in range(few.directions.shape[1])] for s, few in enumerate(read)
    ]
    carried = list(dict.fromkeys(name for names in own for name in names))
    if any(read):
        directions = [
            f"{product_sum(direction, inputs, 0.0)} AS {name}"
            for few, names in zip(read, own, strict=True)
            if few is not None
            for direction, name in zip(few.directions.mT.tolist(), names, strict=True)
        ]
        same = [name for name in carried if name in inputs]
        listed = ",\n    ".join([", ".join(["k", *sums, *same]), *directions])
        parts.append(f"ladder_directions AS MATERIALIZED (\n  SELECT {listed}\n  FROM {before}\n)")
        before = "ladder_directions"
    names = own
    room = len(carried) + 2 * sum(max(p.hidden, default=0) for p in members) <= COLUMNS

    def repeats(p: LadderPolynomial, layer: int) -> bool:
        return room and same_gates(p, layer)

    for l in range(len(model.ladders.W) if members else 0):
        kept = [f"g{s}_{i}" for s, p in enumerate(members) if repeats(p, l + 1) for i in range(p.hidden[l])]
        known = [f"g{s}_{i}" for s, p in enumerate(members) if repeats(p, l) for i in range(p.hidden[l])]
        columns, fresh = [], []
        for s, p in enumerate(members):
            mine = [f"h{s}_{i}" for i in range(p.hidden[l])]
            for i, unit in enumerate(mine):
                gate = f"g{s}_{i}"
                if gate not in known:
                    gate = product_sum(p.V[l][i].tolist(), own[s], p.c[l][i].item())
                if f"g{s}_{i}" in kept:
                    columns.append(f"{gate} AS g{s}_{i}")
                u = product_sum(p.W[l][i].tolist(), names[s], p.b[l][i].item())
                columns.append(f"({u}) * ({gate}) AS {unit}")
            fresh.append(mine)
        later = any(not repeats(p, above) for p in members for above in range(l + 1, len(p.W)))
        listed = ",\n    ".join([", ".join(["k", *sums, *(carried if later else [])]), *columns])
        parts.append(f"ladder_rung_{l + 1} AS MATERIALIZED (\n  SELECT {listed}\n  FROM {before}\n)")
        names, before = fresh, f"ladder_rung_{l + 1}"
    outputs = []
    for j in range(model.ladders.out_features):
        terms = [
            product_sum(p.readout[j].tolist(), mine, p.offset[j].item()) for p, mine in zip(members, names, strict=True)
        ]
        outputs.append(f"({balanced([*sums[j : j + 1], *terms])}) / {number(len(model.ladders))} AS f{j}")
    listed = ",\n    ".join(outputs)
    return [*parts, f"ladder_outputs AS MATERIALIZED (\n  SELECT k,\n    {listed}\n  FROM {before}\n)"]


def unit_rungs(model: FittedModel, carried: Sequence[str]) -> tuple[list[str], list[str]]:
    """Expressions for the members that are sums of units: dot products, polynomials of them, the sums of all by output.

    Args:
        model: to be rendered.
        carried: inputs that other members read.

    Returns:
        The expressions and the names of the sums; none where no member is a sum of units.
    """
    members = [part for part in exported_parts(model) if isinstance(part, UnitSum)]
    if not members:
        return [], []
    products, values = [], []
    for s, part in enumerate(members):
        start, directions = consecutive(part)
        inputs = [f"z{start + j}" for j in range(len(directions))]
        for i, (direction, powers) in enumerate(zip(directions.mT.tolist(), part.powers.mT.tolist(), strict=True)):
            products.append(f"{product_sum(direction, inputs, 0.0)} AS t{s}_{i}")
            values.append(f"{horner(powers, f't{s}_{i}')} AS v{s}_{i}")
    names = [f"u{j}" for j in range(model.ladders.out_features)]
    sums = []
    for j, name in enumerate(names):
        terms = [
            product_sum(part.readout[:, j].tolist(), [f"v{s}_{i}" for i in range(len(part.readout))], float(offset))
            for s, part in enumerate(members)
            for offset in part.offset[j : j + 1]
        ]
        sums.append(f"{balanced(terms)} AS {name}")
    found, before, first = [], "ladder_features", ", ".join(["k", *carried])
    for title, columns in (("units", products), ("values", values), ("sums", sums)):
        listed = ",\n    ".join([first, *columns])
        found.append(f"ladder_{title} AS MATERIALIZED (\n  SELECT {listed}\n  FROM {before}\n)")
        before = f"ladder_{title}"
    return found, names


def horner(powers: Sequence[float], t: str) -> str:
    """The polynomial of t with these coefficients, the highest power first.

    >>> horner([0.0, 2.0, 1.0], "t")
    '2.0e0 * t + 1.0e0'
    """
    first = next((i for i, power in enumerate(powers) if power), len(powers) - 1)
    text = number(powers[first])
    for power in powers[first + 1 :]:
        text = f"{f'({text})' if '+ ' in text else text} * {t}{f' + {number(power)}' if power else ''}"
    return text


def same_gates(p: LadderPolynomial, layer: int) -> bool:
    """Whether a layer has the gates of the one below it."""
    if not 0 < layer < len(p.W) or p.V[layer].shape != p.V[layer - 1].shape:
        return False
    return torch.equal(p.V[layer], p.V[layer - 1]) and torch.equal(p.c[layer], p.c[layer - 1])


def final_numbers(model: FittedModel, guard: Guard | None, key: str) -> str:
    """The last SELECT of a model of numbers."""
    values = guarded(range(model.ladders.out_features), guard)
    columns = [f"{v} AS {quoted(name)}" for v, name in zip(values, model.answer_names, strict=True)]
    return f"SELECT k AS {quoted(key)}, {', '.join(columns)}\nFROM ladder_outputs"


def guarded(outputs: Sequence[int], guard: Guard | None) -> list[str]:
    """Outputs of the ladders, held to a range if there is one."""
    values = [f"f{j}" for j in outputs]
    if guard is None:
        return values
    return [held(v, number(lo), number(hi)) for v, lo, hi in zip(values, *guard, strict=True)]


def final_banded(model: FittedModel, answer: Banded, key: str) -> tuple[list[str], str]:
    """Expressions from outputs to numbers and scales, and the last SELECT, which adds the ends of intervals."""
    m, most = len(answer.widths), number(answer.most)
    columns = [f"{value} AS y{j}" for j, value in enumerate(guarded(range(m), answer.guard))]
    for j, log in enumerate(guarded(range(m, 2 * m), answer.log_scales)):
        growth = f"f{2 * m + j}"
        columns.append(f"EXP({log} + (CASE WHEN {growth} > {most} THEN {most} ELSE {growth} END)) AS s{j}")
    listed = ",\n    ".join(columns)
    part = f"ladder_scales AS MATERIALIZED (\n  SELECT k,\n    {listed}\n  FROM ladder_outputs\n)"
    ends = [[f"y{j} {sign} {number(width)} * s{j}" for j, width in enumerate(answer.widths)] for sign in "-+"]
    answers = [*(f"y{j}" for j in range(m)), *ends[0], *ends[1], *(f"s{j}" for j in range(m))]
    shown = ", ".join(f"{value} AS {quoted(name)}" for value, name in zip(answers, model.answer_names, strict=True))
    return [part], f"SELECT k AS {quoted(key)}, {shown}\nFROM ladder_scales"


def final_classes(labels: Sequence[object], link: str, m: int, key: str) -> tuple[list[str], str]:
    """Expressions from scores to probabilities, and the last SELECT."""
    count = len(labels)
    scores = ["0e0", "f0"] if m == 1 else [f"f{j}" for j in range(m)]
    if link == "one-versus-rest":
        scores = [f"(CASE WHEN {s} < 0e0 THEN {s} ELSE 0e0 END) - LN(1e0 + EXP(-ABS({s})))" for s in scores]
    columns = ", ".join(f"{s} AS s{j}" for j, s in enumerate(scores))
    parts = [f"ladder_scores AS MATERIALIZED (SELECT k, {columns} FROM ladder_outputs)"]
    top = best_text("s", [f"s{j}" for j in range(count)])
    parts.append(f"ladder_top AS MATERIALIZED (SELECT *, {top} AS t FROM ladder_scores)")
    powers = ", ".join(f"EXP(s{j} - t) AS e{j}" for j in range(count))
    parts.append(f"ladder_powers AS MATERIALIZED (SELECT k, {powers} FROM ladder_top)")
    total = " + ".join(f"e{j}" for j in range(count))
    shares = ", ".join(f"e{j} / ({total}) AS {quoted(f'probability_{label}')}" for j, label in enumerate(labels))
    best = best_text("e", [label_text(label) for label in labels])
    return parts, f"SELECT k AS {quoted(key)}, {best} AS prediction, {shares}\nFROM ladder_powers"
