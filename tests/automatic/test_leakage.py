"""Columns that already hold the answer."""

import numpy as np
import polars as pl

from polyladder.automatic.leakage import leakage_notes

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=N)
OTHER = RNG.normal(size=N)


def suspects(columns: dict, y: np.ndarray, task: str) -> list[str]:
    return [note.split("'")[1] for note in leakage_notes(pl.DataFrame(columns), y, task, "y")]


def test_a_number_that_is_the_target_in_other_units() -> None:
    y = X + OTHER
    columns = {"x": X, "celsius": 32 + 1.8 * y, "noisy": y + RNG.normal(size=N)}
    assert suspects(columns, y, "regression") == ["celsius"]


def test_categories_that_tell_the_target() -> None:
    group = RNG.integers(0, 4, N)
    levels = np.array(["a", "b", "c", "d"])[group]
    # Names that differ from row to row have means as well, of one row each.
    columns = {"level": levels, "name": [f"n{i}" for i in range(N)], "x": X}
    assert suspects(columns, 10.0 * group + 0.01 * X, "regression") == ["level"]


def test_an_index_of_a_table_sorted_by_class() -> None:
    y = np.repeat(["ill", "well"], N // 2).astype(object)
    columns = {"x": X, "position": np.arange(N, dtype=float), "mark": np.where(y == "ill", "i", "w")}
    assert suspects(columns, y, "classification") == ["position", "mark"]


def test_one_column_alone_and_few_rows_are_not_suspected() -> None:
    assert suspects({"x": X}, 2 * X, "regression") == []
    assert suspects({"x": X[:20], "o": OTHER[:20]}, 2 * X[:20], "regression") == []


def test_gaps_and_constants_do_no_harm() -> None:
    gaps = np.where(RNG.random(N) < 0.2, np.nan, X)
    columns = pl.DataFrame({"gaps": gaps, "same": np.ones(N), "text": [None, "a"] * (N // 2)}, nan_to_null=True)
    assert leakage_notes(columns, OTHER, "regression", "y") == []
