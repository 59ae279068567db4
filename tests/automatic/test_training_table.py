"""What every column of a table is, and what is said of it."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from polyladder.automatic.options import TableOptions
from polyladder.automatic.training_table import TrainingTable, settle_task, training_table
from polyladder.tables.columns import ColumnKind
from polyladder.tables.table_file import frame_file

N = 30


def read(frame: dict[str, Any], target: str = "y", **options: Any) -> TrainingTable:
    return training_table(frame_file(pl.DataFrame(frame, strict=False)), target, TableOptions(**options))


def columns(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=N), "kind": ["p", "q", "r"] * (N // 3), "y": rng.normal(size=N), **more}


def test_numbers_and_text_are_kept_as_they_are() -> None:
    found = read(columns())
    assert found.kinds == (ColumnKind("a", "number"), ColumnKind("kind", "category"))
    assert found.columns.columns == ["a", "kind"]
    np.testing.assert_array_equal(found.target, columns()["y"])
    assert (found.task, found.name, found.source) == ("regression", "y", "the table")
    ends = [f"{end:.5f}" for end in (found.target.min(), found.target.max())]
    assert found.sentences == (f"y holds 30 different numbers from {ends[0]} to {ends[1]}: regression.",)


def test_columns_may_be_dropped_or_called_categories() -> None:
    found = read(columns(code=[1, 2] * (N // 2)), drop=["a"], category=["code"])
    assert [kind.kind for kind in found.kinds] == ["category", "category"]
    assert found.columns["code"].to_list()[:2] == ["1", "2"]


def test_rows_without_a_target_are_left_out() -> None:
    y = [None, *columns()["y"][1:]]
    found = read(columns(y=y))
    assert len(found.target) == len(found.columns) == N - 1
    assert "1 row has no y: left out." in found.notes
    assert "2 rows have no y: left out." in read(columns(y=[None, None, *y[2:]])).notes


def test_columns_that_say_nothing_are_left_out_with_their_reason() -> None:
    more = {"same": [7] * N, "gone": [None] * N, "name": [f"n{i}" for i in range(N)], "column 7": range(5, 5 + N)}
    found = read(columns(**more))
    assert [kind.name for kind in found.kinds] == ["a", "kind"]
    assert found.notes == (
        "Column 'same' never changes: left out.",
        "Column 'gone' is empty: left out.",
        "Column 'name' holds 30 different texts, more like names than categories: left out.",
        "Column 'column 7' has no name and counts the rows: left out.",
    )
    assert "name" in read(columns(**more), category=["name"]).columns.columns


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        (
            {},
            {"target": "Y"},
            r"target must name a column of the table; got 'Y'\. Did you mean 'y'\?|Its columns are a",
        ),
        ({}, {"drop": ["zzz"]}, r"drop must name a column of the table; got 'zzz'\. Its columns are a, kind, y\."),
        ({}, {"category": ["kin"]}, r"category must name a column of the table; got 'kin'\. Did you mean 'kind'\?"),
        ({"y": [None] * N}, {}, "Target 'y' must hold numbers or classes; got nothing"),
        ({"y": [f"2024-01-{i % 28 + 1:02}" for i in range(N)]}, {}, "must hold numbers or classes; got dates"),
        ({"y": [1.0] * 9 + [None] * (N - 9)}, {}, "the table must hold at least 10 rows with a target; got 9"),
        ({"y": [1.0] * N}, {}, r"Target 'y' must hold different values; every row has 1\.0"),
        ({"y": ["u", "v"] * (N // 2)}, {"task": "regression"}, "must hold numbers for regression; got 'u'"),
        ({"y": [f"t{i}" for i in range(N)]}, {}, "must hold numbers or a few classes; got 30 different texts"),
        ({"y": ["u"] * (N - 2) + ["v", "w"]}, {}, "Two classes must have at least 3 rows each; not enough have"),
        ({}, {"drop": ["a", "kind"]}, "must hold a column besides 'y' that says something; there is none"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_a_sentence(
    change: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        read(columns(**change), **options)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ValueError, match="the table must hold rows under its header; there are none"):
        read({"a": [], "y": []})


@pytest.mark.parametrize(
    ("values", "task", "expected", "said"),
    [
        ([0, 1] * 15, None, "classification", "y holds 2 different whole numbers: classification."),
        (
            [0, 1] * 15,
            "regression",
            "regression",
            "2 different whole numbers from 0 to 1: regression; set the task",
        ),
        (
            [1, 2, 3] * 10,
            None,
            "regression",
            "3 different whole numbers from 1 to 3: regression; set the task to classification if",
        ),
        ([1, 2, 3] * 10, "classification", "classification", "3 different whole numbers: classification."),
        ([0.5, 1.5, 2.5] * 10, None, "regression", "y holds 3 different numbers from 0.5 to 2.5: regression."),
        (list(range(30)), None, "regression", "y holds 30 different whole numbers from 0 to 29: regression."),
    ],
)
def test_the_task_follows_from_the_numbers(values: list[float], task: Any, expected: str, said: str) -> None:
    found, y, guess = settle_task("y", pl.Series("y", values, dtype=pl.Float64), True, task)
    assert found == expected
    assert said in guess
    assert y.tolist() == values
    assert (y.dtype.kind == "i") == (expected == "classification")


def test_too_many_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="Target 'y' must hold at most 100 classes; got 101 numbers"):
        settle_task("y", pl.Series("y", [float(i) for i in range(101)]), True, "classification")


def test_rare_classes_are_left_out_with_their_rows() -> None:
    found = read(columns(y=["u"] * 14 + ["v"] * 13 + ["w", "w", "x"]))
    assert sorted(set(found.target)) == ["u", "v"]
    assert len(found.columns) == len(found.target) == 27
    assert found.notes == ("Classes with fewer than 3 rows are left out: w, x.",)


def test_a_column_of_one_value_and_gaps_says_something() -> None:
    found = read(columns(gaps=[5.0, None, 5.0] * (N // 3)))
    assert [kind.name for kind in found.kinds] == ["a", "kind", "gaps"]


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


def german(number: int) -> str:
    return f"{number:,}".replace(",", ".")


def test_the_other_columns_say_what_a_point_in_the_target_means() -> None:
    prices = [700 + 37 * i for i in range(N)]
    found = read({"area": [f"{40 + 3 * i},{i % 10}" for i in range(N)], "price": [*map(german, prices)]}, "price")
    assert found.target.tolist() == prices
    assert found.guess == f"price holds {N} different whole numbers from 700 to {max(prices)}: regression."
    assert found.notes[0] == (
        "Column 'price' holds '1.033' beside '700': the point is read as a mark of thousands, as other columns have a "
        "decimal comma."
    )
    # A column may as well learn it from the target.
    rows = {"size": [*map(german, prices)], "y": [f"{i},5" for i in range(N)]}
    assert read(rows, keep=["size"]).columns["size"].to_list() == prices


def test_what_a_point_in_the_target_means_may_stay_open() -> None:
    prices = [german(700 + 37 * i) for i in range(N)]
    found = read({"area": [(7 * i) % N for i in range(N)], "price": prices}, "price", keep=["area"])
    assert found.guess == f"price holds {N} different numbers from 1.033 to 996: regression."
    assert found.notes[0].startswith("Column 'price' holds '1.033' beside '700': the point is read as a decimal point;")
    schema = {"price": {"kind": "number", "decimal": ",", "thousands": "."}}
    assert read({"area": range(N), "price": prices}, "price", keep=["area"], schema=schema).target.max() == 1773


def test_a_row_of_totals_is_left_out() -> None:
    table = columns()
    total = {
        "a": [*table["a"], table["a"].sum()],
        "kind": [*table["kind"], "Total"],
        "y": [*table["y"], table["y"].sum()],
    }
    found, plain = read(total), read(table)
    assert found.columns.equals(plain.columns)
    assert np.array_equal(found.target, plain.target)
    assert found.notes[0] == "The row, 'Total', at the bottom holds sums of the rows above (a, y): left out."


def test_targets_have_codes_of_missing_values_and_spellings_too() -> None:
    y = [-999, *(5 + np.arange(N - 1) / 10)]
    found = read(columns(y=y))
    assert found.target.min() == 5
    assert found.notes[0].startswith("Column 'y' holds -999 in 1 row: read as missing.")
    assert found.notes[1] == "1 row has no y: left out."
    assert found.target_kind.json() == {"kind": "number", "missing": -999.0}
    named = read(columns(y=["Bern", "bern", "Aue"] * (N // 3)))
    assert set(named.target) == {"Bern", "Aue"}
    assert "'bern' is read as 'Bern'" in named.notes[0]
