"""The query of a posterior: draws are rows of a table of weights, joined with the rows of the data."""

from __future__ import annotations

import torch

from polyladder.convert.source.sql_words import balanced, held, number, quoted
from polyladder.fitted.answers import Draws
from polyladder.fitted.model import FittedModel


def draws_query(model: FittedModel, answer: Draws, features: list[str], key: str) -> str:
    """Lower median and standard deviation over the believed draws of every row."""
    m = model.ladders.out_features
    parts = [*features, *rungs(model, answer), *judged(answer, m)]
    shown = [f"MAX(CASE WHEN 2 * r{j} IN (n, n + 1) THEN c{j} END)" for j in range(m)]
    shown += [f"SQRT(AVG((c{j} - m{j}) * (c{j} - m{j})) + AVG(v{j}))" for j in range(m)]
    columns = ", ".join(f"{value} AS {quoted(name)}" for value, name in zip(shown, model.answer_names, strict=True))
    last = f"SELECT k AS {key}, {columns}\nFROM ladder_ranked\nGROUP BY k\nORDER BY k;\n"
    return "WITH " + ",\n".join(parts) + "\n" + last


def numbers_table(name: str, names: list[str], rows: list[list[float]]) -> list[str]:
    """A table of numbers, numbered by s, as expressions.

    As a SELECT with casts: PostgreSQL would take plain constants for decimals and compute with hundreds of digits.
    """
    values = ",\n    ".join(f"({s}, {', '.join(map(number, row))})" for s, row in enumerate(rows))
    cast = ", ".join(f"CAST({each} AS DOUBLE PRECISION) AS {each}" for each in names)
    given = f"ladder_given_{name}(s, {', '.join(names)}) AS (VALUES\n    {values}\n)"
    return [given, f"ladder_{name} AS MATERIALIZED (SELECT s, {cast} FROM ladder_given_{name})"]


def rungs(model: FittedModel, answer: Draws | None) -> list[str]:
    """The table of draws, and one expression per rung, over all pairs of rows and draws.

    Args:
        model: whose ladders are draws.
        answer: of numbers, whose noise has a variance; None for classes.
    """
    p = model.ladders
    blocks = [t for layer in p.layers() for t in layer] + [p.readout, p.offset]
    if answer is not None:
        blocks += [torch.as_tensor(answer.variance), torch.as_tensor(answer.slopes)]
    weights = torch.cat([t.reshape(len(p), -1) for t in blocks], 1).tolist()
    held_names = [f"w{i}" for i in range(len(weights[0]))]
    names = iter(held_names)
    inputs = [f"z{i}" for i in range(p.in_features)]
    before, source = inputs, "ladder_features CROSS JOIN ladder_draws"
    parts = numbers_table("draws", held_names, weights)

    def sums(matrix: list[list[str]], vector: list[str], constants: list[str]) -> list[str]:
        return [
            balanced([*(f"{w} * {x}" for w, x in zip(row, vector, strict=True)), c])
            for row, c in zip(matrix, constants, strict=True)
        ]

    def take(rows: int, columns: int) -> list[list[str]]:
        return [[next(names) for _ in range(columns)] for _ in range(rows)]

    for l, k in enumerate(p.hidden):
        W, (b,), V, (c,) = take(k, len(before)), take(1, k), take(k, len(inputs)), take(1, k)
        units = zip(sums(W, before, b), sums(V, inputs, c), strict=True)
        columns = ", ".join(f"({u}) * ({g}) AS h{l}_{i}" for i, (u, g) in enumerate(units))
        carried = ", ".join(["k", "s", *inputs])
        parts.append(f"ladder_rung_{l + 1} AS MATERIALIZED (\n  SELECT {carried}, {columns}\n  FROM {source}\n)")
        # The weights are joined again at each rung: as columns they would be copied for every row.
        before, source = [f"h{l}_{i}" for i in range(k)], f"ladder_rung_{l + 1} JOIN ladder_draws USING (s)"
    m = p.out_features
    readout, (offset,) = take(m, len(before)), take(1, m)
    shown = [f"{f} AS f{j}" for j, f in enumerate(sums(readout, before, offset))]
    if answer is not None:
        (variance,) = take(1, m)
        noise = tilted(variance, take(m, answer.slopes.shape[-1]), inputs, answer)
        shown += [f"{v} AS v{j}" for j, v in enumerate(noise)]
    return [*parts, f"ladder_outputs AS MATERIALIZED (\n  SELECT k, s, {', '.join(shown)}\n  FROM {source}\n)"]


def tilted(variance: list[str], slopes: list[list[str]], inputs: list[str], answer: Draws) -> list[str]:
    """The noise's variance at a row, one expression per output."""
    if not answer.slopes.shape[-1]:
        return variance
    x = [held(z, "-3e0", "3e0") for z in inputs]
    columns = x + [f"({z} * {z} - 1e0) / 2e0" for z in x]
    found = []
    for base, slope in zip(variance, slopes, strict=True):
        raw = balanced([f"{s} * {column}" for s, column in zip(slope, columns, strict=True)])
        # tanh(u) = 1 - 2 / (exp(2 u) + 1)
        tanh = f"(1e0 - 2e0 / (EXP(({raw}) * {number(2 / answer.tilt)}) + 1e0))"
        found.append(f"{base} * EXP({number(-answer.tilt)} * {tanh})")
    return found


def judged(answer: Draws, m: int) -> list[str]:
    """Which draws are believed, and their ranks."""
    centers = [f"f{j}" for j in range(m)]
    inside = "1"
    if answer.guard is not None:
        sides = list(zip(centers, *answer.guard, strict=True))
        tests = " AND ".join(f"{f} >= {number(low)} AND {f} <= {number(high)}" for f, low, high in sides)
        inside = f"CASE WHEN {tests} THEN 1 ELSE 0 END"
        centers = [held(f, number(low), number(high)) for f, low, high in sides]
    columns = ", ".join([f"{c} AS c{j}" for j, c in enumerate(centers)] + [f"v{j}" for j in range(m)])
    ranks = ", ".join(
        f"ROW_NUMBER() OVER (PARTITION BY k ORDER BY c{j}) AS r{j}, AVG(c{j}) OVER (PARTITION BY k) AS m{j}"
        for j in range(m)
    )
    return [
        f"ladder_centers AS (SELECT k, {columns}, {inside} AS inside FROM ladder_outputs)",
        "ladder_counted AS (SELECT *, SUM(inside) OVER (PARTITION BY k) AS believed FROM ladder_centers)",
        "ladder_kept AS (SELECT * FROM ladder_counted WHERE inside = 1 OR believed = 0)",
        f"ladder_ranked AS (SELECT *, {ranks}, COUNT(*) OVER (PARTITION BY k) AS n FROM ladder_kept)",
    ]
