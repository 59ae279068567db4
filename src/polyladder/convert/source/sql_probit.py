"""The query of a posterior over classes: probabilities of every draw, averaged.

SQL knows no normal distribution, so it is written as exp times a polynomial, stage by stage: each stage is a table of
its own, so that nothing is computed twice.
"""

from __future__ import annotations

import math

from polyladder.convert.exported.normal import CENTER, tail_coefficients
from polyladder.convert.source.sql_draws import numbers_table, rungs
from polyladder.convert.source.sql_words import best_text, held, label_text, number, quoted
from polyladder.fitted.answers import Probit
from polyladder.fitted.model import FittedModel


def probit_query(model: FittedModel, answer: Probit, features: list[str], key: str) -> str:
    """The best label and the probabilities of all classes for every row."""
    count = len(answer.labels)
    parts = [*features, *rungs(model, None), *margins(answer, model.ladders.out_features)]
    pairs = [f"{j}_{i}" for j in range(count) for i in range(count) if i != j]
    parts += normals(pairs)
    products = ", ".join(
        f"SUM(weight * {' * '.join(f'q{j}_{i}' for i in range(count) if i != j)}) AS p{j}" for j in range(count)
    )
    parts.append(f"ladder_by_draw AS (SELECT k, s, {products} FROM ladder_shares GROUP BY k, s)")
    total = " + ".join(f"p{j}" for j in range(count))
    means = ", ".join(f"AVG(p{j} / ({total})) AS e{j}" for j in range(count))
    parts.append(f"ladder_by_row AS MATERIALIZED (SELECT k, {means} FROM ladder_by_draw GROUP BY k)")
    best = best_text("e", [label_text(label) for label in answer.labels])
    shown = ", ".join(f"e{j} AS {quoted(f'probability_{label}')}" for j, label in enumerate(answer.labels))
    last = f"SELECT k AS {key}, {best} AS prediction, {shown}\nFROM ladder_by_row\nORDER BY k;\n"
    return "WITH " + ",\n".join(parts) + "\n" + last


def margins(answer: Probit, m: int) -> list[str]:
    """By how much each class lies above each other one, at every node of the quadrature; two classes need one node."""
    surest = number(answer.surest)
    if m == 1:
        x = held("f0", f"-{surest}", surest)
        both = f"1e0 AS weight, -{x} AS d0_1, {x} AS d1_0"
        return [f"ladder_margins AS MATERIALIZED (SELECT k, s, {both} FROM ladder_outputs)"]
    top = "f0"
    for j in range(1, m):
        top = f"(CASE WHEN f{j} > {top} THEN f{j} ELSE {top} END)"
    below = ", ".join(f"(CASE WHEN f{j} - t < -{surest} THEN -{surest} ELSE f{j} - t END) AS x{j}" for j in range(m))
    columns = ", ".join(f"x{j} - x{i} + t AS d{j}_{i}" for j in range(m) for i in range(m) if i != j)
    pairs = "ladder_held AS h CROSS JOIN ladder_nodes"
    nodes = [[float(t), float(w)] for t, w in zip(answer.nodes, answer.weights, strict=True)]
    return [
        f"ladder_tops AS MATERIALIZED (SELECT *, {top} AS t FROM ladder_outputs)",
        f"ladder_held AS MATERIALIZED (SELECT k, s, {below} FROM ladder_tops)",
        *numbers_table("nodes", ["t", "weight"], nodes),
        f"ladder_margins AS MATERIALIZED (SELECT h.k, h.s, weight, {columns} FROM {pairs})",
    ]


def normals(pairs: list[str]) -> list[str]:
    """The normal distribution at every margin d, as q."""
    carried = ", ".join(["k", "s", "weight", *(f"d{pair}" for pair in pairs)])
    root = number(1 / math.sqrt(2))
    sizes = ", ".join(f"(CASE WHEN ABS(d{p}) > 12e0 THEN 12e0 ELSE ABS(d{p}) END) * {root} AS u{p}" for p in pairs)
    center = number(CENTER)
    ratios = ", ".join(f"(u{p} - {center}) / (u{p} + {center}) AS t{p}" for p in pairs)

    def tail(p: str) -> str:
        first, *others = [number(c) for c in reversed(tail_coefficients().tolist())]
        value = first
        for c in others:
            value = f"({value} * t{p} + {c})"
        return f"EXP(-u{p} * u{p}) * {value} / (2e0 + 2e0 * u{p})"

    tails = ", ".join(f"{tail(p)} AS tail{p}" for p in pairs)
    shares = ", ".join(f"(CASE WHEN d{p} > 0e0 THEN 1e0 - tail{p} ELSE tail{p} END) AS q{p}" for p in pairs)
    return [
        f"ladder_sizes AS MATERIALIZED (SELECT {carried}, {sizes} FROM ladder_margins)",
        f"ladder_ratios AS MATERIALIZED (SELECT *, {ratios} FROM ladder_sizes)",
        f"ladder_tails AS MATERIALIZED (SELECT {carried}, {tails} FROM ladder_ratios)",
        f"ladder_shares AS MATERIALIZED (SELECT k, s, weight, {shares} FROM ladder_tails)",
    ]
