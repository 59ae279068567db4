"""One definition of strength: held to finite differences, and the same for the command, the card and the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectFromModel

from polyladder import BayesianLPNNRegressor, Features, FeedforwardRegressor, LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.explain.strengths import STRAIGHT, central_points, strengths
from polyladder.report.payload import payload
from tests.cli.tables import run
from tests.fitted.reading import read_model

CHAIN: dict[str, Any] = {"order": 3, "width": 3, "chains": 2, "warmup": 5, "draws": 5, "random_state": 0}
TINY: dict[str, Any] = {"order": 3, "width": 3, "n_estimators": 2, "max_iter": 5, "random_state": 0, "guard": False}


def mixed(n: int = 100) -> tuple[pl.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    kind = rng.choice(["p", "q", "r"], n)
    return pl.DataFrame({"a": a, "kind": kind, "b": b}), 2 * a + a * b + (kind == "q")


@pytest.mark.parametrize("model", [LPNNRegressor(**TINY), BayesianLPNNRegressor(**CHAIN)], ids=["ladder", "posterior"])
def test_strengths_are_root_mean_squares_of_finite_differences(model: Any) -> None:
    X, y = mixed()
    model.fit(X, y)
    z = model.inputs(X)
    found = strengths(read_model(model, X), z)
    mean, step = model.polynomial_, 1e-4

    def f(shift: Any) -> Any:
        return mean(z + torch.from_numpy(shift))[:, 0].numpy()

    eye, spread = step * np.eye(5), z.numpy().std(0)
    slopes = [(f(e) - f(-e)) / (2 * step) for e in eye]
    single = [np.mean(s**2) * w**2 for s, w in zip(slopes, spread, strict=True)]
    # Inputs 0 and 1 are a and b; the three categories of kind come last, and add up in quadrature.
    expected = {"a": single[0], "b": single[1], "kind": sum(single[2:])}
    assert dict(found.columns) == {name: pytest.approx(value**0.5, rel=1e-5) for name, value in expected.items()}
    assert [X.columns[i] for i in found.positions] == [name for name, _ in found.columns]
    mixed_slope = (f(eye[0] + eye[1]) - f(eye[0] - eye[1]) - f(eye[1] - eye[0]) + f(-eye[0] - eye[1])) / (4 * step**2)
    (value,) = [v for *pair, v in found.pairs if pair == ["a", "b"]]
    assert (0, 2) in found.pair_positions
    assert value == pytest.approx(np.sqrt(np.mean(mixed_slope**2)) * spread[0] * spread[1], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ladder", "posterior"])
def test_the_command_and_the_page_say_the_same(kind: str, tmp_path: Path) -> None:
    wine = load_wine(as_frame=True)
    model = LPNNRegressor(**TINY) if kind == "ladder" else BayesianLPNNRegressor(**CHAIN)
    model.fit(wine.data, wine.target)
    model.card_ = make_card(model, wine.data, target="cultivar")
    model.save(tmp_path / "m.ladder")
    wine.data.to_csv(tmp_path / "rows.csv", index=False)
    said = json.loads(run("explain", tmp_path / "m.ladder", "--json").stdout)
    over_rows = json.loads(run("explain", tmp_path / "m.ladder", tmp_path / "rows.csv", "--json").stdout)
    names = list(wine.data.columns)
    for page in (payload(model), payload(model, wine.data)):
        shown = page["strengths"]
        assert [[names[i], v] for i, v in shown["columns"]] == said["features"]
        assert [[names[i], names[j], v] for i, j, v in shown["pairs"]] == said["interactions"][: len(shown["pairs"])]
    assert over_rows["features"] == [[name, pytest.approx(value)] for name, value in said["features"]]


@pytest.mark.slow
def test_many_inputs_have_strengths_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 320))
    y = 5 * X[:, 7] + 3 * X[:, 300] + 2 * X[:, 7] * X[:, 300]
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=20, random_state=0).fit(X, y)
    found = strengths(read_model(model, X), model.inputs(X))
    assert [name for name, _ in found.columns[:2]] == ["x7", "x300"]
    assert len(found.columns) == 320
    assert found.pairs[0][:2] == ("x7", "x300")
    assert found.pair_positions[0] == (7, 300)


@pytest.mark.slow
def test_a_straight_fit_is_called_so() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = LPNNRegressor(order=2, width=2, n_estimators=1, alpha=1e-9, max_iter=60, tol=0.0, random_state=0)
    straight = strengths(read_model(model.fit(X, 3 * X[:, 0] - X[:, 1])), model.inputs(X))
    assert straight.bend < STRAIGHT * straight.columns[0][1]
    assert straight.note.startswith("Practically linear:")
    bent = strengths(read_model(model.fit(X, 3 * X[:, 0] - X[:, 1] ** 2)), model.inputs(X))
    assert bent.note == ""


def test_columns_that_do_not_act_together_are_no_pairs() -> None:
    X, y = mixed()
    straight = LPNNRegressor(**TINY).fit(X, y)
    # A ladder whose second rung is constant is a line.
    straight.members_ = straight.members_.map(torch.zeros_like)
    found = strengths(read_model(straight, X), straight.inputs(X))
    assert (found.pairs, found.pair_positions) == ((), ())
    straight.card_ = make_card(straight, X, target="y")
    straight.card_["strengths"]["columns"] = [[0, 2.0], [2, 1.0], [1, 0.5]]
    straight.card_["strengths"]["pairs"] = [[0, 2, 0.0], [0, 1, 1e-15]]
    for name in ("positions", "pair_positions"):
        del straight.card_["strengths"][name]
    # The card of an earlier file.
    kept = strengths(read_model(straight))
    assert kept.columns == (("a", 2.0), ("b", 1.0), ("kind", 0.5))
    assert kept.pairs == ()
    assert payload(straight)["strengths"]["columns"] == [[0, 2.0], [2, 1.0], [1, 0.5]]


def test_a_card_keeps_names_and_positions() -> None:
    X, y = mixed()
    model = LPNNRegressor(**TINY).fit(X, y)
    found = strengths(read_model(model, X), model.inputs(X))
    model.card_ = make_card(model, X, target="y")
    assert model.card_["strengths"]["columns"] == [list(each) for each in found.columns]
    assert strengths(read_model(model)) == found
    assert sorted(found.positions) == [0, 1, 2]


def test_without_rows_categories_count_by_their_shares_and_ramps_belong_to_their_column() -> None:
    rng = np.random.default_rng(0)
    n = 200
    X = pl.DataFrame({"x": rng.normal(size=n), "rare": np.where(np.arange(n) < 4, "yes", "no")})
    y = 2 * np.abs(X["x"].to_numpy()) + 2 * (X["rare"] == "yes").to_numpy()
    model = LPNNRegressor(features="piecewise", **TINY).fit(X, y)
    found, rows = strengths(read_model(model)), strengths(read_model(model, X), model.inputs(X))
    assert found.over == "256 points in the middle of the ranges"
    assert [name for name, _ in found.columns] == [name for name, _ in rows.columns] == ["x", "rare"]
    for (_, value), (_, known) in zip(found.columns, rows.columns, strict=True):
        assert value == pytest.approx(known, rel=0.5)
    points, _ = central_points(read_model(model))
    ramps = model.features_.ramps_
    np.testing.assert_allclose(points[:, -len(ramps.column) :], ramps(points[:, :1].numpy()))


@pytest.mark.parametrize("card", [False, True])
def test_importances_are_what_feature_selection_asks_for(card: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    model = LPNNRegressor(**TINY)
    with pytest.raises(AttributeError, match="before it is fitted"):
        _ = model.feature_importances_
    selector = SelectFromModel(model).fit(X, 5 * X[:, 1] + 4 * X[:, 3] + 0.1 * X[:, 0])
    assert selector.get_support().tolist() == [False, True, False, True]
    fitted = selector.estimator_
    if card:
        fitted.card_ = make_card(fitted, X)
    found = fitted.feature_importances_
    assert found.sum() == pytest.approx(1.0)
    ranked = dict(strengths(read_model(fitted)).columns)
    np.testing.assert_allclose(found / found.max(), [ranked[f"x{i}"] / max(ranked.values()) for i in range(4)])


def test_what_is_no_ladder_has_no_importances() -> None:
    X, y = np.random.default_rng(0).normal(size=(2, 20, 2))
    network = FeedforwardRegressor(hidden=(2,), max_iter=1, random_state=0).fit(X, y[:, 0])
    assert not hasattr(network, "feature_importances_")


def test_a_wave_is_not_linear() -> None:
    """The polynomial is straight in the cosine, which is no straight function of the hour."""
    hour = np.random.default_rng(0).uniform(0, 24, 200)
    X, y = pl.DataFrame({"hour": hour}), np.cos(2 * np.pi * hour / 24)
    model = LPNNRegressor(effort="low", features=Features(periods={"hour": 24.0}), random_state=0).fit(X, y)
    for found in (strengths(model.model_), strengths(model.model_, model.inputs(X))):
        assert found.bend >= STRAIGHT * found.columns[0][1]
        assert found.note == ""
