"""What text columns are taken for."""

import datetime
import re

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind, column_kind, convert, guess_kind


def kind_of(values, comma="thousands"):
    return guess_kind(pl.Series("c", values), comma)


def numbers(values, comma="thousands"):
    column = pl.Series("c", values)
    return convert(column, guess_kind(column, comma), comma).to_list()


@pytest.mark.parametrize(
    ("values", "comma", "expected"),
    [
        (["1", " 2.5 ", "-3e2"], "thousands", [1.0, 2.5, -300.0]),
        (["1", "NA", "", None], "thousands", [1.0, None, None, None]),
        (["1,234", "12,345,678.5", "7"], "thousands", [1234.0, 12345678.5, 7.0]),
        (["1,5", "2", "1.234,5", "1.234"], "decimal", [1.5, 2.0, 1234.5, 1234.0]),
        (["1,5", "2,25"], "thousands", [1.5, 2.25]),
        ([1, 2, None], "thousands", [1.0, 2.0, None]),
        ([True, False], "thousands", [1.0, 0.0]),
        ([1.5, float("nan")], "thousands", [1.5, None]),
    ],
)
def test_numbers(values, comma, expected) -> None:
    assert numbers(values, comma) == expected
    assert kind_of(values, comma).kind == "number"


@pytest.mark.parametrize("values", [["1,5", "2.25"], ["1,23,4", "4"], ["12,34,5", "x"]])
def test_commas_that_contradict_each_other_make_no_numbers(values) -> None:
    assert kind_of(values, "thousands").kind == "category"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1970-01-02", "1970-01-01"], [1.0, 0.0]),
        (["1970-01-02 12:00:00", "1970-01-01 00:00:00"], [1.5, 0.0]),
        (["1970-01-02T12:00:00.0Z", "1970-01-01T00:00:00+02:00"], [1.5, 0.0]),
        (["31/01/1970", "02/01/1970"], [30.0, 1.0]),
        (["01/31/1970", "01/02/1970"], [30.0, 1.0]),
        (["2.1.1970", "n/a"], [1.0, None]),
        ([datetime.date(1970, 1, 3), None], [2.0, None]),
        ([datetime.datetime(1970, 1, 3, 6), None], [2.25, None]),
    ],
)
def test_dates(values, expected) -> None:
    assert kind_of(values).kind == "date"
    assert numbers(values) == expected


def test_the_rest_is_categories_or_nothing() -> None:
    assert kind_of(["x", "1", "2", "y"]).kind == "category"
    assert numbers(["x", " y ", "none"]) == ["x", "y", None]
    assert kind_of(["", "NA"]).kind == "empty"
    assert kind_of([None, None]).kind == "empty"
    assert kind_of(pl.Series([1, None]).clear(3).cast(pl.Float64)).kind == "empty"
    assert kind_of(pl.Series(["u", "v"], dtype=pl.Categorical)).kind == "category"


@pytest.mark.parametrize("comma", ["thousands", "decimal"])
@pytest.mark.parametrize(("most", "few"), [(".", ","), (",", ".")])
def test_two_decimal_marks_in_one_column_are_refused(comma, most, few) -> None:
    """A decimal comma in every 20th cell."""
    cells = [f"{i}{few if i % 20 == 0 else most}25" for i in range(100)]
    with pytest.raises(ValueError, match=f"Column 'c' must write decimals in one way; got '1{most}25' and '0{few}25'"):
        kind_of(cells, comma)


@pytest.mark.parametrize(
    "entries",
    [
        {},
        5,
        {"kind": "number", "missing": "x"},
        {"kind": "number", "style": {"color": "red"}},
        {"kind": "category", "spelled": [1]},
        {"kind": "boolean", "words": 5},
    ],
)
def test_what_no_card_says_is_refused(entries) -> None:
    with pytest.raises(ValueError, match=r"^The model's card must say how column 'c' is written; it says .*\.$"):
        column_kind("c", entries)


def test_times_of_day_are_numbers() -> None:
    assert kind_of(["13:45", "9:00", "00:00"]) == ColumnKind("c", "date", "%H:%M")
    assert numbers(["12:00", "06:00:00", None]) == [0.5, 0.25, None]
    assert numbers(["06:00:30", "18:00:00"]) == [0.25 + 30 / 86400, 0.75]
    assert numbers(["06:00 PM", "12:00 AM"]) == [0.75, 0.0]
    assert kind_of(["13:45", "25:10"]).kind == "category"


@pytest.mark.parametrize(
    ("date_format", "cells"),
    [
        ("%d/%m/%Y", ["31/12/2024", "2024-12-31", "2024-12-31T00:00:00"]),
        ("%Y-%m-%d", ["2024-12-31", "2024-12-31 00:00"]),
        ("%b %d, %Y", ["Dec 31, 2024", "2024-12-31"]),
    ],
)
def test_iso_dates_are_read_whatever_the_format_of_training(date_format, cells) -> None:
    kind = ColumnKind("day", "date", date_format)
    assert convert(pl.Series("day", cells), kind, "thousands").to_list() == [20088.0] * len(cells)


@pytest.mark.parametrize(
    ("date_format", "cell", "said"),
    [
        (
            "%d/%m/%Y",
            "12-31-2024",
            "dates written like 31/12/2024 (%d/%m/%Y) or 2024-12-31; got '12-31-2024' in row",
        ),
        ("%Y-%m-%d", "31/12/2024", "dates written like 2024-12-31 (%Y-%m-%d); got '31/12/2024' in row 2."),
        ("%H:%M", "noon", "times written like 13:45 (%H:%M); got 'noon' in row 2."),
        (None, "soon", "dates; got 'soon' in row 2."),
    ],
)
def test_other_dates_are_refused_with_the_format_that_is_expected(date_format, cell, said) -> None:
    with pytest.raises(ValueError, match=re.escape(f"Column 'day' must hold {said}")):
        convert(pl.Series("day", [None, cell]), ColumnKind("day", "date", date_format), "thousands")


def test_the_label_of_a_total_gets_its_advice() -> None:
    with pytest.raises(ValueError, match=r"got 'Total' in row 2\. If this row sums up the others, take it out\."):
        convert(pl.Series("c", ["1", "Total"]), ColumnKind("c", "number"), "decimal")


def test_misread_numbers_and_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="Column 'c' must hold numbers or categories, not both; got '1' and 'x'"):
        kind_of(["1"] * 9 + ["x"])
    with pytest.raises(ValueError, match="Column 'c' must hold numbers, dates or text; got List"):
        kind_of([[1], [2]])
    for values in ([b"a", b"b"], [{"a": 1}], [datetime.timedelta(1)]):
        for act in (kind_of, lambda v: convert(pl.Series("c", v), ColumnKind("c", "number"), "decimal")):
            with pytest.raises(ValueError, match="Column 'c' must hold numbers, dates or text; got"):
                act(values)
    with pytest.raises(ValueError, match=r"must hold finite numbers; got 'inf' in row 12\."):
        convert(pl.Series("c", ["1", "inf"]), ColumnKind("c", "number"), "decimal", row=11)
