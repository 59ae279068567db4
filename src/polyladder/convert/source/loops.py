"""The arithmetic of a model for one row, in statements that C and Rust both read.

``if (x < a) { x = a; }``, ``while``, sums, products and ``W[s][j][i]`` mean the same in both. What differs is written
by words that a `Dialect` replaces: ``EACH(i, n)`` is a loop, ``SORT(x, n)`` sorts, and ``REAL x``, ``REALS x[n]``,
``COUNT k`` and ``COUNTS k[n]`` are new variables, to be set before they are read. Functions have the names of C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from polyladder.convert.exported.parts import consecutive, exported_parts
from polyladder.convert.source.operations import TextOperations
from polyladder.fitted.answers import Banded, Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsMissing, Quantile, Ramp, Step, YeoJohnson
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import UnitSum

Tables = dict[str, Any]
"""Constant arrays by name, of any shape."""

MEAN = """
    REALS mean[OUTPUTS];
    EACH(i, OUTPUTS) {
        mean[i] = 0.0;
        EACH(s, MEMBERS) { mean[i] += f[s][i]; }
        mean[i] /= COUNTED;
    }"""

HELD = """
    EACH(i, OUTPUTS) {
        REAL y = mean[i];HOLD
        answers[i] = y;
    }"""

BANDED = """
    EACH(i, NUMBERS) {
        REAL y = mean[i];HOLD
        REAL scale = mean[NUMBERS + i];
        REAL growth = mean[2 * NUMBERS + i];
        if (scale < LOG_SCALES[0][i]) { scale = LOG_SCALES[0][i]; }
        if (scale > LOG_SCALES[1][i]) { scale = LOG_SCALES[1][i]; }
        if (growth > MOST_GROWTH) { growth = MOST_GROWTH; }
        scale = exp(scale + growth);
        answers[i] = y;
        answers[NUMBERS + i] = y - WIDTHS[i] * scale;
        answers[2 * NUMBERS + i] = y + WIDTHS[i] * scale;
        answers[3 * NUMBERS + i] = scale;
    }"""

SCORES = """
    EACH(i, OUTPUTS) { answers[i] = mean[i]; }"""

LOG_ODDS = """
    answers[0] = 0.0;
    answers[1] = mean[0];"""

ONE_VERSUS_REST = """
    EACH(i, OUTPUTS) {
        REAL score = answers[i];
        answers[i] = -log1p(exp(-fabs(score)));
        if (score < 0.0) { answers[i] += score; }
    }"""

SOFTMAX = """
    REAL top = answers[0];
    REAL sum = 0.0;
    EACH(i, CLASSES) { if (answers[i] > top) { top = answers[i]; } }
    EACH(i, CLASSES) {
        answers[i] = exp(answers[i] - top);
        sum += answers[i];
    }
    EACH(i, CLASSES) { answers[i] /= sum; }"""

JUDGED = """
    EACH(s, MEMBERS) {
        COUNT outside = 0;
        EACH(i, OUTPUTS) { if (!(f[s][i] >= GUARD[0][i] && f[s][i] <= GUARD[1][i])) { outside = 1; } }
        if (outside == 0) { kept[count] = s; count += 1; }
    }"""

DRAWS = """
    COUNTS kept[MEMBERS];
    COUNT count = 0;JUDGED
    if (count == 0) {
        EACH(s, MEMBERS) { kept[s] = s; }
        count = MEMBERS;
    }
    EACH(i, OUTPUTS) {
        REALS values[MEMBERS];
        REAL n = 0.0;
        REAL mean = 0.0;
        REAL noise = 0.0;
        REAL spread = 0.0;
        EACH(k, count) {
            COUNT s = kept[k];
            REAL y = f[s][i];HOLD
            REAL variance = VARIANCE[s][i];TILTED
            values[k] = y;
            n += 1.0;
            mean += y;
            noise += variance;
        }
        mean /= n;
        EACH(k, count) { spread += (values[k] - mean) * (values[k] - mean); }
        SORT(values, count);
        answers[i] = values[(count - 1) / 2];
        answers[OUTPUTS + i] = sqrt((spread + noise) / n);
    }"""

TILTED = """
            REAL raw = 0.0;
            EACH(j, INPUTS) {
                REAL x = z[j];
                if (x < -3.0) { x = -3.0; }
                if (x > 3.0) { x = 3.0; }
                raw += SLOPES[s][i][j] * x + SLOPES[s][i][INPUTS + j] * (x * x - 1.0) / 2.0;
            }
            variance *= exp(-TILT * tanh(raw / TILT));"""

PROBIT_OF_TWO = """
    EACH(i, CLASSES) { answers[i] = 0.0; }
    EACH(s, MEMBERS) {
        REAL x = f[s][0];
        if (x < -SUREST) { x = -SUREST; }
        if (x > SUREST) { x = SUREST; }
        answers[0] += phi(-x) / COUNTED;
        answers[1] += phi(x) / COUNTED;
    }"""

PROBIT = """
    EACH(i, CLASSES) { answers[i] = 0.0; }
    EACH(s, MEMBERS) {
        REALS shares[CLASSES];
        REAL top = f[s][0];
        REAL sum = 0.0;
        EACH(i, CLASSES) { if (f[s][i] > top) { top = f[s][i]; } }
        EACH(i, CLASSES) {
            f[s][i] -= top;
            if (f[s][i] < -SUREST) { f[s][i] = -SUREST; }
        }
        EACH(i, CLASSES) {
            shares[i] = 0.0;
            EACH(n, NODE_COUNT) {
                REAL product = WEIGHTS[n];
                EACH(c, CLASSES) { if (c != i) { product *= phi(NODES[n] + f[s][i] - f[s][c]); } }
                shares[i] += product;
            }
            sum += shares[i];
        }
        EACH(i, CLASSES) { answers[i] += shares[i] / sum / COUNTED; }
    }"""

QUANTILE = """
        if (x == x) {
            COUNT low = 0;
            COUNT high = LAST;
            while (high - low > 1) {
                COUNT middle = (low + high) / 2;
                if (KNOTS[0][middle] <= x) { low = middle; } else { high = middle; }
            }
            if (x <= KNOTS[0][0]) { x = KNOTS[2][0]; }
            else if (x >= KNOTS[0][LAST]) { x = KNOTS[2][LAST]; }
            else if (x == KNOTS[0][low]) { x = KNOTS[2][low]; }
            else {
                REAL way = (x - KNOTS[0][low]) / (KNOTS[0][high] - KNOTS[0][low]);
                x = KNOTS[3][low] + (KNOTS[1][high] - KNOTS[3][low]) * way;
            }
        }"""

HOLD = " if (y < GUARD[0][i]) { y = GUARD[0][i]; } if (y > GUARD[1][i]) { y = GUARD[1][i]; }"


@dataclass(frozen=True)
class Dialect:
    """How a language writes what differs.

    Attributes:
        number: a constant, exactly.
        words: patterns of the words above, and of functions, with what stands in their place.
    """

    number: Callable[[float], str]
    words: Mapping[str, str]

    def __call__(self, text: str, **named: str) -> str:
        """A text in the language; names such as GUARD or TILT are replaced by what is given for them first."""
        for name, value in named.items():
            text = re.sub(rf"\b{name}\b", value, text)
        for word, written in self.words.items():
            text = re.sub(rf"\b{word}", written, text)
        return text


def feature_text(feature_steps: tuple[Step, ...], at: int, start: str, dialect: Dialect) -> str:
    """The block that sets input ``at`` of the ladders, z[at], from a number."""
    steps = "".join(step_text(step, at, dialect) for step in feature_steps)
    return dialect("    {\n        REAL x = ") + f"{start};{steps}\n        z[{at}] = x;\n    }}"


def step_text(step: Step, at: int, dialect: Dialect) -> str:
    """One step as statements about x, which is not a number where it is missing."""
    number = dialect.number

    def clipped(low: float, high: float) -> str:
        return f"if (x < {number(low)}) {{ x = {number(low)}; }} if (x > {number(high)}) {{ x = {number(high)}; }}"

    match step:
        case Blank(code):
            text = f"if (x == {number(code)}) {{ x = (x - x) / (x - x); }}"
        case Fill(value):
            text = f"if (x != x) {{ x = {number(value)}; }}"
        case Clip(low, high):
            text = clipped(low, high)
        case Affine(shift, scale):
            text = f"x = (x - {number(shift)}) / {number(scale)};"
        case Ramp(low, high):
            text = f"x = (x - {number(low)}) / {number(high - low)}; {clipped(0.0, 1.0)}"
        case YeoJohnson(power):
            up, down = power_text("x", power, number), power_text("-x", 2 - power, number)
            text = f"if (x >= 0.0) {{ x = {up}; }} else {{ x = -{down}; }}"
        case IsMissing():
            text = "if (x != x) { x = 1.0; } else { x = 0.0; }"
        case Quantile():
            return dialect(QUANTILE, KNOTS=f"KNOTS{at}", LAST=str(len(step.knots) - 1))
        case _:
            text = f"x = {step.written('x', TextOperations(number, 'sin'))};"
    return f"\n        {dialect(text)}"


def power_text(x: str, power: float, number: Callable[[float], str]) -> str:
    """((1 + x)^power - 1) / power, for numbers that are not negative."""
    return f"log1p({x})" if power == 0 else f"expm1({number(power)} * log1p({x})) / {number(power)}"


def tables(model: FittedModel) -> Tables:
    """All constant arrays; matrices lie transposed, so that the inner loops run over units."""
    found: Tables = {}
    for at, feature in enumerate(model.steps):
        for step in feature.steps:
            if isinstance(step, Quantile):
                found[f"KNOTS{at}"] = (step.knots, step.before, step.at, step.after)
    p, answer = model.ladders, model.answer
    for _, mark, part in groups(model):
        if isinstance(part, UnitSum):
            # A constant has no use for directions, and compilers complain of what is not used.
            found |= {f"DIRECTIONS{mark}": consecutive(part)[1]} if len(part.powers) > 1 else {}
            found |= {f"POWERS{mark}": part.powers, f"READOUT{mark}": part.readout, f"OFFSET{mark}": part.offset}
            continue
        for l, (W, b, V, c) in enumerate(part.layers()):
            found |= {f"W{l}{mark}": W.mT, f"B{l}{mark}": b, f"V{l}{mark}": V.mT, f"C{l}{mark}": c}
        found |= {f"READOUT{mark}": part.readout.mT, f"OFFSET{mark}": part.offset}
    if isinstance(answer, Numbers | Draws | Banded) and answer.guard is not None:
        found["GUARD"] = answer.guard
    if isinstance(answer, Banded):
        found |= {"LOG_SCALES": answer.log_scales, "WIDTHS": answer.widths}
    if isinstance(answer, Draws):
        found |= {"VARIANCE": answer.variance} | ({"SLOPES": answer.slopes} if answer.slopes.shape[-1] else {})
    if isinstance(answer, Probit) and p.out_features > 1:
        found |= {"NODES": answer.nodes, "WEIGHTS": answer.weights}
    return found


def sizes(model: FittedModel) -> dict[str, int]:
    """The constants that the statements name."""
    p = model.ladders
    found = {"INPUTS": p.in_features, "OUTPUTS": p.out_features, "MEMBERS": len(p)}
    found |= {"NUMBERS": len(model.answer.widths)} if isinstance(model.answer, Banded) else {}
    return found if model.labels is None else found | {"CLASSES": len(model.labels)}


def groups(model: FittedModel) -> list[tuple[int, str, UnitSum | LadderPolynomial]]:
    """What is written one after another: the first member, what names of tables end in, and a sum of units or a batch.

    Ladders without sums of units among them are one batch.
    """
    parts = exported_parts(model)
    if not any(isinstance(part, UnitSum) for part in parts):
        return [(0, "", model.ladders)]
    return [
        (s, f"_{s}", part if isinstance(part, UnitSum) else part.map(lambda t: t.unsqueeze(0)))
        for s, part in enumerate(parts)
    ]


def outputs_text(model: FittedModel, dialect: Dialect) -> str:
    """Statements from z to f, the outputs of the ladders one after another. Shape (members, outputs)."""
    lines = ["    REALS f[MEMBERS][OUTPUTS];"]
    for first, mark, part in groups(model):
        lines += units_lines(part, first, mark) if isinstance(part, UnitSum) else ladder_lines(part, first, mark)
    return dialect("\n".join(lines))


def units_lines(part: UnitSum, member: int, mark: str) -> list[str]:
    """Statements from z to f[member]: dot products t, polynomials p of them, and a readout."""
    (start, directions), degree = consecutive(part), len(part.powers) - 1
    width, k = directions.shape
    dots = [
        f"        REALS t[{k}];",
        f"        EACH(i, {k}) {{ t[i] = 0.0; }}",
        f"        EACH(j, {width}) {{ EACH(i, {k}) {{ t[i] += DIRECTIONS{mark}[j][i] * z[{start} + j]; }} }}",
        f"        EACH(l, {degree}) {{ EACH(i, {k}) {{ p[i] = p[i] * t[i] + POWERS{mark}[l + 1][i]; }} }}",
    ]
    return [
        "    {",
        # An input that is not read makes the answer no number, too, where it is none.
        "        REAL none = 0.0;",
        "        EACH(j, INPUTS) { none += 0.0 * z[j]; }",
        f"        REALS p[{k}];",
        f"        EACH(i, {k}) {{ p[i] = POWERS{mark}[0][i]; }}",
        *(dots if degree else []),
        f"        EACH(i, OUTPUTS) {{ f[{member}][i] = OFFSET{mark}[i] + none; }}",
        f"        EACH(j, {k}) {{ EACH(i, OUTPUTS) {{ f[{member}][i] += READOUT{mark}[j][i] * p[j]; }} }}",
        "    }",
    ]


def ladder_lines(p: LadderPolynomial, first: int, mark: str) -> list[str]:
    """Statements from z to f of a batch of ladders, of which the first is that member."""
    lines = [f"    EACH(s, {'MEMBERS' if not mark else len(p)}) {{"]

    def affine(to: str, matrix: str, start: str, x: str, width: int, k: int | str) -> list[str]:
        return [
            f"        EACH(i, {k}) {{ {to}[i] = {start}{mark}[s][i]; }}",
            f"        EACH(j, {width}) {{ EACH(i, {k}) {{ {to}[i] += {matrix}{mark}[s][j][i] * {x}[j]; }} }}",
        ]

    width, before = p.in_features, "z"
    for l, k in enumerate(p.hidden):
        lines += [f"        REALS h{l}[{k}];", f"        REALS g{l}[{k}];"]
        lines += affine(f"h{l}", f"W{l}", f"B{l}", before, width, k)
        lines += affine(f"g{l}", f"V{l}", f"C{l}", "z", p.in_features, k)
        lines.append(f"        EACH(i, {k}) {{ h{l}[i] *= g{l}[i]; }}")
        width, before = k, f"h{l}"
    to = f"f[{first} + s]" if first else "f[s]"
    return [*lines, *affine(to, "READOUT", "OFFSET", before, width, "OUTPUTS"), "    }"]


def answers_text(model: FittedModel, dialect: Dialect) -> str:
    """Statements from f, and z, to answers."""
    answer, several = model.answer, model.ladders.out_features > 1
    counted = f"{len(model.ladders)}.0"
    match answer:
        case Numbers(guard):
            return dialect(MEAN + HELD, HOLD=held(guard), COUNTED=counted)
        case Banded(guard):
            named = {"HOLD": held(guard), "COUNTED": counted, "MOST_GROWTH": dialect.number(answer.most)}
            return dialect(MEAN + BANDED, **named)
        case Classes(_, link):
            scores = (
                "EACH(i, OUTPUTS) { answers[i] = mean[i]; }" if several else "answers[0] = 0.0; answers[1] = mean[0];"
            )
            rest = ONE_VERSUS_REST if link == "one-versus-rest" and several else ""
            return dialect(f"{MEAN}\n    {scores}{rest}{SOFTMAX}", COUNTED=counted)
        case Draws(guard):
            named = {"JUDGED": "" if guard is None else JUDGED, "HOLD": held(guard)}
            named |= {"TILTED": TILTED if answer.slopes.shape[-1] else "", "TILT": dialect.number(answer.tilt)}
            return dialect(DRAWS, **named)
        case Probit(_, surest):
            named = {"SUREST": dialect.number(surest), "COUNTED": counted, "NODE_COUNT": str(len(answer.nodes))}
            return dialect(PROBIT if several else PROBIT_OF_TWO, **named)
        case _:
            raise TypeError(f"{type(answer).__name__} must have statements of its own; it has none.")


def held(guard: Guard | None) -> str:
    """Statements that hold output y to the guard's range."""
    return "" if guard is None else HOLD
