"""Cells by the patterns that exports carry, beside the reader of tables itself."""

import random
import re
from datetime import datetime, timedelta

import polars as pl
import pytest

from polyladder.convert.exported.cells import (
    PER_MICROSECOND,
    PLAIN_NUMBER,
    SPACES,
    ZONE,
    cell_words,
    date_texts,
    number_text,
    odd_categories,
    refuse_nul,
    spelled,
    words_of,
)
from polyladder.convert.source.numpy_cells import CELLS, DATES, NUMBERS, STYLED
from polyladder.fitted.column import Column
from polyladder.fitted.model import fitted_model
from polyladder.tables.booleans import NO, YES
from polyladder.tables.columns import convert
from polyladder.tables.dates import DATE_FORMATS, as_days
from polyladder.tables.number_style import PLAIN, NumberStyle, read_numbers
from tests.export.cells import BASE, REFUSED, REFUSED_STYLES, kinds, models

READERS: dict = {}
exec(f"import datetime, math, numbers, re\nimport numpy as np\n{CELLS}{NUMBERS}{STYLED}{DATES}", READERS)

STYLES = [
    NumberStyle(prefix="$", thousands=","),
    NumberStyle(suffix=" %"),
    NumberStyle(decimal=",", thousands="."),
    NumberStyle(thousands="'", prefix="CHF "),
    NumberStyle(thousands=" ", suffix=" €", decimal=","),
    NumberStyle(letter="*", prefix="$"),
    NumberStyle(letter="k", suffix=" EUR"),
    NumberStyle(brackets=True, thousands=","),
]


def test_the_spaces_are_those_that_the_reader_strips():
    every = [chr(i) for i in range(0xD800)]
    left = pl.Series(every).str.strip_chars().to_list()
    assert {c for c, rest in zip(every, left, strict=True) if rest == ""} == set(SPACES)


def random_texts(pieces, seed, count=4000):
    rng = random.Random(seed)
    return ["".join(rng.choices(pieces, k=rng.randint(1, 6))) for _ in range(count)]


def test_plain_numbers_are_those_of_the_reader():
    cells = random_texts(["1", "25", "0", ".", "e", "E", "+", "-", "−", " ", "_", "x", "٣"], 0)
    read = read_numbers(pl.Series(cells), PLAIN).to_list()
    known = 0
    for cell, value in zip(cells, read, strict=True):
        assert READERS["_plain"](cell) == value, cell
        known += value is not None
    assert known > 200
    assert not re.fullmatch(PLAIN_NUMBER, "1e")


@pytest.mark.parametrize("style", STYLES, ids=repr)
def test_styled_numbers_are_those_of_the_reader(style):
    pieces = [
        "1",
        "12",
        "345",
        "678",
        ",",
        ".",
        "'",
        "’",
        " ",
        "\u00a0",
        "-",
        "−",
        "(",
        ")",
        "$",
        "€",
        "CHF",
        "%",
        "k",
        "M",
    ]
    cells = random_texts([*pieces, "EUR", "e3", " EUR", "mn"], 1)
    cells += [
        f"{style.prefix}{digits}{style.suffix}" for digits in ("5", f"1{style.thousands}234{style.decimal}5", "0")
    ]
    text = number_text(style)
    assert text is not None
    ours = READERS["_styled"](text.pattern, text.digits, text.mark, text.decimal, text.prefixes, text.scales)
    known = 0
    for cell, value in zip(cells, read_numbers(pl.Series(cells), style).to_list(), strict=True):
        stripped = cell.strip(SPACES)
        if stripped == cell:
            # Units with a stop behind them, and such, are refused.
            assert ours(cell) in (value, None), cell
            known += ours(cell) is not None
    assert known > 20


@pytest.mark.parametrize("date_format", DATE_FORMATS)
def test_dates_are_those_of_the_reader_or_are_not_understood(date_format):
    rng = random.Random(date_format)
    days = [datetime(1970, 1, 1) + timedelta(seconds=rng.randint(-(10**9), 4 * 10**9)) for _ in range(60)]
    days = [day for day in days if "%y" not in date_format or 1970 <= day.year < 2070]
    written = [day.strftime(date_format.replace("%.f", rng.choice(["", ".5", ".123456"]))) for day in days]
    # Damaged ones are to be refused by both, or to be the same for both.
    damaged = [w[:k] + rng.choice("019 -/:.Z") + w[k + 1 :] for w in written for k in [rng.randrange(len(w))]]
    ours = READERS["_dates"]([(each.pattern, each.fields) for each in date_texts(date_format)[:1]])
    for cell, value in zip(written, as_days(pl.Series(written), date_format).to_list(), strict=True):
        assert ours(cell) == value, cell
        assert value is not None
    for cell, value in zip(damaged, as_days(pl.Series(damaged), date_format).to_list(), strict=True):
        found = ours(cell)
        assert found is None or found == value, cell


def test_iso_dates_are_known_beside_a_columns_own_format():
    ours = READERS["_dates"]([(each.pattern, each.fields) for each in date_texts("%d/%m/%Y")])
    assert ours("05/01/2024") == ours("2024-01-05") == 19727.0
    assert ours("19727") is None
    assert ours("2024-01-05T06:00:00Z") == ours("2024-01-05 06:00+02:00") == 6 * 3600e6 * PER_MICROSECOND + 19727.0
    assert re.sub(ZONE, r"\1", "2024-01-05") == "2024-01-05"


def test_what_the_lists_call_refused_is_refused_by_the_reader():
    for column, cell in REFUSED + REFUSED_STYLES:
        with pytest.raises(ValueError, match=f"Column '{column}' must hold"):
            convert(pl.Series(column, [BASE[column], cell]), kinds()[column], "thousands")


def test_words_of_columns_and_odd_categories():
    own = fitted_model(models()["small"]).columns[1]
    assert {words_of(own)[word] for word in YES} == {"Y"}
    assert {words_of(own)[word] for word in NO} == {"N"}
    assert odd_categories(Column("a", "category", ("b", " b", "NA", None))) == (" b", "NA")
    assert spelled("não") == ("não", "Não", "NÃO")


def test_cells_in_words():
    said = [cell_words(column) for column in fitted_model(models()["small"]).columns]
    assert said[2:6] == [
        "a date as 2024-05-13",
        "a date as 2024-05-13 or as %d.%m.%Y %H:%M",
        "a number ($1,234.5 is 1234.5)",
        "a number (1234.5 % is 1234.5)",
    ]
    assert said[1] == "a text for no or yes (N, Y)"


def test_categories_with_nul_are_refused():
    import dataclasses

    model = fitted_model(models()["small"])
    hostile = dataclasses.replace(model, columns=(Column("a", "category", ("x\0y",)), *model.columns[1:]))
    with pytest.raises(ValueError, match="Column 'a' must have categories without the character NUL for C"):
        refuse_nul(hostile, "C")
