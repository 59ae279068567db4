"""Frames taken apart: which columns are numbers, which are categories, which are refused."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder.tables.table import Table, find_categories, find_dates, is_frame, read_table

PANDAS_NUMBERS = {
    "float": [1.0, 2.0, 3.0],
    "int": np.array([1, 2, 3]),
    "bool": [True, False, True],
    "nullable int": pd.array([1, 2, 3], dtype="Int64"),
    "nullable bool": pd.array([True, False, True], dtype="boolean"),
    "sparse": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
    "objects that are numbers": pd.Series([1, 2.5, Decimal("3")], dtype=object),
}
PANDAS_CATEGORIES = {
    "text": ["a", "b", "a"],
    "string": pd.array(["a", None, "b"], dtype="string"),
    "category": pd.Categorical(["a", "b", "a"]),
    "category of numbers": pd.Categorical([1, 2, 1]),
    "object": pd.Series(["a", None, "b"], dtype=object),
}
NOON = [datetime.datetime(2020, 1, 1), None, datetime.datetime(2020, 1, 3, 12)]
DATES = [
    pd.DataFrame({"when": pd.to_datetime(NOON)}),
    pd.DataFrame({"when": pd.to_datetime(NOON).tz_localize("UTC").tz_convert("Europe/Berlin")}),
    pd.DataFrame({"when": pd.Series(NOON, dtype=object)}),
    pl.DataFrame({"when": NOON}),
    pl.DataFrame({"when": NOON}).with_columns(pl.col("when").dt.replace_time_zone("UTC")),
]
SPANS = [
    pd.DataFrame({"when": pd.to_timedelta([1, 2, 3], unit="D")}),
    pd.DataFrame({"when": pd.period_range("2020", periods=3, freq="M")}),
    pd.DataFrame({"when": pd.Series([datetime.timedelta(1)] * 3, dtype=object)}),
    pd.DataFrame({"when": pd.Series([datetime.time(1)] * 3, dtype=object)}),
    pl.DataFrame({"when": [datetime.timedelta(1)] * 3}),
    pl.DataFrame({"when": [datetime.time(1)] * 3}),
]


def test_numbers_and_categories_of_pandas() -> None:
    frame = pd.DataFrame(PANDAS_NUMBERS | PANDAS_CATEGORIES)
    first = len(PANDAS_NUMBERS)
    assert find_categories(frame) == tuple(range(first, first + len(PANDAS_CATEGORIES)))


def test_numbers_and_categories_of_polars() -> None:
    text = pl.Series(["a", None, "b"])
    frame = pl.DataFrame(
        {"float": [1.0, 2.0, None], "int": [1, 2, 3], "bool": [True, None, False], "decimal": [Decimal("1.5")] * 3}
        | {"nothing": [None] * 3}
        | {"text": text, "categorical": text.cast(pl.Categorical), "enum": text.cast(pl.Enum(["a", "b"]))}
    )
    assert find_categories(frame) == (5, 6, 7)


def test_values_are_read_and_positions_kept() -> None:
    frame = pd.DataFrame(
        {"c": ["a", None, "nan"], "x": pd.array([1, None, 3], dtype="Int64"), "y": [True, False, True]}
    )
    table = read_table(frame, (0,))
    assert table.names == ("c", "x", "y")
    assert table.positions == (1, 2)
    assert table.categories[0].tolist() == ["a", None, "nan"]  # the text "nan" is a category, what is missing is not
    np.testing.assert_array_equal(table.numbers, [[1.0, 1.0], [np.nan, 0.0], [3.0, 1.0]])


@pytest.mark.parametrize("gone", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_every_kind_of_nothing_is_a_missing_category(gone: Any) -> None:
    frame = pd.DataFrame({"c": pd.Series(["a", gone], dtype=object)})
    assert find_categories(frame) == (0,)
    assert read_table(frame, (0,)).categories[0].tolist() == ["a", None]


def test_polars_and_pandas_are_read_alike() -> None:
    columns: dict[str, Any] = {"x": [1.0, None, 3.0], "b": [True, None, False], "c": ["u", None, "v"]}
    frames = pd.DataFrame(columns).astype({"b": "boolean"}), pl.DataFrame(columns)
    tables = [read_table(frame, (2,)) for frame in frames]
    np.testing.assert_array_equal(tables[0].numbers, tables[1].numbers)
    assert tables[0].categories[2].tolist() == tables[1].categories[2].tolist()


def test_columns_of_equal_name_are_both_read() -> None:
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=["x", "x"])
    table = read_table(frame, find_categories(frame))
    assert table.positions == (0,)
    assert table.categories[1].tolist() == ["a", "b"]


@pytest.mark.parametrize("frame", DATES)
def test_dates_are_days_since_1970(frame: Any) -> None:
    assert find_categories(frame) == ()
    assert find_dates(frame) == (0,)
    table = read_table(frame, ())
    np.testing.assert_array_equal(table.numbers[:, 0], [18262.0, np.nan, 18264.5])
    assert table.dates == (0,)
    assert table.take(np.array([0])).dates == (0,)


def test_dates_of_polars_have_no_time() -> None:
    assert read_table(pl.DataFrame({"day": [datetime.date(1970, 1, 2), None]}), ()).numbers[0] == 1.0


@pytest.mark.parametrize("frame", SPANS)
def test_spans_of_time_are_refused(frame: Any) -> None:
    sentence = "Column 'when' must hold numbers, categories or dates; got times or spans of time. Turn it into numbers"
    with pytest.raises(ValueError, match=sentence):
        find_categories(frame)


def test_what_is_no_date_among_dates_is_refused() -> None:
    with pytest.raises(ValueError, match="Column 'when' must hold dates throughout"):
        read_table(pd.DataFrame({"when": pd.Series([datetime.date(2020, 1, 1), "soon"], dtype=object)}), ())
    with pytest.raises(ValueError, match="times or spans of time"):
        read_table(SPANS[0], (0,))


def test_a_mixture_is_refused() -> None:
    frame = pd.DataFrame({"size": pd.Series([1.0, "two", 3.0], dtype=object)})
    with pytest.raises(ValueError, match=r"Column 'size' .*, not both; got 1\.0 and 'two'"):
        find_categories(frame)


@pytest.mark.parametrize("frame", [pd.DataFrame({"x": ["a", "b"]}), pl.DataFrame({"x": [[1.0], [2.0]]})])
def test_what_is_no_number_is_refused(frame: Any) -> None:
    with pytest.raises(ValueError, match="Column 'x' must hold numbers; "):
        read_table(frame, ())


def test_take_keeps_numbers_and_categories_together() -> None:
    table = Table(np.arange(6.0).reshape(3, 2), {2: np.array(["a", "b", "c"], dtype=object)}, (0, 1), ("x", "y", "c"))
    part = table.take(np.array([2, 0]))
    np.testing.assert_array_equal(part.numbers, [[4.0, 5.0], [0.0, 1.0]])
    assert part.categories[2].tolist() == ["c", "a"]


def test_what_counts_as_a_frame() -> None:
    assert is_frame(pd.DataFrame({"x": [1]}))
    assert is_frame(pl.DataFrame({"x": [1]}))
    assert not is_frame(np.ones((2, 2)))
    assert not is_frame([[1.0]])
