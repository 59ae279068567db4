"""From a table to columns and a target."""

import polars as pl
import pytest

from polyladder.automatic.fit_table import frame_file
from polyladder.automatic.training_table import training_table


def read(columns: dict, target: str = "y", **options):
    return training_table(frame_file(pl.DataFrame(columns)), target, **options)


def test_a_target_of_money_and_one_of_yes_and_no() -> None:
    found = read({"a": ["x", "y", "z", "w"] * 10, "y": [f"${1000 + i:,}" for i in range(40)]})
    assert found.task == "regression"
    assert found.target[0] == 1000
    assert found.target_kind.style.prefix == "$"
    found = read({"a": ["x", "y", "z", "w"] * 10, "y": ["Yes", "no", "YES", "No"] * 10})
    assert set(found.target) == {"Yes", "no"}
    assert found.task == "classification"


def test_a_counter_is_kept_if_there_is_nothing_else() -> None:
    found = read({"x": list(range(40)), "y": [float(i % 7) + 0.5 for i in range(40)]})
    assert [kind.name for kind in found.kinds] == ["x"]
    with pytest.raises(ValueError, match="that says something"):
        read({"x": ["same"] * 40, "y": [float(i % 7) + 0.5 for i in range(40)]})


def test_columns_that_are_not_there_are_refused_by_their_option() -> None:
    columns = {"a": [1.5, 2.5] * 20, "y": [float(i) for i in range(40)]}
    for option in ("keep", "drop", "category"):
        with pytest.raises(ValueError, match=f"{option} must name a column of the table; got 'zz'"):
            read(columns, **{option: ["zz"]})
