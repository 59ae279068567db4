"""A model as one Rust file that needs the standard library alone: ``mod model;``, or a crate of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from polyladder.convert.exported.cells import (
    PER_MICROSECOND,
    cell_words,
    is_time,
    number_text,
    number_words,
    odd_categories,
    spellings_of,
    words_of,
)
from polyladder.convert.exported.normal import CENTER, tail_coefficients
from polyladder.convert.source.operations import TextOperations
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson
from polyladder.tables.columns import MISSING
from polyladder.tables.dates import FIRST_YEAR

# Names are not written into doc comments, which may hold HTML. Unused items must not cause warnings.
CELL = """
/// A cell of a row. A number that is NaN is missing too.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    Number(f64),
    Text(&'a str),
    Missing,
}

impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Cell::Text(value)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Missing, Into::into)
    }
}
"""

PREDICT = """
/// The answers for a row of cells in the order of COLUMNS; an error says which cell is wrong, and what it must be.
#[allow(dead_code)]
pub fn predict(row: &[Cell]) -> Result<[f64; ANSWERS.len()], String> {
    let z = inputs(row)?;
    let f = outputs(&z);
    if f.iter().flatten().all(|x| x.is_finite()) {
        Ok(answers(&f, &z))
    } else {
        Err("The row must lie nearer to the training range; its prediction is no finite number.".to_string())
    }
}
"""

CLASS = """
/// The most probable class of the answers that `predict` gives; the first of equal ones.
#[allow(dead_code)]
pub fn class(answers: &[f64; ANSWERS.len()]) -> &'static str {
    let mut best = 0;
    for (i, p) in answers.iter().enumerate() {
        if *p > answers[best] {
            best = i;
        }
    }
    LABELS[best]
}
"""

REFUSED = """
fn refused<T>(column: usize, wanted: &str, cell: Cell) -> Result<T, String> {
    let got = match cell {
        Cell::Number(x) => format!("got {x}"),
        Cell::Text(text) => format!("got {text:?}"),
        Cell::Missing => "it is missing".to_string(),
    };
    Err(format!("Column {:?} must hold {wanted}; {got}.", COLUMNS[column]))
}
"""

STRIPPED = """
/// A text without space around it; None for a word for nothing, such as NA.
fn stripped(text: &str) -> Option<&str> {
    let text = text.trim();
    if MISSING.contains(&text.to_lowercase().as_str()) {
        None
    } else {
        Some(text)
    }
}
"""

NUMBER = """
fn number(cell: Cell, column: usize, wanted: &str, read: fn(&str) -> Option<f64>) -> Result<f64, String> {
    let value = match cell {
        Cell::Number(x) => Some(x),
        Cell::Missing => Some(f64::NAN),
        Cell::Text(text) => stripped(text).map_or(Some(f64::NAN), read),
    };
    match value {
        Some(x) if !x.is_infinite() => Ok(x),
        _ => refused(column, wanted, cell),
    }
}
"""

PLAIN = """
fn plain(text: &str) -> Option<f64> {
    let text = text.replacen('\\u{2212}', "-", 1);
    if text.bytes().all(|c| b"+-.0123456789eE".contains(&c)) {
        text.parse().ok()
    } else {
        None
    }
}
"""

CLOCK = f"""
/// A number of so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {{
    if text.len() == count && text.bytes().all(|c| c.is_ascii_digit()) {{
        text.parse().ok()
    }} else {{
        None
    }}
}}

/// Microseconds since midnight at 13:45, 13:45:30 or 13:45:30.5.
fn microseconds(text: &str) -> Option<i64> {{
    let mut parts = text.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (second, rest) = match parts.next() {{
        None => (0, 0),
        Some(text) => match text.split_once('.') {{
            None => (digits(text, 2)?, 0),
            Some((second, rest)) => {{
                digits(rest, rest.len()).filter(|_| (1..=9).contains(&rest.len()))?;
                (digits(second, 2)?, digits(&format!("{{rest:0<6}}")[..6], 6)?)
            }}
        }},
    }};
    if hour > 23 || minute > 59 || second > 59 {{
        return None;
    }}
    Some((hour * 3600 + minute * 60 + second) * 1_000_000 + rest)
}}

const DAYS_PER_MICROSECOND: f64 = {PER_MICROSECOND!r};
"""

TIME = """
fn time(text: &str) -> Option<f64> {
    microseconds(text).map(|passed| passed as f64 * DAYS_PER_MICROSECOND)
}
"""

DATE = f"""
/// A clock without the zone behind it, which is not looked at.
fn without_zone(text: &str) -> &str {{
    if let Some(clock) = text.strip_suffix('Z') {{
        return clock;
    }}
    match text.rfind(['+', '-']) {{
        Some(at) => {{
            let zone = &text.as_bytes()[at + 1..];
            let two = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
            let whole = match zone.len() {{
                4 => two(zone),
                5 => two(&zone[..2]) && zone[2] == b':' && two(&zone[3..]),
                _ => false,
            }};
            if whole {{
                &text[..at]
            }} else {{
                text
            }}
        }}
        None => text,
    }}
}}

/// Days since 1970-01-01 at 2024-05-13, with a space or T and a clock behind it if need be.
fn date(text: &str) -> Option<f64> {{
    let (text, passed) = match text.split_once([' ', 'T']) {{
        None => (text, 0),
        Some((text, clock)) => (text, microseconds(without_zone(clock))?),
    }};
    let mut parts = text.splitn(3, '-');
    let year = digits(parts.next()?, 4)?;
    let (month, day) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {{
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    }};
    if year < {FIRST_YEAR} || day < 1 || day > length {{
        return None;
    }}
    // Years that begin in March have their leap day at the end.
    let year = if month <= 2 {{ year - 1 }} else {{ year }};
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + in_year - 719_468;
    Some((days * 86_400_000_000 + passed) as f64 * DAYS_PER_MICROSECOND)
}}
"""

TEXT = """
type Pairs = &'static [(&'static str, &'static str)];

fn other(pairs: Pairs, text: &str) -> Option<&'static str> {
    pairs.iter().find(|(from, _)| *from == text).map(|(_, to)| *to)
}

/// A text as the model knows it, None where it is missing.
///
/// `odd` are texts that are not stripped, `words` those for yes and no if the column holds these, `spelled` other
/// spellings.
fn text<'a>(
    cell: Cell<'a>,
    column: usize,
    odd: &[&str],
    words: Pairs,
    spelled: Pairs,
) -> Result<Option<&'a str>, String> {
    let found = match cell {
        Cell::Missing => None,
        Cell::Number(x) if x.is_nan() => None,
        Cell::Number(_) => return refused(column, "a text", cell),
        Cell::Text(text) if odd.contains(&text) => Some(text),
        Cell::Text(text) => stripped(text),
    };
    let Some(mut found) = found else { return Ok(None) };
    if !words.is_empty() {
        match other(words, &found.to_lowercase()) {
            Some(word) => found = word,
            None => return refused(column, "yes or no", cell),
        }
    }
    Ok(Some(other(spelled, found).unwrap_or(found)))
}
"""

QUANTILE = """
/// Knots, and the values before, at and after each.
fn quantile(x: f64, knots: &[(f64, f64, f64, f64)]) -> f64 {
    let behind = knots.partition_point(|knot| knot.0 <= x);
    if x.is_nan() {
        x
    } else if behind == 0 {
        knots[0].2
    } else if behind == knots.len() || x == knots[behind - 1].0 {
        knots[behind - 1].2
    } else {
        let ((from, _, _, low), (to, high, _, _)) = (knots[behind - 1], knots[behind]);
        low + (high - low) * ((x - from) / (to - from))
    }
}
"""

YEO_JOHNSON = """
fn yeo_johnson(x: f64, power: f64) -> f64 {
    let bent = |x: f64, power: f64| {
        if power == 0.0 {
            x.ln_1p()
        } else {
            (power * x.ln_1p()).exp_m1() / power
        }
    };
    if x < 0.0 {
        -bent(-x, 2.0 - power)
    } else {
        bent(x, power)
    }
}
"""

AFFINE = """
/// start + matrix x; the matrix lies transposed, so that the inner loop runs over units.
fn affine<const K: usize>(x: &[f64], matrix: &[f64], start: &[f64; K]) -> [f64; K] {
    let mut sums = *start;
    for (weights, x) in matrix.chunks_exact(K).zip(x) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += weight * x;
        }
    }
    sums
}
"""

RUNG = """
fn rung<const K: usize>(h: &[f64], z: &[f64], w: &[f64], b: &[f64; K], v: &[f64], c: &[f64; K]) -> [f64; K] {
    let mut products = affine(h, w, b);
    for (product, gate) in products.iter_mut().zip(affine(z, v, c)) {
        *product *= gate;
    }
    products
}
"""

MEAN = """
fn mean(f: &[[f64; OUTPUTS]; MEMBERS]) -> [f64; OUTPUTS] {
    let mut sums = [0.0; OUTPUTS];
    for one in f {
        for (sum, x) in sums.iter_mut().zip(one) {
            *sum += x;
        }
    }
    sums.map(|sum| sum / MEMBERS as f64)
}
"""

HELD = """
fn answers(f: &[[f64; OUTPUTS]; MEMBERS], _: &[f64; INPUTS]) -> [f64; ANSWERS.len()] {
    let mut held = mean(f);
    for (x, (low, high)) in held.iter_mut().zip(GUARD) {
        *x = x.max(low).min(high);
    }
    held
}
"""

LINK = """
fn answers(f: &[[f64; OUTPUTS]; MEMBERS], _: &[f64; INPUTS]) -> [f64; ANSWERS.len()] {
    let scores = SCORES;
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers = scores.map(|score| (score - top).exp());
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}
"""

DRAWS = """
/// Lower medians and standard deviations over the draws that lie in the guard's range; over all where none does.
fn answers(f: &[[f64; OUTPUTS]; MEMBERS], Z: &[f64; INPUTS]) -> [f64; ANSWERS.len()] {
    let inside = |s: &usize| f[*s].iter().zip(GUARD).all(|(x, (low, high))| *x >= low && *x <= high);
    let mut kept: Vec<usize> = (0..MEMBERS).filter(inside).collect();
    if kept.is_empty() {
        kept = (0..MEMBERS).collect();
    }
    let count = kept.len() as f64;
    let mut found = [0.0; ANSWERS.len()];
    for (i, &(low, high)) in GUARD.iter().enumerate() {
        let mut values: Vec<f64> = kept.iter().map(|s| f[*s][i].max(low).min(high)).collect();
        let mean = values.iter().sum::<f64>() / count;
        let spread: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let noise: f64 = kept.iter().map(|s| NOISE).sum();
        values.sort_by(f64::total_cmp);
        found[i] = values[(values.len() - 1) / 2];
        found[OUTPUTS + i] = ((spread + noise) / count).sqrt();
    }
    found
}
"""

TILTED = """
/// What the noise is multiplied by at inputs z.
fn tilted(z: &[f64; INPUTS], slopes: &[f64; 2 * INPUTS]) -> f64 {
    let (straight, bent) = slopes.split_at(INPUTS);
    let mut raw = 0.0;
    for ((x, a), b) in z.iter().zip(straight).zip(bent) {
        let x = x.clamp(-3.0, 3.0);
        raw += a * x + b * (x * x - 1.0) / 2.0;
    }
    (-TILT * (raw / TILT).tanh()).exp()
}
"""

PHI = f"""
/// The normal distribution function, right to 1e-14.
fn phi(x: f64) -> f64 {{
    let u = x.abs() * ::std::f64::consts::FRAC_1_SQRT_2;
    let t = (u - {CENTER!r}) / (u + {CENTER!r});
    let tail = TAIL.iter().rev().fold(0.0, |sum, c| sum * t + c) * (-u * u).exp() / (2.0 + 2.0 * u);
    if x < 0.0 {{
        tail
    }} else {{
        1.0 - tail
    }}
}}
"""

PROBIT_OF_TWO = """
fn answers(f: &[[f64; OUTPUTS]; MEMBERS], _: &[f64; INPUTS]) -> [f64; ANSWERS.len()] {
    let mut sums = [0.0; ANSWERS.len()];
    for one in f {
        let x = one[0].clamp(-SUREST, SUREST);
        sums[0] += phi(-x);
        sums[1] += phi(x);
    }
    sums.map(|sum| sum / MEMBERS as f64)
}
"""

PROBIT = """
fn answers(f: &[[f64; OUTPUTS]; MEMBERS], _: &[f64; INPUTS]) -> [f64; ANSWERS.len()] {
    let mut sums = [0.0; OUTPUTS];
    for one in f {
        let top = one.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let x = one.map(|x| (x - top).max(-SUREST));
        let mut shares = [0.0; OUTPUTS];
        for (i, share) in shares.iter_mut().enumerate() {
            for (node, weight) in NODES {
                let others = x.iter().enumerate().filter(|(c, _)| *c != i);
                *share += others.fold(weight, |product, (_, other)| product * phi(node + x[i] - other));
            }
        }
        let whole: f64 = shares.iter().sum();
        for (sum, share) in sums.iter_mut().zip(shares) {
            *sum += share / whole;
        }
    }
    sums.map(|sum| sum / MEMBERS as f64)
}
"""

DATA = "#[allow(clippy::approx_constant)]"
"""Written before numbers of the model: clippy would warn that a number close to pi should be the constant."""


def rust_source(model: FittedModel) -> Source:
    """The file. It agrees with `predict` to rounding: 1e-12 of the size of the outputs."""
    labels = model.answer.labels if isinstance(model.answer, Classes | Probit) else ()
    head = [
        *summary(model),
        CELL,
        names("COLUMNS", "The columns of a row", [column.name for column in model.columns]),
        names("ANSWERS", "What the answers are", model.answer_names),
    ]
    head += [names("LABELS", "The classes", list(map(str, labels)))] if labels else []
    sizes = {"INPUTS": len(model.steps), "OUTPUTS": model.ladders.out_features, "MEMBERS": len(model.ladders)}
    head += ["", *(f"const {name}: usize = {size};" for name, size in sizes.items()), PREDICT]
    head += [CLASS] if labels else []
    text = "\n".join([*head, cells_text(model), inputs_text(model), ladder_text(model), answer_text(model)])
    return Source(text.replace("\n\n\n", "\n\n"))


def summary(model: FittedModel) -> list[str]:
    """What the model is and how a row is laid out, as comments of one line each."""
    lines = [f"A ladder polynomial of order {model.ladders.order} for {quoted(model.target)}. A row holds:"]
    used = {feature.column for feature in model.steps}
    for i, column in enumerate(model.columns):
        words = quoted(wanted(column))[1:-1] if i in used else "anything, as it is not used"
        lines.append(f"  {i}  {quoted(column.name)}: {words}")
    return [f"// {line}" for line in lines]


def quoted(text: str) -> str:
    r"""A string literal on one line, all that is not printable as escapes; it may stand in a comment too.

    >>> print(quoted('a"\\ \n é {}'))
    "a\u{22}\u{5c} \u{a} é {}"
    """
    plain = (c if c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in text)
    return f'"{"".join(plain)}"'


def number(value: float) -> str:
    """A number, exactly: as many digits as it needs, 17 at most."""
    if np.isfinite(value):
        return repr(float(value))
    return "f64::NAN" if np.isnan(value) else "f64::INFINITY" if value > 0 else "f64::NEG_INFINITY"


def list_text(items: Iterable[str]) -> str:
    """Expressions as a list."""
    return f"[{', '.join(items)}]"


def names(name: str, words: str, texts: Iterable[str]) -> str:
    """A public list of texts."""
    listed = list(map(quoted, texts))
    return (
        f"\n/// {words}, in order.\n#[allow(dead_code)]\npub const {name}: [&str; {len(listed)}] = {list_text(listed)};"
    )


def array_text(name: str, values: Any) -> str:
    """A constant array of numbers, of any shape."""
    values = np.asarray(values, dtype=np.float64)
    kind = "f64"
    for size in reversed(values.shape):
        kind = f"[{kind}; {size}]"

    def nested(part: Any) -> str:
        return list_text(map(nested, part)) if isinstance(part, list) else number(part)

    return f"{DATA}\nstatic {name}: {kind} = {nested(values.tolist())};"


def wanted(column: Column) -> str:
    """What a cell of the column may be."""
    if column.reading.kind == "date":
        return f"{'a time as 13:45' if is_time(column) else 'a date as 2024-05-13'}, or {number_words(column)}"
    return cell_words(column)


def cells_text(model: FittedModel) -> str:
    """The functions that read the cells of the model's columns."""
    used = [model.columns[i] for i in sorted({feature.column for feature in model.steps})]
    readers = {reader(column) for column in used if column.kind == "number"}
    missing = f"\nconst MISSING: [&str; {len(MISSING)}] = {list_text(map(quoted, MISSING))};"
    parts = [REFUSED, missing, STRIPPED]
    parts += [NUMBER] * bool(readers) + [PLAIN] * ("plain" in readers)
    parts += [CLOCK] * bool(readers & {"date", "time"}) + [TIME] * ("time" in readers) + [DATE] * ("date" in readers)
    return "\n".join(parts + [TEXT] * any(column.kind == "category" for column in used))


def reader(column: Column) -> str:
    """The function that reads the text of a number; where marks or units stand around numbers, none does."""
    if column.reading.kind == "date":
        return "time" if is_time(column) else "date"
    return "plain" if number_text(column.reading.style) is None else "|_| None"


def read_text(column: Column, i: int) -> str:
    """The expression that reads a cell."""
    if column.kind == "number":
        return f"number(row[{i}], {i}, {quoted(wanted(column))}, {reader(column)})?"
    odd = list_text(map(quoted, odd_categories(column)))
    return f"text(row[{i}], {i}, &{odd}, &{pairs(words_of(column))}, &{pairs(spellings_of(column))})?"


def pairs(meant: dict[str, str]) -> str:
    """Texts, and what each of them means."""
    return list_text(f"({quoted(text)}, {quoted(meaning)})" for text, meaning in meant.items())


def inputs_text(model: FittedModel) -> str:
    """The function from a row to inputs of the ladders."""
    sources = [feature.column for feature in model.steps]
    lines = [f"static SOURCES: [usize; INPUTS] = {sources};", ""]
    # New steps are written with more parentheses than Rust wants.
    lines += [
        DATA,
        "#[allow(unused_parens)]",
        "fn inputs(row: &[Cell]) -> Result<[f64; INPUTS], String> {",
        "    if row.len() != COLUMNS.len() {",
    ]
    lines.append('        return Err(format!("A row must have {} cells; got {}.", COLUMNS.len(), row.len()));')
    lines.append("    }")
    lines += [f"    let x{i} = {read_text(model.columns[i], i)};" for i in sorted(set(sources))]
    lines.append("    let mut z = [0.0; INPUTS];")
    for at, feature in enumerate(model.steps):
        chain = [f"x{feature.column}", *map(step_text, feature.steps)]
        lines += [f"    let x = {value};" for value in chain[:-1]]
        lines.append(f"    z[{at}] = {chain[-1]};")
    lines += ["    for (x, column) in z.iter().zip(SOURCES) {", "        if x.is_nan() {"]
    lines += ['            return refused(column, "a number", Cell::Missing);', "        }", "    }", "    Ok(z)", "}"]
    kinds = {type(step) for feature in model.steps for step in feature.steps}
    return "\n".join([QUANTILE] * (Quantile in kinds) + [YEO_JOHNSON] * (YeoJohnson in kinds) + ["", *lines])


def step_text(step: Step) -> str:
    """One step as an expression of x."""
    match step:
        case Blank(code):
            return f"if x == {number(code)} {{ f64::NAN }} else {{ x }}"
        case Fill(value):
            return f"if x.is_nan() {{ {number(value)} }} else {{ x }}"
        case Clip(low, high):
            return f"x.clamp({number(low)}, {number(high)})"
        case Affine(shift, scale):
            return f"(x - {number(shift)}) / {number(scale)}"
        case Ramp(low, high):
            return f"((x - {number(low)}) / {number(high - low)}).clamp(0.0, 1.0)"
        case YeoJohnson(power):
            return f"yeo_johnson(x, {number(power)})"
        case Quantile(knots, before, at, after):
            rows = zip(knots, before, at, after, strict=True)
            listed = ["({}, {}, {}, {})".format(*map(number, row)) for row in rows]
            return f"quantile(x, &{list_text(listed)})"
        case IsMissing():
            return "if x.is_nan() { 1.0 } else { 0.0 }"
        case IsCategory(category):
            same = "x.is_none()" if category is None else f"x == Some({quoted(category)})"
            return f"if {same} {{ 1.0 }} else {{ 0.0 }}"
        case _:
            return step.written("x", TextOperations(number, "f64::sin"))


def ladder_text(model: FittedModel) -> str:
    """The ladders one after another."""
    p = model.ladders
    tables, body, before = [], [], "z"
    for l, (W, b, V, c) in enumerate(p.layers()):
        parts = {f"W{l}": W.mT.flatten(1), f"B{l}": b, f"V{l}": V.mT.flatten(1), f"C{l}": c}
        tables += [array_text(name, values) for name, values in parts.items()]
        body.append(f"        let h = rung({before}, z, {', '.join(f'&{name}[s]' for name in parts)});")
        before = "&h"
    tables += [array_text("READOUT", p.readout.mT.flatten(1)), array_text("OFFSET", p.offset)]
    head = ["fn outputs(z: &[f64; INPUTS]) -> [[f64; OUTPUTS]; MEMBERS] {"]
    head += ["    let mut f = [[0.0; OUTPUTS]; MEMBERS];", "    for (s, one) in f.iter_mut().enumerate() {"]
    end = [f"        *one = affine({before}, &READOUT[s], &OFFSET[s]);", "    }", "    f", "}"]
    return "\n".join([AFFINE, *([RUNG] if p.W else []), *tables, "", *head, *body, *end])


def answer_text(model: FittedModel) -> str:
    """The function from the outputs of the ladders to answers."""
    answer, m = model.answer, model.ladders.out_features
    match answer:
        case Numbers(guard):
            return "\n".join([MEAN, guard_text(guard, m), HELD])
        case Classes(_, link):
            scores = "[0.0, mean(f)[0]]" if m == 1 else "mean(f)"
            if link == "one-versus-rest" and m > 1:
                scores += ".map(|score| score.min(0.0) - (-score.abs()).exp().ln_1p())"
            return "\n".join([MEAN, LINK.replace("SCORES", scores)])
        case Draws():
            tables = [guard_text(answer.guard, m), array_text("VARIANCE", answer.variance)]
            if not answer.slopes.shape[-1]:
                return "\n".join([*tables, DRAWS.replace("NOISE", "VARIANCE[*s][i]").replace("Z:", "_:")])
            tables += [array_text("SLOPES", answer.slopes), f"const TILT: f64 = {number(answer.tilt)};", TILTED]
            noise = "VARIANCE[*s][i] * tilted(z, &SLOPES[*s][i])"
            return "\n".join([*tables, DRAWS.replace("NOISE", noise).replace("Z:", "z:")])
        case Probit(_, surest):
            tables = [f"const SUREST: f64 = {number(surest)};", array_text("TAIL", tail_coefficients()), PHI]
            if m == 1:
                return "\n".join(["", *tables, PROBIT_OF_TWO])
            nodes = [f"({number(t)}, {number(w)})" for t, w in zip(answer.nodes, answer.weights, strict=True)]
            tables.append(f"static NODES: [(f64, f64); {len(nodes)}] = {list_text(nodes)};")
            return "\n".join(["", *tables, PROBIT])
        case _:
            raise TypeError(f"{type(answer).__name__} must have words of its own in Rust; it has none.")


def guard_text(guard: Guard | None, m: int) -> str:
    """The range that each output is held to."""
    low, high = guard or ([-np.inf] * m, [np.inf] * m)
    ranges = [f"({number(a)}, {number(b)})" for a, b in zip(low, high, strict=True)]
    return f"\n{DATA}\nstatic GUARD: [(f64, f64); OUTPUTS] = {list_text(ranges)};"
