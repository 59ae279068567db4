import numpy as np
import polars as pl
import pytest

from polyladder import optimize_table
from tests.robustness.tables import classifier, mixed_table, regressor


@pytest.mark.parametrize("features", ["standard", "quantile"])
@pytest.mark.parametrize("maximize", [True, False])
def test_no_row_of_a_large_sample_is_beyond_the_bound(features: str, maximize: bool) -> None:
    model, (X, _) = regressor(features, guard=False), mixed_table()
    bounds = {"a": (-1.0, 1.0)}
    found = optimize_table(model, bounds, maximize=maximize)
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
    sign = 1 if maximize else -1
    best = (sign * model.predict(tried)).max()
    assert sign * found.bound >= sign * found.value >= best - 0.02 * abs(best)
    assert sign * found.bound >= best
    assert model.predict(pl.DataFrame([found.row])) == pytest.approx(found.value)
    assert -1 <= found.row["a"] <= 1
    assert found.gap <= 0.011 * max(abs(found.value), 1.0)


def test_what_is_fixed_stays() -> None:
    found = optimize_table(regressor(), fixed={"k": "z", "b": 2.0}, maximize=True)
    assert found.row["k"] == "z"
    assert found.row["b"] == 2.0
    free = optimize_table(regressor(), maximize=True)
    assert free.bound >= found.value


def test_of_classes_it_is_the_score() -> None:
    model = classifier(2)
    found = optimize_table(model, maximize=True)
    assert model.decision_function(pl.DataFrame([found.row])) == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bounds": {"a": (1.0, -1.0)}}, "The bounds of 'a' must be two finite numbers that rise; got 1 and -1"),
        ({"bounds": {"k": (0, 1)}}, "bounds must name columns of numbers that vary"),
        ({"fixed": {"k": "q"}}, "fixed must give 'k' one of"),
        ({"output": 1}, "output must be from 0 to 0; got 1"),
    ],
)
def test_what_is_refused(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        optimize_table(regressor(), **change)
