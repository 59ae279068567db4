"""The first part of a query: the cells of a table as numbers and texts, read as `predict` reads them.

Numbers must be numbers of the database, dates its dates or texts of them; texts may have space around them. A missing
cell becomes NULL. A cell that cannot be read becomes an infinite number, or a text that is not a category, so that the
row has no answer. DuckDB and PostgreSQL refuse it with an error, which SQLite cannot do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from polyladder.convert.exported.cells import (
    PER_MICROSECOND,
    SPACES,
    format_parts,
    is_time,
    odd_categories,
    spelled,
    spellings_of,
    words_of,
)
from polyladder.convert.source.sql_words import number, quoted, quoted_text
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.tables.columns import MISSING
from polyladder.tables.dates import FIRST_YEAR

LARGEST = "CAST(1.79769313486231571e+308 AS DOUBLE PRECISION)"
"""The largest number that is not infinite. As a cast: SQLite then compares texts of numbers as numbers with it, and
finds any other text larger."""

DIGITS = "'0123456789'"

BINARY = 100
"""With more columns of 0 and 1 than this, none may be BOOLEAN: reading each as text costs DuckDB 1 MB."""


def cell_parts(model: FittedModel, table: str, key: str) -> list[str]:
    """Expressions that read the table: the last has the key k and a cell c0, c1, ... for each column that is used.

    Args:
        model: to be rendered.
        table: the table, as SQL names it.
        key: what tells rows apart, as an expression over ``r``, the table.
    """
    used = sorted({feature.column for feature in model.steps})
    columns = {i: model.columns[i] for i in used}
    if sum(column.binary for column in columns.values()) > BINARY:
        columns = {i: replace(column, binary=False) for i, column in columns.items()}
    given = ",\n    ".join(f"{given_text(columns[i], f'r.{quoted(columns[i].name)}')} AS x{i}" for i in used)
    cells = ",\n    ".join(f"{cell(columns[i], f'x{i}')} AS c{i}" for i in used)
    return [
        f"ladder_given AS MATERIALIZED (\n  SELECT {key} AS k,\n    {given}\n  FROM {table} AS r\n)",
        f"ladder_cells AS MATERIALIZED (\n  SELECT k,\n    {cells}\n  FROM ladder_given\n)",
    ]


def given_text(column: Column, x: str) -> str:
    """A cell as it is first read: a number unchanged, all others as text without space around it."""
    text = f"CAST({x} AS TEXT)"
    stripped = f"TRIM({text}, {quoted_text(SPACES)})"
    if column.kind == "category":
        odd = odd_categories(column)
        return f"CASE WHEN {text} IN {listed(odd)} THEN {text} ELSE {stripped} END" if odd else stripped
    if column.reading.kind == "date" and is_time(column):
        return f"CASE WHEN {stripped} LIKE '__:__%' THEN '1970-01-01 ' || {stripped} ELSE {stripped} END"
    if column.reading.kind == "date":
        return iso_text(column.reading.date_format, stripped)
    return f"LOWER({text})" if column.binary else x


def cell(column: Column, x: str) -> str:
    """A cell as a number or a text; NULL where it is missing."""
    if column.kind == "category":
        odd = odd_categories(column)
        exact = f"WHEN {x} IN {listed(odd)} THEN {x} " if odd else ""
        return f"CASE {exact}WHEN LOWER({x}) IN {listed(MISSING)} THEN NULL {known_text(column, x)} END"
    if column.reading.kind == "date":
        return date_cell(column, x)
    if column.binary:
        words = "WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 WHEN 'nan' THEN NULL"
        return f"CASE {x} {words} ELSE {text_number(column, x)} END"
    value = f"CAST({x} AS DOUBLE PRECISION)"
    # NaN is larger than all numbers in DuckDB and PostgreSQL, and so is its negative.
    nan = f"{value} > {LARGEST} AND -{value} > {LARGEST}"
    return (
        f"CASE WHEN {x} <= {LARGEST} AND {x} >= -{LARGEST} THEN {value} "
        f"WHEN {x} IS NOT NULL AND NOT ({nan}) THEN 1e308 * (1e1 + ABS({value})) END"
    )


def known_text(column: Column, x: str) -> str:
    """The last cases of a text: what it is, or what its word means."""
    if column.reading.kind != "boolean":
        others = [f"WHEN {x} = {quoted_text(a)} THEN {quoted_text(b)} " for a, b in spellings_of(column).items()]
        return f"{''.join(others)}ELSE {x}"
    meant: dict[str, list[str]] = {}
    for word, category in words_of(column).items():
        meant.setdefault(category, []).extend(spelled(word))
    cases = [f"WHEN LOWER({x}) IN {listed(words)} THEN {quoted_text(category)}" for category, words in meant.items()]
    return f"{' '.join(cases)} WHEN {x} IS NOT NULL THEN CAST({refusal(column, 'yes or no', x)} AS TEXT)"


def listed(texts: Sequence[str]) -> str:
    """Texts in brackets."""
    return f"({', '.join(map(quoted_text, texts))})"


def refusal(column: Column, wanted: str, x: str) -> str:
    """A cast of a sentence to a number, which is an error; SQLite reads it as zero, which gives an infinite number."""
    sentence = f"Column {column.name!r} must hold {wanted}; got "
    return f"1e308 * (1e1 + CAST({quoted_text(sentence)} || {x} AS DOUBLE PRECISION))"


def text_number(column: Column, x: str) -> str:
    """The number that a text is, with a sign, a point and an exponent of ten, if any."""
    # Without the sign of the exponent, its digits, its e, the sign and all other digits, at most a point is left.
    plain = f"REPLACE(REPLACE({x}, 'e+', 'e'), 'e-', 'e')"
    left = f"TRIM(LTRIM(RTRIM(RTRIM({plain}, {DIGITS}), 'e'), '+-'), {DIGITS})"
    first = f"SUBSTR(LTRIM({plain}, '+-.'), 1, 1)"
    right = (
        f"{left} IN ('', '.') AND {first} >= '0' AND {first} <= '9' AND {plain} NOT LIKE '%e' "
        f"AND {plain} NOT LIKE '%ee%' AND {x} NOT LIKE '%e+-%' AND SUBSTR({x}, 2, 1) NOT IN ('+', '-')"
    )
    number_of = f"CASE WHEN {right} THEN CAST({x} AS DOUBLE PRECISION)"
    return f"{number_of} WHEN {x} IS NOT NULL THEN {refusal(column, 'numbers', x)} END"


def iso_text(date_format: str | None, t: str) -> str:
    """The text of a date, if it is written in the column's own format of fixed lengths, as ISO 8601 has it."""
    places = None if date_format in (None, "%Y-%m-%d") else fixed_places(date_format)
    if places is None:
        return t
    shape, parts = places

    def part(letter: str, missing: str) -> str:
        return f"SUBSTR({t}, {parts[letter][0]}, {parts[letter][1]})" if letter in parts else f"'{missing}'"

    day = f"{part('Y', '')} || '-' || {part('m', '')} || '-' || {part('d', '01')}"
    clock = f" || ' ' || {part('H', '00')} || ':' || {part('M', '00')} || ':' || {part('S', '00')}"
    return f"CASE WHEN {t} LIKE {quoted_text(shape)} THEN {day}{clock if 'H' in parts else ''} ELSE {t} END"


def fixed_places(date_format: str) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """The shape of a date, a low line for each digit, and where its parts stand: place, counted from 1, and length.

    None for a format whose parts have names or different lengths.

    >>> fixed_places("%d.%m.%Y")
    ('__.__.____', {'d': (1, 2), 'm': (4, 2), 'Y': (7, 4)})
    """
    lengths = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
    shape, places = "", {}
    for text, letter in format_parts(date_format):
        shape += text
        if letter and letter not in lengths:
            return None
        if letter:
            places[letter] = (len(shape) + 1, lengths[letter])
            shape += "_" * lengths[letter]
    return shape, places


BEFORE = {3: 0, 4: 31, 5: 61, 6: 92, 7: 122, 8: 153, 9: 184, 10: 214, 11: 245, 12: 275, 1: 306, 2: 337}
"""Days of a year that begins in March before each month."""

LENGTHS = {1: 31, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}
"""Of all months but February."""


def date_cell(column: Column, x: str) -> str:
    """Days since 1970 of a date or a time as ISO 8601 has it."""
    # A shorter text is completed by midnight.
    t = f"({x} || SUBSTR('0000-00-00 00:00:00.000000', LENGTH({x}) + 1))"
    places = {"Y": (1, 4), "m": (6, 2), "d": (9, 2), "H": (12, 2), "M": (15, 2), "S": (18, 2), "f": (21, 6)}
    digits = " || ".join(f"SUBSTR({t}, {at}, {length})" for at, length in places.values())
    shaped = (
        f"(LENGTH({x}) IN (10, 16, 19) OR LENGTH({x}) > 20) AND {t} LIKE '____-__-_____:__:__.%' "
        f"AND SUBSTR({t}, 11, 1) IN (' ', 'T', 't') AND TRIM({digits} || SUBSTR({t}, 27), {DIGITS}) = ''"
    )
    part = {letter: f"CAST(SUBSTR({t}, {at}, {length}) AS INTEGER)" for letter, (at, length) in places.items()}
    wrong = refusal(column, "times" if is_time(column) else "dates", x)
    cases = f"WHEN {x} IS NULL OR LOWER({x}) IN {listed(MISSING)} THEN NULL WHEN {shaped} THEN {days(part, wrong)}"
    return f"CASE {cases} ELSE {wrong} END"


def days(part: dict[str, str], wrong: str) -> str:
    """Days since 1970 from the parts of a date; ``wrong`` if there is no such day or time."""
    year, month, day, hour, minute, second = (part[letter] for letter in "YmdHMS")
    # The year begins in March, so that a leap day is its last. What is divided is a multiple: it does not matter how a
    # database divides integers.
    y = f"(CASE WHEN {month} < 3 THEN {year} - 1 ELSE {year} END)"
    leaps = " ".join(f"{sign} ({y} - {y} % {n}) / {n}" for sign, n in (("+", 4), ("-", 100), ("+", 400)))
    before = " ".join(f"WHEN {m} THEN {count}" for m, count in BEFORE.items())
    passed = f"365 * {y} {leaps} + (CASE {month} {before} END) + {day} - 719469"
    lengths = " ".join(f"WHEN {m} THEN {count}" for m, count in LENGTHS.items())
    leap = f"CASE WHEN {year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0) THEN 29 ELSE 28 END"
    last = f"(CASE {month} {lengths} WHEN 2 THEN {leap} ELSE 0 END)"
    right = f"{year} >= {FIRST_YEAR} AND {day} >= 1 AND {day} <= {last} AND {hour} < 24 AND {minute} < 60"
    seconds = f"CAST({passed} AS DOUBLE PRECISION) * 86400e0 + {hour} * 3600e0 + {minute} * 60e0 + {second}"
    value = f"(({seconds}) * 1e6 + {part['f']}) * {number(PER_MICROSECOND)}"
    return f"CASE WHEN {right} AND {second} < 60 THEN {value} ELSE {wrong} END"


OWN = "ladder_"
"""How the names of all tables within a query begin."""


def table_name(table: str) -> str:
    """A table as SQL names it: parts between points are names of their own, unless they stand in double quotes.

    >>> print(table_name("main.houses"), table_name('"my.houses"'))
    "main"."houses" "my.houses"
    """
    parts = re.findall(r'"((?:[^"]|"")*)"|([^."]+)', table)
    if not table or ".".join(f'"{own}"' if own else plain for own, plain in parts) != table:
        raise ValueError(
            f"table must be a name, or names with points between them, such as main.houses; got {table!r}. "
            "Put a name with a point or a quote in it between double quotes, with every quote inside of it doubled."
        )
    names = [own.replace('""', '"') or plain for own, plain in parts]
    if len(names) == 1 and names[0].lower().startswith(OWN):
        raise ValueError(
            f"table must not begin with {OWN}, as the query's own tables do; got {table!r}. "
            f"Name its schema as well, such as main.{table}."
        )
    return ".".join(map(quoted, names))
