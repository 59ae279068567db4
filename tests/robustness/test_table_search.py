from copy import copy

import numpy as np
import pytest
import torch

from polyladder.robustness.feasible import Feasible
from polyladder.robustness.table_model import read_estimator
from polyladder.robustness.table_search import LEVELS, TableSearch, ends
from tests.robustness.tables import mixed_table, regressor, steep, steep_table


def search(bounds: dict | None = None, fixed: dict | None = None) -> TableSearch:
    lower, upper = ({name: pair[i] for name, pair in (bounds or {}).items()} for i in (0, 1))
    return TableSearch.between(read_estimator(steep()), lower, upper, fixed or {})


def test_rows_become_inputs_and_inputs_the_same_rows() -> None:
    X, _ = steep_table()
    place = search()
    table = place.model.model.read(X)
    x = place.model.inputs(table)
    assert ((x >= place.region.lower) & (x <= place.region.upper)).all()
    lower, upper, exists = place.space.snapped(place.region.lower, place.region.upper)
    assert exists.all()
    assert ((x >= lower) & (x <= upper)).all()
    back = place.rows(x, table)
    np.testing.assert_allclose(back.numbers, table.numbers, rtol=1e-9)
    np.testing.assert_array_equal(back.numbers[:, 1], table.numbers[:, 1])
    assert all((back.categories[i] == column).all() for i, column in table.categories.items())


def test_starts_are_the_rows_kept_and_random_ones_all_between_the_bounds() -> None:
    for place in (search(), search({"radius": (200.0, 300.5), "age": (10.0, 20.0)}, {"kind": "b", "rooms": 7})):
        rows = place.starts(128)
        kept = len(place.model.landmarks())
        assert len(rows.numbers) >= max(128, kept + 64)
        given = np.isnan(rows.numbers) | ((rows.numbers >= place.low) & (rows.numbers <= place.high))
        assert given.all()
        assert np.isnan(rows.numbers).any() == bool(place.space.gaps)
        assert (rows.numbers[:, 1] == np.round(rows.numbers[:, 1])).all()
        assert set(rows.categories[3]) <= ({"b"} if place.fixed else {"a", "b", "c", "d"})
        assert set(rows.categories[4]) == {"here"}
        x = place.model.inputs(rows)
        assert Feasible(place.around(x), place.space.rules).allows(x).all()


def test_what_is_missing_stays_so_while_a_row_climbs() -> None:
    place = search()
    gap = place.space.gaps[0]
    table = place.model.model.read(steep_table()[0])
    x = place.model.inputs(table)
    missing = np.isnan(table.numbers[:, 2])
    assert missing.any()
    region = place.around(x)
    assert (region.lower[missing, gap.column] == region.upper[missing, gap.column]).all()
    assert (region.lower[~missing, gap.column] < region.upper[~missing, gap.column]).all()
    assert torch.equal(region.lower[:, gap.flag], x[:, gap.flag])


def test_a_column_with_bounds_is_never_missing() -> None:
    assert [gap.flag for gap in search().space.gaps] == [3]
    assert set(search().model.gaps) == {2}
    assert search({"age": (1.0, 2.0)}).space.gaps == ()
    assert search(fixed={"age": 2.0}).space.gaps == ()


def test_whole_numbers_have_levels_unless_there_are_too_many() -> None:
    levels = search({"rooms": (2.5, 7.5)}).space.rules.levels
    assert {i: len(each) for i, each in levels.items()} == {1: 5}
    wide = search({"rooms": (0.0, LEVELS + 5.0)})
    assert not wide.space.rules.levels
    assert wide.whole.tolist() == [False, True, False]


def test_ends_are_those_of_training() -> None:
    X, _ = mixed_table()
    model = read_estimator(regressor())
    low, high = ends(model, {"c": 0.1}, {"c": 0.2}, {"b": np.int64(3)})
    assert (low[0], high[0]) == (X["a"].min(), X["a"].max())
    assert (low[1], high[1]) == (3.0, 3.0)
    assert (low[3], high[3]) == (0.1, 0.2)
    with pytest.raises(ValueError, match="fixed must give 'b' a finite number; got None"):
        ends(model, {}, {}, {"b": None})


def test_without_rows_kept_all_starts_are_random() -> None:
    model = copy(steep())
    model.landmarks_ = None
    rows = TableSearch.between(read_estimator(model), {}, {}, {}).starts(20)
    assert len(rows.numbers) == 20
    assert not np.isnan(rows.numbers).any()
