import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder.tables.like_rows import like_rows
from polyladder.tables.table import find_categories, matrix_table, read_table

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
