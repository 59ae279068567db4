"""How the cells of a column are read, in terms that other languages have too: spaces, words and patterns of text.

`polyladder.tables.columns` reads tables; this describes what it does with a cell. Patterns are regular expressions
that Python and JavaScript understand alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.tables.booleans import spellings
from polyladder.tables.columns import MISSING
from polyladder.tables.dates import ISO, TIMES, date_unit
from polyladder.tables.number_style import CURRENCIES, GRAMMAR, MAGNITUDES, PLAIN, NumberStyle, mark_pattern, scaling
from polyladder.tables.units import SIZES

SPACES = "\t\n\v\f\r \u0085\u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""What is stripped around a cell."""

PLAIN_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""A number without marks or units, after a typesetter's minus has become a hyphen."""

ZONE = r"^(.*[0-9][0-9]:[0-9][0-9].*?)(?:Z|[-+][0-9][0-9]:?[0-9][0-9])$"
"""A time with its zone, which is ignored."""

PER_MICROSECOND = 1 / 86_400e6
"""Days per microsecond: dates are whole microseconds times this, rounded as in training."""


def odd_categories(column: Column) -> tuple[str, ...]:
    """Categories that reading a cell would change: with space around them, or equal to a word for missing values.

    Only data frames can have them, not files; a cell that is exactly such a text is that category.
    """
    present = [c for c in column.categories if c is not None]
    return tuple(c for c in present if c != c.strip(SPACES) or c.lower() in MISSING)


def spellings_of(column: Column) -> dict[str, str]:
    """Other spellings of categories that the model knows, and the category of each."""
    return {other: known for other, known in column.reading.spelled.items() if known in column.categories}


def refuse_nul(model: FittedModel, language: str) -> None:
    """Refuse categories with the character NUL, where it ends a text."""
    for column in model.columns:
        for category in column.categories:
            if category is not None and "\0" in category:
                raise ValueError(
                    f"Column {column.name!r} must have categories without the character NUL for {language}; "
                    f"got {category!r}. Rename the category and fit again."
                )


def words_of(column: Column) -> dict[str, str]:
    """For a column of yes and no, the words that are known, in lower case, and the category that each means."""
    return spellings(column.reading.words or ("no", "yes")) if column.reading.kind == "boolean" else {}


def spelled(word: str) -> tuple[str, ...]:
    """The spellings of a word that differ beyond A to Z: some languages can change the case of those letters alone.

    >>> spelled("yes"), spelled("нет")
    (('yes',), ('нет', 'Нет', 'НЕТ'))
    """
    return (word,) if word.isascii() else tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


@dataclass(frozen=True)
class NumberText:
    """A number with marks or units around it.

    Attributes:
        pattern: with the groups open, sign, prefix, inner, digits, power, ending and close.
        digits: the pattern that digits must have.
        mark: the pattern of marks between thousands, which are taken out; empty if there are none.
        decimal: the mark before decimals.
        prefixes: that may stand before the number.
        scales: for each known ending, what a number is multiplied by and what is then added.
    """

    pattern: str
    digits: str
    mark: str
    decimal: str
    prefixes: tuple[str, ...]
    scales: dict[str, tuple[float, float]]


def number_text(style: NumberStyle) -> NumberText | None:
    """How numbers of a style are read; None where they are plain."""
    if style == PLAIN:
        return None
    unit = style.suffix.strip()
    letters = [letter for name in MAGNITUDES for letter in (name, f"{name} {unit}")]
    letters += [name + unit for name in MAGNITUDES if unit in CURRENCIES]
    found = {ending: scaling(ending, style, unit) for ending in ("", unit, *map(str.strip, letters), *SIZES)}
    known = {ending: scale for ending, scale in found.items() if scale is not None}
    mark, digits = mark_pattern(style)
    grammar = re.sub(r"\?P<\w+>", "", GRAMMAR[1:-1])
    return NumberText(portable(grammar), portable(digits[1:-1]), mark, style.decimal, ("", style.prefix.strip()), known)


def portable(pattern: str) -> str:
    """The pattern with digits 0 to 9 spelled out, which means the same in every language."""
    return pattern.replace(r"[^\d", "[^0-9").replace(r"\d", "[0-9]")


@dataclass(frozen=True)
class DateText:
    """One way to write a date: a pattern, and the letters of `strftime` that its groups stand for."""

    pattern: str
    fields: str


TWO = "[0-9]{2}"
"""A pattern of two digits."""

GROUPS = {
    "Y": "([0-9]{4})",
    "y": f"({TWO})",
    "b": "([A-Za-z]{3})",
    "B": "([A-Za-z]{3,9})",
    "p": "([AaPp][Mm])",
    "f": r"(?:\.([0-9]{1,9}))?",
}
"""Patterns of the parts of a date; all others are one or two digits."""


def date_texts(date_format: str | None) -> tuple[DateText, ...]:
    """The ways in which the dates or times of a column may be written: its own, then those of ISO 8601 or of times."""
    others = TIMES if date_format in TIMES else ISO
    formats = dict.fromkeys([*([] if date_format is None else [date_format]), *others])
    return tuple(date_text(each) for each in formats)


def date_text(date_format: str) -> DateText:
    """A format of `polyladder.tables.dates` as a pattern.

    >>> date_text("%d.%m.%Y")
    DateText(pattern='([0-9]{1,2})\\\\.([0-9]{1,2})\\\\.([0-9]{4})', fields='dmY')
    """
    # Without separators, parts of one digit would be ambiguous.
    digits = f"({TWO})" if "%Y%m" in date_format else "([0-9]{1,2})"
    pattern, fields = "", ""
    for text, letter in format_parts(date_format):
        pattern += r"\s*".join(map(re.escape, text.split(" ")))
        pattern += GROUPS.get(letter, digits) if letter else ""
        fields += letter
    return DateText(pattern, fields)


def format_parts(date_format: str) -> Iterator[tuple[str, str]]:
    """The parts of a format: a text, and the letter of what stands behind it, or nothing at the end."""
    *parts, rest = re.split(r"(%\.?[A-Za-z])", date_format)
    for text, field in zip(parts[::2], parts[1::2], strict=True):
        yield text, field[-1]
    yield rest, ""


def cell_words(column: Column) -> str:
    """What a cell of the column may be, in words, for whoever prepares a table."""
    kind = column.reading
    if kind.kind == "date" and is_time(column):
        return f"a time as 13:45 or as {kind.date_format}"
    if kind.kind == "date":
        own = "" if kind.date_format in (None, "%Y-%m-%d") else f" or as {kind.date_format}"
        return f"a date as 2024-05-13{own}"
    if kind.kind == "boolean":
        no, yes = kind.words or ("no", "yes")
        return f"a text for no or yes ({no}, {yes})"
    return "a text" if column.kind == "category" else number_words(column)


def number_words(column: Column) -> str:
    """What the number for a cell means, in languages whose cells are all numbers."""
    kind = column.reading
    if kind.kind == "date" and is_time(column):
        return f"{date_unit(kind.date_format)}: 12:00 is 0.5"
    if kind.kind == "date":
        return f"{date_unit(kind.date_format)}, with a fraction for the time of day"
    value = "-1234.5" if kind.style.brackets else "1234.5"
    notes = [] if kind.style == PLAIN else [f"{kind.style.words} is {value}"]
    notes += [] if kind.missing is None else [f"{kind.missing:g} is missing"]
    return f"a number ({', '.join(notes)})" if notes else "a number"


def is_time(column: Column) -> bool:
    """Whether a column holds times of day."""
    return column.reading.date_format in TIMES
