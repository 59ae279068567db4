"""Rows of a table in the types of the data frame that they came from."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder.tables.like_rows import like_rows
from polyladder.tables.table import Table, find_categories, matrix_table, read_table

COLUMNS = {
    "count": [1, 2, 3],
    "size": [0.5, None, 2.0],
    "garden": [True, False, True],
    "town": ["Bern", None, "Ulm"],
    "sold": [datetime.datetime(2024, 1, 2), datetime.datetime(2024, 1, 3, 12), datetime.datetime(2024, 2, 1)],
}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_frame_comes_back_as_it_was(library) -> None:
    frame = library(COLUMNS)
    table = read_table(frame, find_categories(frame))
    back = like_rows(table, frame)
    assert type(back) is type(frame)
    assert list(back.columns) == list(COLUMNS)
    again = read_table(back, find_categories(back))
    np.testing.assert_array_equal(again.numbers, table.numbers)
    assert again.categories[3].tolist() == table.categories[3].tolist() == ["Bern", None, "Ulm"]


def test_polars_keeps_its_types() -> None:
    frame = pl.DataFrame(COLUMNS).with_columns(
        pl.col("count").cast(pl.Int32), pl.col("sold").cast(pl.Date), pl.Series("whole", [1, None, 3])
    )
    table = read_table(frame, find_categories(frame))
    table.numbers[:, 0] += 0.4
    back = like_rows(table, frame)
    assert back.schema == frame.schema
    assert back.equals(frame)


def test_an_array_is_an_array() -> None:
    numbers = np.arange(6.0).reshape(3, 2)
    assert like_rows(matrix_table(numbers), np.zeros((1, 2))) is numbers


FRAME = pd.DataFrame(
    {
        "word": ["a", "b", None, "a"],
        "kind": pd.Categorical(["x", "y", "x", "y"]),
        "count": np.array([1, 2, 3, 4], dtype=np.int32),
        "unsure": pd.array([1, None, 3, 4], dtype="Int64"),
        "flag": [True, False, True, True],
        "maybe": pd.array([True, None, False, True], dtype="boolean"),
        "day": pd.to_datetime(["2020-01-01", "2021-06-05 12:30", None, "1969-12-31"], format="ISO8601"),
        "date": [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
        "size": np.array([0.5, np.nan, 2.0, 3.0], dtype=np.float32),
    },
    index=[3, 5, 7, 9],
)


def table(frame: pd.DataFrame = FRAME) -> Table:
    return read_table(frame, find_categories(frame))


def test_types_of_pandas_come_back() -> None:
    back = like_rows(table(), FRAME)
    assert list(back.columns) == list(FRAME.columns)
    again = table(back)
    np.testing.assert_array_equal(again.numbers, table().numbers)
    for i, column in table().categories.items():
        assert again.categories[i].tolist() == column.tolist()
    assert again.dates == table().dates
    for name in ("word", "kind", "flag"):
        assert back[name].dtype == FRAME[name].dtype
    assert back["count"].dtype.kind == "i"


def test_numbers_in_between_are_rounded_where_there_are_whole_ones() -> None:
    frame = pd.DataFrame({"count": [1, 2], "flag": [True, False], "size": [0.5, 1.5]})
    found = table(frame)
    found.numbers[:] = [[1.6, 0.7, 0.7], [1.2, 0.2, 0.8]]
    back = like_rows(found, frame)
    assert back["count"].tolist() == [2, 1]
    assert back["flag"].tolist() == [True, False]
    assert back["size"].tolist() == [0.7, 0.8]
