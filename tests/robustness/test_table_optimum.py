import itertools
import time
from copy import copy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor, PolynomialKernelRegressor, load, maximize, minimize
from polyladder.fitted.features import Features
from tests.ladders import random_ladder
from tests.robustness.tables import classifier, mixed_table, regressor, steep, steep_table

LOOSE = 1e9
"""A gap that the first bound closes: the search is made in full, the proof ends at once."""

SEARCH = {True: maximize, False: minimize}

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"


@pytest.mark.parametrize("features", ["standard", "quantile"])
@pytest.mark.parametrize("highest", [True, False])
def test_no_row_of_a_large_sample_is_beyond_the_bound(features: str, highest: bool) -> None:
    model, (X, _) = regressor(features, guard=False), mixed_table()
    found = SEARCH[highest](model, {"a": -1.0}, {"a": 1.0})
    rng = np.random.default_rng(0)
    tried = pl.DataFrame(
        {
            "a": rng.uniform(-1, 1, 4000),
            "b": rng.uniform(0, 5, 4000),
            "still": np.ones(4000),
            "c": rng.uniform(X["c"].min(), X["c"].max(), 4000),
            "k": rng.choice(["x", "y", "z"], 4000),
        }
    )
    sign = 1 if highest else -1
    best = (sign * model.predict(tried)).max()
    assert sign * found.bound >= sign * found.value >= best - 0.02 * abs(best)
    assert sign * found.bound >= best
    assert model.predict(pl.DataFrame([found.row])) == pytest.approx(found.value)
    assert -1 <= found.row["a"] <= 1
    assert found.gap <= 0.011 * max(abs(found.value), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("highest", [True, False])
@pytest.mark.parametrize("guard", [True, False])
def test_no_training_row_is_better_and_the_row_could_be_one(highest: bool, guard: bool) -> None:
    model, (X, _) = steep(guard=guard), steep_table()
    found = SEARCH[highest](model, tolerance=LOOSE)
    sign, predicted = 1 if highest else -1, model.predict(X)
    assert sign * found.value >= (sign * predicted).max() - 1e-9
    assert sign * found.bound >= sign * found.value
    closer = SEARCH[highest](model, max_seconds=0.2)
    assert sign * found.bound >= sign * closer.bound >= sign * closer.value
    limits = model.target_.guard_range[int(highest)]
    assert found.held == (guard and found.value == float(limits))
    row = found.row
    assert X["radius"].min() <= row["radius"] <= X["radius"].max()
    assert row["rooms"] in range(1, 13)
    assert row["age"] is None or X["age"].min() <= row["age"] <= X["age"].max()
    assert row["kind"] in ("a", "b", "c", "d")
    assert row["land"] == "here"
    frame = pl.DataFrame([row], schema_overrides={"age": pl.Float64})
    assert model.predict(frame)[0] == pytest.approx(found.value, rel=1e-12)
    # Rows of chance, missing cells among them, are not beyond the bound either.
    rng = np.random.default_rng(1)
    tried = X[rng.integers(0, len(X), 3000)].with_columns(
        radius=rng.uniform(X["radius"].min(), X["radius"].max(), 3000),
        rooms=rng.integers(1, 13, 3000),
        kind=rng.choice(["a", "b", "c", "d"], 3000),
    )
    best = (sign * model.predict(tried)).max()
    assert sign * found.value >= best - 1e-9
    assert sign * closer.bound >= best


@pytest.mark.slow
def test_the_best_of_all_rows_of_a_grid_is_found_between_bounds() -> None:
    model, (X, _) = steep(guard=False), steep_table()
    low, high = 9_000.0, 40_000.0
    ages = np.linspace(X["age"].min(), X["age"].max(), 120)
    every = itertools.product(np.geomspace(low, high, 60), range(2, 9), ages[::6], ["a", "b", "c", "d"], ["here"])
    grid = pl.DataFrame(list(every), schema=X.columns, orient="row")
    for highest in (True, False):
        lower, upper = {"radius": low, "rooms": 1.5, "age": ages[0]}, {"radius": high, "rooms": 8.7, "age": ages[-1]}
        found = SEARCH[highest](model, lower, upper, tolerance=LOOSE)
        sign = 1 if highest else -1
        best = (sign * model.predict(grid)).max()
        assert sign * found.value >= best - 1e-9
        assert sign * found.bound >= sign * found.value
        assert low <= found.row["radius"] <= high
        assert found.row["rooms"] in range(2, 9)
        assert found.row["age"] is not None


def test_a_row_with_a_missing_cell_may_be_the_best() -> None:
    model, (X, _) = steep(), steep_table()
    calm = {"kind": "a", "rooms": 3, "radius": 1000.0}
    found = maximize(model, fixed=calm, tolerance=LOOSE)
    ages = X.select("age").unique()
    every = ages.with_columns(radius=pl.lit(1000.0), rooms=pl.lit(3), kind=pl.lit("a"), land=pl.lit("here"))
    assert found.value >= model.predict(every.select(X.columns)).max() - 1e-9
    assert found.bound >= found.value
    given = maximize(model, {"age": 0.0}, {"age": 90.0}, fixed=calm, tolerance=LOOSE)
    assert given.row["age"] is not None


def test_columns_keep_to_their_training_range_and_not_to_that_of_clipping() -> None:
    model, (X, _) = copy(regressor()), mixed_table()
    model.features_ = Features(margin=0.5).fit(X)
    assert model.features_.low_[0] < X["a"].min() - 1
    found = maximize(model, tolerance=LOOSE)
    for name in ("a", "b", "c"):
        assert X[name].min() <= found.row[name] <= X[name].max()
    wide = maximize(model, {"a": -100.0}, {"a": 100.0}, tolerance=LOOSE)
    assert wide.value >= found.value


@pytest.mark.slow
def test_a_selected_model_of_a_line_has_its_optimum_at_the_ends_of_the_training_range() -> None:
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"cement": rng.integers(100, 500, 80), "water": rng.uniform(120, 240, 80)})
    y = 0.2 * X["cement"].to_numpy() - 0.3 * X["water"].to_numpy()
    model = LPNNRegressor(effort="low", random_state=0).fit(X, y)
    assert model.features_.high_[0] > X["cement"].max()
    found = maximize(model, tolerance=LOOSE)
    assert found.row == {"cement": X["cement"].max(), "water": pytest.approx(X["water"].min())}
    assert found.value == pytest.approx(0.2 * X["cement"].max() - 0.3 * X["water"].min(), rel=1e-3)


@pytest.mark.slow
def test_the_time_is_kept_to_by_models_that_take_long() -> None:
    model = copy(steep(guard=False))
    model.members_ = random_ladder(model.polynomial_.in_features, (300,) * 5, 1, batch_shape=(1,))
    for seconds in (0.0, 0.5):
        began = time.monotonic()
        found = maximize(model, max_seconds=seconds)
        assert time.monotonic() - began < seconds + 2
        assert found.value <= found.bound


def test_files_of_an_earlier_version_are_searched_from_random_rows() -> None:
    model = load(FIXTURES / "lpnn_regressor_0_1.ladder")
    with pytest.warns(UserWarning, match="keeps no training rows, .*; it does not tell which columns"):
        found = maximize(model, max_seconds=0.5)
    assert found.value <= found.bound
    low, high = model.features_.training_range()
    numbers = [value for value in found.row.values() if not isinstance(value, str)]
    assert len(numbers) == len(low) == 2
    assert all(x is None or a <= x <= b for x, a, b in zip(numbers, low, high, strict=True))


def test_other_estimators_start_from_their_rows_too() -> None:
    X, y = mixed_table()
    model = PolynomialKernelRegressor(max_iter=2, random_state=0).fit(X, y)
    found = maximize(model, tolerance=LOOSE)
    assert found.value >= model.predict(X).max() - 1e-9


def test_a_column_of_many_whole_numbers_is_rounded_at_the_end() -> None:
    X, y = mixed_table()
    far = X.with_columns(b=X["b"] * 1_000_003)
    model = copy(regressor()).fit(far, y)
    found = maximize(model, {"a": 0.0}, {"a": 1.0}, tolerance=LOOSE)
    assert float(found.row["b"]).is_integer()
    assert found.value <= found.bound


def test_what_is_fixed_stays() -> None:
    found = maximize(regressor(), fixed={"k": "z", "b": 2.0})
    assert found.row["k"] == "z"
    assert found.row["b"] == 2.0
    free = maximize(regressor())
    assert free.bound >= found.value


def test_of_classes_it_is_the_score() -> None:
    model = classifier(2)
    found = maximize(model)
    assert model.decision_function(pl.DataFrame([found.row])) == pytest.approx(found.value)
    assert found.meaning == "log-odds of 'low'"
    assert minimize(classifier(3), output=2, max_seconds=0.0).meaning == "score of 'middle'"
    assert minimize(regressor(), max_seconds=0.0).meaning == "prediction"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lower": {"a": 1.0}, "upper": {"a": -1.0}}, "The lower end of 'a' must not exceed the upper; got 1 and -1"),
        ({"lower": {"a": 1e9}}, "The lower end of 'a' must not exceed the upper; got 1e[+]09 and "),
        ({"upper": {"a": np.inf}}, "upper must give 'a' a finite number; got inf"),
        ({"upper": {"k": 1}}, "upper must name columns of numbers that vary"),
        ({"fixed": {"k": "q"}}, "fixed must give 'k' one of"),
        ({"output": 1}, "output must be from 0 to 0; got 1"),
        ({"fixed": {"b": "many"}}, "fixed must give 'b' a finite number; got 'many'"),
        ({"lower": {"b": 2.2}, "upper": {"b": 2.8}}, "The bounds of 'b' must hold a whole number; got 2.2 and 2.8"),
        ({"max_seconds": -1.0}, "max_seconds must be a number of seconds that is not negative, or None; got -1.0"),
    ],
)
def test_what_is_refused(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        minimize(regressor(), **change)


def test_ends_of_an_estimator_are_given_by_column_and_those_of_a_ladder_are_not() -> None:
    with pytest.raises(TypeError, match="lower must be a mapping from columns to numbers for an estimator; got 0"):
        minimize(regressor(), 0.0, 1.0)
    for given in (None, {"a": 1.0}):
        with pytest.raises(TypeError, match="upper must be a number or a tensor for a ladder; got"):
            minimize(random_ladder(2), 0.0, given)
    with pytest.raises(ValueError, match="fixed names columns of an estimator"):
        minimize(random_ladder(2), 0.0, 1.0, fixed={"a": 1.0})


def test_one_end_alone_keeps_the_other_of_the_training_range() -> None:
    X, _ = mixed_table()
    found = maximize(regressor(), upper={"a": 0.0}, tolerance=LOOSE)
    assert X["a"].min() <= found.row["a"] <= 0
    inputs = regressor().inputs(pl.DataFrame([found.row]))
    np.testing.assert_allclose(found.x, inputs[0])
