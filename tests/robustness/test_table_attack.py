import numpy as np
import polars as pl
import pytest

from polyladder import attack
from tests.robustness.tables import classifier, mixed_table, moved, regressor, steep, steep_table


@pytest.mark.parametrize("features", ["standard", "quantile"])
@pytest.mark.parametrize("goal", [None, "up", "down"])
def test_the_worst_rows_are_rows_of_the_box(features: str, goal: str | None) -> None:
    model, (X, y) = regressor(features), mixed_table()
    steps = {"a": 0.4, "b": 1.0, "c": 0.2}
    found = attack(model, X[:10], y[:10], steps, goal=goal, integer=["b"])  # type: ignore[arg-type]
    worst = pl.DataFrame(found.rows)
    for name, step in steps.items():
        assert (np.abs(worst[name].to_numpy() - X[:10][name].to_numpy()) <= step + 1e-12).all()
    assert (worst["b"] == worst["b"].round()).all()
    assert (worst["k"] == X[:10]["k"]).all()
    assert (worst["still"] == 1).all()
    error = model.predict(worst) - y[:10]
    assert np.allclose({"up": error, "down": -error}.get(goal or "", np.abs(error)), found.value.numpy())
    tried = model.predict(moved(X[:10], {"a": 0.4, "c": 0.2}, 300)).reshape(10, 300) - y[:10, None]
    reached = {"up": tried, "down": -tried}.get(goal or "", np.abs(tried)).max(1)
    assert (found.value.numpy() >= reached - 0.02).all()
    assert found.bound is not None
    assert (found.bound.numpy() >= np.maximum(reached, found.value.numpy()) - 1e-9).all()


def test_ramps_move_with_their_columns() -> None:
    model, (X, y) = steep(guard=False), steep_table()
    X, y = X[:12], y[:12]
    found = attack(model, X, y, {"radius": 800.0, "rooms": 1.0}, goal="up", integer=["rooms"], restarts=2)
    worst = pl.DataFrame(found.rows, schema_overrides={"age": pl.Float64})
    np.testing.assert_allclose(model.predict(worst) - y, found.value.numpy(), rtol=1e-9)
    assert (found.value.numpy() >= model.predict(X) - y - 1e-9).all()
    assert found.bound is not None
    assert (found.bound >= found.value).all()
    assert (worst["rooms"] == worst["rooms"].round()).all()
    assert worst["age"].to_list() == X["age"].to_list()
    # Along one column the worst place of all pieces is found, whichever they are.
    alone = attack(model, X, y, {"radius": 8000.0}, goal="up", restarts=1, certificate=False)
    tried = [model.predict(X.with_columns(radius=X["radius"] + by)) - y for by in np.linspace(-8000, 8000, 61)]
    assert (alone.value.numpy() >= np.max(tried, 0) - 1e-6).all()


def test_categories_change_only_if_they_may() -> None:
    model, (X, y) = regressor(), mixed_table()
    held = attack(model, X[:10], y[:10], 0.05)
    freed = attack(model, X[:10], y[:10], 0.05, changing=["k"])
    assert pl.DataFrame(held.rows)["k"].to_list() == X[:10]["k"].to_list()
    assert pl.DataFrame(freed.rows)["k"].to_list() != X[:10]["k"].to_list()
    assert (freed.value >= held.value - 1e-6).all()
    still = attack(model, X[:10], y[:10], 0.05, frozen=["a", "b", "c"])
    assert pl.DataFrame(still.rows).to_dicts() == X[:10].to_dicts()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_success_is_another_class(classes: int) -> None:
    model, (X, _) = classifier(classes), mixed_table()
    y = model.predict(X[:15])
    found = attack(model, X[:15], y, 0.15)
    after = model.predict(pl.DataFrame(found.rows))
    assert ((after != y) == found.success.numpy()).all()
    assert found.success.any()


def test_what_is_refused() -> None:
    model, (X, y) = regressor(), mixed_table()
    with pytest.raises(ValueError, match="changing must name columns of categories; got 'a'"):
        attack(model, X[:2], y[:2], 0.1, changing=["a"])
    with pytest.raises(ValueError, match="frozen must name columns of numbers that vary"):
        attack(model, X[:2], y[:2], 0.1, frozen=["k"])
    with pytest.raises(ValueError, match="Column 'b' must have at most 512 whole numbers in reach"):
        attack(model, X[:2], y[:2], {"b": 1000.0}, integer=["b"])
