from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.cli.report import judged_rows
from tests.cli.tables import run, sentence, small_table, write
from tests.explain.test_explanation import TINY, rows


def test_rows_without_a_target_are_left_out_of_a_page(tmp_path: Path) -> None:
    """A model of an array, with a card, and a file in which some targets are missing."""
    X, y = rows()
    model = LPNNRegressor(**TINY).fit(X, y)
    model.card_ = make_card(model, X, target="y")
    model.save(tmp_path / "m.ladder")
    lines = [f"{a},{b},{c},{'' if i % 4 == 0 else t}" for i, ((a, b, c), t) in enumerate(zip(X, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(["x0,x1,x2,y", *lines]) + "\n")
    said = run("report", tmp_path / "m.ladder", tmp_path / "t.csv", "-o", tmp_path / "p.html")
    assert "10 rows have no y: left out." in said.stderr
    assert (tmp_path / "p.html").stat().st_size > 10_000


def fitted(kind: type = LPNNRegressor, target: Any = None) -> Any:
    table = pl.DataFrame({name: [*map(float, cells)] for name, cells in small_table().items()})
    X, y = table.select("a", "b"), table["y"].to_numpy() if target is None else target
    model = kind(**TINY, solver="alternating").fit(X, y)
    model.card_ = make_card(model, X, target="y")
    return model


def test_rows_come_with_their_targets_where_the_file_has_them(tmp_path: Path) -> None:
    model, path = fitted(), write(tmp_path / "t.csv", small_table())
    found, target = judged_rows(model, str(path))
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(target, np.array(small_table()["y"], dtype=float))
    without = {name: cells for name, cells in small_table().items() if name != "y"}
    found, target = judged_rows(model, str(write(tmp_path / "x.csv", without)))
    assert (len(found), target) == (40, None)


@pytest.mark.parametrize("labels", [("n", "p"), (0, 1)], ids=repr)
def test_classes_are_read_as_they_were_fitted(labels: Any, tmp_path: Path) -> None:
    y = np.array(labels)[np.arange(40) % 2]
    model = fitted(LPNNClassifier, y)
    path = write(tmp_path / "t.csv", {**small_table(), "y": [*map(str, y)]})
    _, target = judged_rows(model, str(path))
    assert [model.classes_.dtype.type(v) for v in target] == y.tolist()


def test_a_file_without_rows_or_targets_is_refused(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "m.ladder")
    empty = write(tmp_path / "e.csv", {"a": [], "b": []})
    assert sentence("report", tmp_path / "m.ladder", empty, "-o", tmp_path / "p.html").endswith(
        "must hold rows under its header; there are none."
    )
    gone = write(tmp_path / "g.csv", {"a": ["1", "2"], "b": ["1", "2"], "y": ["", ""]})
    with pytest.raises(ValueError, match="must hold a row with a value of y; there is none"):
        judged_rows(model, str(gone))
    assert not (tmp_path / "p.html").exists()
