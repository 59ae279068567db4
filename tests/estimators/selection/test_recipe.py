"""What a selection found, without its rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators.selection.candidates.kernel import Kernel
from polyladder.estimators.selection.candidates.linear import Linear


def test_a_recipe_holds_what_counts() -> None:
    X, y = make_friedman1(150, noise=0.5, random_state=0)
    model = LPNNRegressor(effort="low", random_state=0, compact=False)
    recipe = model.fit_again(X, y)
    assert recipe is not None
    assert recipe.selection == model.selection_
    counted = [each.weight for each in model.selection_.candidates if each.weight > 0]
    assert sorted(weight for _, weight in recipe.used) == pytest.approx(sorted(counted))
    assert (recipe.rows, recipe.outputs, recipe.columns) == (150, 1, tuple(range(10)))
    assert not recipe.straight
    blocks = [trial.block for trial, _ in recipe.used if isinstance(trial, Kernel)]
    assert all(len(block.scales.scales) == 10 and len(block.x) == len(block.along) == 0 for block in blocks)
    assert bool(recipe.ramps) == any(block.features == "piecewise" for block in blocks)


def test_classes_are_counted_with_their_constant_and_lines() -> None:
    X, y = load_iris(return_X_y=True)
    model = LPNNClassifier(effort="low", random_state=0)
    recipe = model.fit_again(X, y)
    assert recipe is not None
    assert recipe.outputs == 3
    assert sum(weight for _, weight in recipe.used) == pytest.approx(1.0)
    assert all(trial.ridge > 0 for trial, _ in recipe.used if isinstance(trial, Linear))


def test_a_line_and_nothing_at_all_are_straight() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    line = LPNNRegressor(random_state=0).fit_again(X, X @ [1.0, 2.0])
    assert line is not None
    assert line.straight
    noise = LPNNRegressor(random_state=0).fit_again(X, np.random.default_rng(1).normal(size=60))
    assert noise is not None
    assert noise.straight


def test_without_a_selection_there_is_no_recipe() -> None:
    X, y = make_friedman1(40, random_state=0)
    assert LPNNRegressor(order=2, n_estimators=1, max_iter=2, random_state=0).fit_again(X, y) is None
    assert LPNNRegressor(solver="adam", width=4, max_iter=2, random_state=0).fit_again(X, y) is None
