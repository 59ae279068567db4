import pytest
import torch

import polyladder
from polyladder import attack, attack_table, maximize, minimize, optimize_table
from tests.robustness.tables import mixed_table, regressor


def test_the_old_names_answer_as_the_new_ones_do() -> None:
    model, (X, y) = regressor(), mixed_table()
    with pytest.warns(DeprecationWarning, match=r"attack_table is called attack: write attack\(model, x, y, radius"):
        old = attack_table(model, X[:3], y[:3], 0.05, integer=["b"], budget=None)
    new = attack(model, X[:3], y[:3], 0.05, integer=["b"])
    assert old.rows == new.rows
    assert torch.equal(old.value, new.value)
    for highest, search in ((False, minimize), (True, maximize)):
        with pytest.warns(DeprecationWarning, match=f"optimize_table is called {search.__name__}: write") as said:
            found = optimize_table(model, {"a": (-1.0, 1.0)}, {"k": "x"}, maximize=highest, tolerance=1e9, seconds=5.0)
        assert said[0].filename == __file__
        again = search(model, {"a": -1.0}, {"a": 1.0}, fixed={"k": "x"}, tolerance=1e9)
        assert (found.row, found.value) == (again.row, again.value)
    assert {"attack_table", "optimize_table"} <= set(polyladder.__all__)
