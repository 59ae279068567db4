"""What text columns are taken for."""

import datetime

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind, convert, guess_kind


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
