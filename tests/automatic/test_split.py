"""Which rows are held out."""

import numpy as np
import polars as pl
import pytest

from polyladder.automatic.options import TableOptions
from polyladder.automatic.split import rows_of_file, split_rows
from polyladder.automatic.training_table import training_table
from polyladder.tables.table_file import frame_file


def table(aside: tuple[str, ...] = (), **columns):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=200), "y": rng.normal(size=200), **columns})
    return training_table(frame_file(frame), "y", TableOptions(), aside)


def check(train: np.ndarray, test: np.ndarray) -> None:
    assert sorted([*train, *test]) == list(range(200))
    assert 10 < len(test) < 60


def test_groups_stay_together() -> None:
    group = [f"p{i % 17}" for i in range(200)]
    train, test = split_rows(table(("who",), who=group), 0, group="who")
    check(train, test)
    assert not {group[i] for i in train} & {group[i] for i in test}


def test_the_latest_rows_are_held_out() -> None:
    rng = np.random.default_rng(1)
    days = [
        f"2020-{1 + m:02}-{1 + d:02}" for m, d in zip(rng.integers(0, 12, 200), rng.integers(0, 28, 200), strict=True)
    ]
    train, test = split_rows(table(("day",), day=days), 0, time="day")
    check(train, test)
    assert max(days[i] for i in train) < min(days[i] for i in test)


def test_what_cannot_split_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 different values; 'who' has 1"):
        split_rows(table(("who",), who=["p"] * 200), 0, group="who")
    with pytest.raises(ValueError, match="must name a column of dates or numbers; 'when' holds category"):
        split_rows(table(("when",), when=["now", "then", "once", "soon"] * 50), 0, time="when")
    with pytest.raises(ValueError, match="without gaps; 'when' has 1 of them"):
        split_rows(table(("when",), when=[None, *range(199)]), 0, time="when")
    with pytest.raises(ValueError, match="that changes"):
        split_rows(table(("when",), when=[1.0] * 200), 0, time="when")


def test_rows_of_another_file_are_read_as_the_table_was() -> None:
    read = table(fee=["$1,200", "$15", "$7", "$8"] * 50)
    other = pl.DataFrame(
        {"y": [1.0, None, 2.0], "fee": ["$9", "$10", "$1,100"], "a": [0.0, 1.0, 2.0], "more": [1, 2, 3]}
    )
    rows, target, notes = rows_of_file(read, frame_file(other))
    assert rows.to_dict(as_series=False) == {"a": [0.0, 2.0], "fee": [9.0, 1100.0]}
    assert target.tolist() == [1.0, 2.0]
    assert notes == ["1 row of the table without a known target: left out."]
    with pytest.raises(ValueError, match="it lacks 'fee'"):
        rows_of_file(read, frame_file(other.drop("fee")))
