"""The last part of a C export: from the outputs of the ladders to answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.fitted.answers import Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.model import FittedModel

CLASS = """
/* The most probable class, by its place among the labels; -1 where there is no answer. */
int {name}_class(const real *answers)
{{
    int i, best = 0;
    if (answers[0] != answers[0]) return -1;
    for (i = 1; i < {count}; i++)
        if (answers[i] > answers[best]) best = i;
    return best;
}}
"""

SORT = """
static void sorted(real *v, int n)
{
    int i, j;
    for (i = 1; i < n; i++) {
        real x = v[i];
        for (j = i; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
}
"""

PHI = """
static real phi(real x) { return erfc(-x * (real)0.70710678118654752440) / 2; }
"""


def answer_text(model: FittedModel, name: str, numbers: str) -> str:
    """The function ``predict`` and, for classes, the one that picks the best."""
    s, d, m = len(model.ladders), model.ladders.in_features, model.ladders.out_features
    head = [
        f"\nvoid {name}_predict(const real *row, real *answers)",
        "{",
        f"    real z[{d}], f[{s * m}];",
        "    int s, i;",
        "    features(row, z);",
        "    ladders(z, f);",
    ]
    mean = [
        f"    for (s = 1; s < {s}; s++)",
        f"        for (i = 0; i < {m}; i++) f[i] += f[s * {m} + i];",
        f"    for (i = 0; i < {m}; i++) f[i] /= {s};",
    ]
    answer = model.answer
    match answer:
        case Numbers(guard):
            tables, holds = guard_text(guard, "f[i]", numbers)
            copy = [f"    for (i = 0; i < {m}; i++) {{", *holds, "        answers[i] = f[i];", "    }", "}", ""]
            return "\n".join(tables + head + mean + copy)
        case Classes(labels, link):
            text = "\n".join(head + mean + link_lines(len(labels), m, link) + ["}", ""])
            return text + CLASS.format(name=name, count=len(labels))
        case Draws():
            return SORT + "\n".join(posterior_lines(answer, head, s, d, m, numbers))
        case Probit():
            text = PHI + "\n".join(probit_lines(answer, head, s, m, numbers))
            return text + CLASS.format(name=name, count=len(answer.labels))
        case _:
            raise TypeError(f"{type(answer).__name__} must have words of its own in C; it has none.")


def constant(name: str, values: Any, numbers: str) -> str:
    """A flat constant array."""
    flat = np.asarray(values, dtype=np.float32 if numbers == "float32" else np.float64).ravel()
    suffix = "f" if numbers == "float32" else ""
    return f"static const real {name}[] = {{{', '.join(float(v).hex() + suffix for v in flat)}}};"


def guard_text(guard: Guard | None, value: str, numbers: str) -> tuple[list[str], list[str]]:
    """Constants of the guard, and the lines that hold output i to it."""
    if guard is None:
        return [], []
    tables = [constant("guard_low", guard[0], numbers), constant("guard_high", guard[1], numbers)]
    lines = [
        f"        if ({value} < guard_low[i]) {value} = guard_low[i];",
        f"        if ({value} > guard_high[i]) {value} = guard_high[i];",
    ]
    return tables, lines


def link_lines(count: int, m: int, link: str) -> list[str]:
    """From mean scores in f to probabilities in answers."""
    lines = ["    real top, sum = 0;"]
    if m == 1:
        lines += ["    answers[0] = 0;", "    answers[1] = f[0];"]
    else:
        lines.append(f"    for (i = 0; i < {count}; i++) answers[i] = f[i];")
    if link == "one-versus-rest":
        lines.append(f"    for (i = 0; i < {count}; i++)")
        lines.append("        answers[i] = (answers[i] < 0 ? answers[i] : 0) - log1p(exp(-fabs(answers[i])));")
    return [
        *lines,
        "    top = answers[0];",
        f"    for (i = 1; i < {count}; i++) top = answers[i] > top ? answers[i] : top;",
        f"    for (i = 0; i < {count}; i++) sum += answers[i] = exp(answers[i] - top);",
        f"    for (i = 0; i < {count}; i++) answers[i] /= sum;",
    ]


def posterior_lines(answer: Draws, head: list[str], s: int, d: int, m: int, numbers: str) -> list[str]:
    """Lower median and standard deviation over the believed draws."""
    tables, holds = guard_text(answer.guard, f"f[s * {m} + i]", numbers)
    tables.append(constant("noise", answer.variance, numbers))
    tilted = bool(answer.slopes.shape[-1])
    if tilted:
        tables += [constant("slopes", answer.slopes, numbers), f"static const real tilt = {float(answer.tilt).hex()};"]
    body = [f"    int kept[{s}], count = 0;", f"    real v[{s}];"]
    if answer.guard is not None:
        body += [
            f"    for (s = 0; s < {s}; s++) {{",
            "        int inside = 1;",
            f"        for (i = 0; i < {m}; i++)",
            f"            inside &= f[s * {m} + i] >= guard_low[i] && f[s * {m} + i] <= guard_high[i];",
            "        if (inside) kept[count++] = s;",
            "    }",
            f"    for (s = 0; s < {s}; s++)",
            f"        for (i = 0; i < {m}; i++) {{",
            *(f"    {line}" for line in holds),
            "        }",
        ]
    body += ["    if (!count)", f"        for (s = 0; s < {s}; s++) kept[count++] = s;"]
    body += [
        f"    for (i = 0; i < {m}; i++) {{",
        "        real mean = 0, spread = 0, scatter = 0;",
        "        for (s = 0; s < count; s++) {",
        f"            real variance = noise[kept[s] * {m} + i];",
        f"            v[s] = f[kept[s] * {m} + i];",
        "            mean += v[s];",
    ]
    if tilted:
        body += [
            f"            {{ const real *slope = slopes + (kept[s] * {m} + i) * {2 * d}; real raw = 0; int j;",
            f"              for (j = 0; j < {d}; j++) {{",
            "                  real x = z[j] < -3 ? -3 : z[j] > 3 ? 3 : z[j];",
            f"                  raw += slope[j] * x + slope[{d} + j] * (x * x - 1) / 2;",
            "              }",
            "              variance *= exp(-tilt * tanh(raw / tilt)); }",
        ]
    body += [
        "            scatter += variance;",
        "        }",
        "        mean /= count;",
        "        for (s = 0; s < count; s++) spread += (v[s] - mean) * (v[s] - mean);",
        "        sorted(v, count);",
        "        answers[i] = v[(count - 1) / 2];",
        f"        answers[{m} + i] = sqrt((spread + scatter) / count);",
        "    }",
        "}",
        "",
    ]
    return tables + head + body


def probit_lines(answer: Probit, head: list[str], s: int, m: int, numbers: str) -> list[str]:
    """The mean of every draw's probabilities."""
    surest = float(answer.surest).hex()
    if m == 1:
        return [
            *head,
            "    answers[0] = answers[1] = 0;",
            f"    for (s = 0; s < {s}; s++) {{",
            f"        real x = f[s] < -{surest} ? -{surest} : f[s] > {surest} ? {surest} : f[s];",
            f"        answers[0] += phi(-x) / {s};",
            f"        answers[1] += phi(x) / {s};",
            "    }",
            "    (void)i;",
            "}",
            "",
        ]
    tables = [constant("nodes", answer.nodes, numbers), constant("shares", answer.weights, numbers)]
    return [
        *tables,
        *head,
        f"    for (i = 0; i < {m}; i++) answers[i] = 0;",
        f"    for (s = 0; s < {s}; s++) {{",
        f"        real *x = f + s * {m}, top = x[0], p[{m}], sum = 0;",
        "        int n, c;",
        f"        for (i = 1; i < {m}; i++) top = x[i] > top ? x[i] : top;",
        f"        for (i = 0; i < {m}; i++) x[i] = x[i] - top < -{surest} ? -{surest} : x[i] - top;",
        f"        for (i = 0; i < {m}; i++) {{",
        "            p[i] = 0;",
        f"            for (n = 0; n < {len(answer.nodes)}; n++) {{",
        "                real product = shares[n];",
        f"                for (c = 0; c < {m}; c++) if (c != i) product *= phi(nodes[n] + x[i] - x[c]);",
        "                p[i] += product;",
        "            }",
        "            sum += p[i];",
        "        }",
        f"        for (i = 0; i < {m}; i++) answers[i] += p[i] / sum / {s};",
        "    }",
        "}",
        "",
    ]
