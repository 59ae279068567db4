"""How numbers are written."""

import polars as pl
import pytest

from polyladder.tables.number_style import PLAIN, NumberStyle, find_style, number_words, read_numbers, write_number


@pytest.mark.parametrize(
    ("cells", "style", "values"),
    [
        (["1", "-2e3"], PLAIN, [1.0, -2000.0]),
        (["$156,950", "$1.5"], NumberStyle(prefix="$", thousands=","), [156950.0, 1.5]),
        (["€ 12,50", "€ 1.200,00"], NumberStyle(prefix="€ ", decimal=",", thousands="."), [12.5, 1200.0]),
        (["12 €", "15 €"], NumberStyle(suffix=" €"), [12.0, 15.0]),
        (["57.2%", "-3%"], NumberStyle(suffix="%"), [57.2, -3.0]),
        (["1 234", "22\u00a0111"], NumberStyle(thousands=" "), [1234.0, 22111.0]),
        (["3k", "5k"], NumberStyle(letter="k"), [3000.0, 5000.0]),
        (["$3.5M", "$2B"], NumberStyle(prefix="$", letter="*"), [3.5e6, 2e9]),
        (["5m", "6m"], NumberStyle(suffix="m"), [5.0, 6.0]),
        (["₹12,34,567", "₹500"], NumberStyle(prefix="₹", thousands=","), [1234567.0, 500.0]),
        (["($5)", "$6"], NumberStyle(prefix="$", brackets=True), [-5.0, 6.0]),
        (["1.234.567", "5"], NumberStyle(decimal=",", thousands="."), [1234567.0, 5.0]),
        (["90 m2", "101.5 m2"], NumberStyle(suffix=" m2"), [90.0, 101.5]),
        (["2400 kg/m3", "2350 kg/m3"], NumberStyle(suffix=" kg/m3"), [2400.0, 2350.0]),
        (["80m²", "75m²"], NumberStyle(suffix="m²"), [80.0, 75.0]),
        (["5 kg", "6 kg", "500 g"], NumberStyle(suffix=" kg"), [5.0, 6.0, 0.5]),
        (["3 km", "4 km", "500 m"], NumberStyle(suffix=" km"), [3.0, 4.0, 0.5]),
        (["-10 °C", "20 °C", "212 °F"], NumberStyle(suffix=" °C"), [-10.0, 20.0, 100.0]),
    ],
)
def test_styles(cells: list[str], style: NumberStyle, values: list[float]) -> None:
    column = pl.Series("c", cells)
    assert find_style(column, "thousands") == style
    assert read_numbers(column, style).to_list() == pytest.approx(values)


@pytest.mark.parametrize(
    "cells",
    [
        ["12A", "13B"],
        ["$5", "€6"],
        ["(5", "6"],
        ["1,5", "1.5"],
        ["12B", "13"],
        ["Room 5", "Room 6"],
        ["1 kg", "2", "3"],
        ["1 kg", "2 kg", "3 m"],
        ["1 kg", "2 kg", "3 kg", "4 kg", "5 kg", "6 kg", "7 g", "8"],
        ["5B2", "6B2"],
    ],
)
def test_what_is_no_number(cells: list[str]) -> None:
    assert find_style(pl.Series("c", cells), "thousands") is None


def test_a_comma_means_what_the_file_says_where_cells_leave_it_open() -> None:
    cells = pl.Series("c", ["1,234", "5,678"])
    assert read_numbers(cells, find_style(cells, "thousands")).to_list() == [1234.0, 5678.0]
    assert read_numbers(cells, find_style(cells, "decimal")).to_list() == [1.234, 5.678]


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (156950.0, NumberStyle(prefix="$", thousands=","), "$156,950"),
        (-1200.5, NumberStyle(thousands=",", brackets=True), "(1,200.5)"),
        (-5.2, NumberStyle(prefix="$"), "-$5.2"),
        (3500.0, NumberStyle(letter="*"), "3.5k"),
        (12.5, NumberStyle(suffix=" kg", decimal=","), "12,5 kg"),
        (0.0, NumberStyle(suffix="%"), "0%"),
    ],
)
def test_numbers_are_written_in_their_style(value: float, style: NumberStyle, text: str) -> None:
    assert write_number(value, style) == text


def test_numbers_for_people() -> None:
    assert number_words(-117812.3) == "-117,812"
    assert number_words(0.12345, signed=True) == "+0.123"
    assert number_words(2.5e-7) == "2.5e-07"
