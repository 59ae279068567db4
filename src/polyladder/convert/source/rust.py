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
from polyladder.convert.source.loops import Dialect, answers_text, feature_text, outputs_text, sizes, tables
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Probit
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import IsCategory
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
    let refusal = "The row must lie nearer to the training range; its prediction is no finite number.";
    answered(&inputs(row)?).ok_or_else(|| refusal.to_string())
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
    let is_zone = |zone: &str| match zone.split_once(':') {{
        None => digits(zone, 4).is_some(),
        Some((hours, minutes)) => digits(hours, 2).is_some() && digits(minutes, 2).is_some(),
    }};
    match (text.strip_suffix('Z'), text.rsplit_once(['+', '-'])) {{
        (Some(clock), _) => clock,
        (_, Some((clock, zone))) if is_zone(zone) => clock,
        _ => text,
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

INPUTS = """
static SOURCES: [usize; INPUTS] = SOURCE_COLUMNS;

ALLOWED
fn inputs(row: &[Cell]) -> Result<[f64; INPUTS], String> {
    if row.len() != COLUMNS.len() {
        return Err(format!("A row must have {} cells; got {}.", COLUMNS.len(), row.len()));
    }
    let mut z = [0.0; INPUTS];
BLOCKS
    for (x, column) in z.iter().zip(SOURCES) {
        if x.is_nan() {
            return refused(column, "a number", Cell::Missing);
        }
    }
    Ok(z)
}
"""

ANSWERED = """
ALLOWED
fn answered(z: &[f64; INPUTS]) -> Option<[f64; ANSWERS.len()]> {
    let mut answers = [0.0; ANSWERS.len()];
OUTPUTS_OF_LADDERS
    if !f.iter().flatten().all(|x| x.is_finite()) {
        return None;
    }STATEMENTS
    Some(answers)
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

DATA = "#[allow(clippy::approx_constant)]"
"""Written before numbers of the model: clippy would warn that a number close to pi should be the constant."""

ALLOWED = "#[allow(clippy::all, unused_mut, unused_parens)]"
"""Written before statements that C has as well, which are not what a Rust programmer would write."""

WORDS = {
    r"EACH\((\w+), (\w+)\)": r"for \1 in 0..\2",
    r"COUNT (\w+)": r"let mut \1: usize",
    r"COUNTS (\w+)\[(\w+)\]": r"let mut \1 = [0usize; \2]",
    r"REAL (\w+)": r"let mut \1: f64",
    r"REALS (\w+)\[(\w+)\]\[(\w+)\]": r"let mut \1 = [[0.0; \3]; \2]",
    r"REALS (\w+)\[(\w+)\]": r"let mut \1 = [0.0; \2]",
    r"SORT\((\w+), (\w+)\)": r"\1[..\2].sort_by(f64::total_cmp)",
    r"fabs\(": "f64::abs(",
    r"expm1\(": "f64::exp_m1(",
    r"log1p\(": "f64::ln_1p(",
    r"(exp|sin|sqrt|tanh)\(": r"f64::\1(",
}
"""What Rust writes for the words and functions of `polyladder.convert.source.loops`."""


def rust_source(model: FittedModel) -> Source:
    """The file. It agrees with `predict` to rounding: 1e-12 of the size of the outputs."""
    labels = model.labels or ()
    head = [
        *summary(model),
        CELL,
        names("COLUMNS", "The columns of a row", [column.name for column in model.columns]),
        names("ANSWERS", "What the answers are", model.answer_names),
    ]
    head += [names("LABELS", "The classes", list(map(str, labels)))] if labels else []
    head += ["", *(f"const {name}: usize = {size};" for name, size in sizes(model).items()), PREDICT]
    head += [CLASS] if labels else []
    head += [cells_text(model), *(array_text(name, values) for name, values in tables(model).items())]
    if isinstance(model.answer, Probit):
        head += [array_text("TAIL", tail_coefficients()), PHI]
    outputs, statements = outputs_text(model, DIALECT), answers_text(model, DIALECT)
    answered = ANSWERED.replace("OUTPUTS_OF_LADDERS", outputs).replace("STATEMENTS", statements)
    text = "\n".join([*head, inputs_text(model), answered.replace("ALLOWED", ALLOWED)])
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


DIALECT = Dialect(number, WORDS)


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
    blocks = [f"    let x{i} = {read_text(model.columns[i], i)};" for i in sorted(set(sources))]
    for at, feature in enumerate(model.steps):
        start, steps = f"x{feature.column}", feature.steps
        match steps:
            case (IsCategory(category),):
                same = f"{start}.is_none()" if category is None else f"{start} == Some({quoted(category)})"
                start, steps = f"if {same} {{ 1.0 }} else {{ 0.0 }}", ()
        blocks.append(feature_text(steps, at, start, DIALECT))
    head, end = INPUTS.replace("ALLOWED", ALLOWED).replace("SOURCE_COLUMNS", str(sources)).split("BLOCKS")
    return "\n".join([head.rstrip("\n"), *blocks]) + end
