"""One definition of strength: held to finite differences, and the same for the command, the card and the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.datasets import load_wine

from polyladder import BayesianLPNNRegressor, LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.explain.fitted import read_model
from polyladder.explain.strengths import STRAIGHT, strengths
from polyladder.report.payload import payload
from tests.cli.tables import run

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
    expected = {0: single[0], 2: single[1], 1: sum(single[2:])}
    for i, value in found.columns:
        assert value == pytest.approx(expected[i] ** 0.5, rel=1e-5)
    mixed_slope = (f(eye[0] + eye[1]) - f(eye[0] - eye[1]) - f(eye[1] - eye[0]) + f(-eye[0] - eye[1])) / (4 * step**2)
    (value,) = [v for i, j, v in found.pairs if (i, j) == (0, 2)]
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
    assert [i for i, _ in found.columns[:2]] == [7, 300]
    assert len(found.columns) == 320
    assert found.pairs[0][:2] == (7, 300)


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
