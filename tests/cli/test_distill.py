import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from polyladder import LPNNRegressor, load
from tests.cli.tables import run, sentence, small_table, write

TABLE = {name: np.array(cells, dtype=np.float64) for name, cells in small_table(120).items()}
X, Y = np.stack([TABLE["a"], TABLE["b"]], 1).astype(np.float32), TABLE["y"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write(tmp_path / "t.csv", small_table(120))


@pytest.fixture
def boosted(tmp_path: Path) -> Path:
    model = GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, Y)
    (tmp_path / "boosted.onnx").write_bytes(to_onnx(model, X[:1]).SerializeToString())
    return tmp_path / "boosted.onnx"


@pytest.mark.slow
def test_a_boosted_model_becomes_a_ladder_that_every_command_takes(boosted: Path, rows: Path, tmp_path: Path) -> None:
    place = tmp_path / "small.ladder"
    said = run("distill", boosted, rows, "--drop", "y", "-o", place).stdout
    small = load(place)
    first, last = said.splitlines()
    assert first == small.selection_.compact
    assert "of what the OnnxTeacher gains over a line is kept" in first
    assert last.startswith(f"Saved to {place}")
    predicted = pl.read_csv(run("predict", place, rows).stdout.encode())["prediction"].to_numpy()
    taught = GradientBoostingRegressor(n_estimators=40, random_state=0).fit(X, Y).predict(X)
    assert np.mean((predicted - taught) ** 2) < 0.1 * taught.var()
    assert "prediction = " in run("explain", place, rows, "--formula", "--terms", 5).stdout
    assert run("explain", place).stdout.startswith("prediction: a polynomial of order")
    assert run("certify", place, rows).stdout.startswith("prediction,lower,upper")
    run("report", place, "-o", tmp_path / "small.html")
    run("export", place, "--to", "sql", "-o", tmp_path / "small.sql")


@pytest.mark.slow
def test_classes_keep_their_labels(rows: Path, tmp_path: Path) -> None:
    labels = np.where(Y > 1, "high", "low")
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, labels)
    (tmp_path / "m.onnx").write_bytes(to_onnx(model, X[:1]).SerializeToString())
    found = json.loads(
        run("distill", tmp_path / "m.onnx", rows, "--drop", "y", "-o", tmp_path / "s.ladder", "--json").stdout
    )
    small = load(tmp_path / "s.ladder")
    assert found == {
        "sentence": small.selection_.compact,
        "order": small.order_,
        "weights": sum(each.n_weights for each in small.members_),
        "model": str(tmp_path / "s.ladder"),
    }
    predicted = pl.read_csv(run("predict", tmp_path / "s.ladder", rows).stdout.encode())
    assert predicted.columns == ["prediction", "probability", "probability of high", "probability of low"]
    assert (predicted["prediction"].to_numpy() == model.predict(X)).mean() > 0.9


@pytest.mark.slow
def test_a_ladder_is_a_teacher_too(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"a": TABLE["a"], "b": TABLE["b"]})
    large = LPNNRegressor(order=4, width=40, features="standard", n_estimators=4, random_state=0).fit(frame, Y)
    large.save("large.ladder")
    said = run("distill", "large.ladder", rows, "--size", 300).stdout
    small = load("large-small.ladder")
    assert len(small.members_) == 1
    assert small.members_[0].n_weights <= 300 < large.members_[0].n_weights
    assert said.startswith(f"The model has order {small.order_} and {small.members_[0].n_weights} weights.\n")
    assert np.corrcoef(small.predict(frame), large.predict(frame))[0, 1] > 0.99
    assert run("distill", "large.ladder", rows, "--size", 300, "-q").output == ""
    # What it reads is never what it writes.
    assert "--output must not be a file that this command reads" in sentence(
        "distill", "large.ladder", rows, "-o", "large.ladder"
    )


def test_what_is_wrong_is_said_in_a_sentence(boosted: Path, rows: Path, tmp_path: Path) -> None:
    assert "takes 2 columns of numbers; the rows have 3: 'a', 'b', 'y'." in sentence("distill", boosted, rows)
    assert "must be an ONNX model that onnxruntime can run" in sentence("distill", rows, rows)
    assert "there is no such file" in sentence("distill", tmp_path / "no.onnx", rows)
    assert sentence("distill", boosted, rows, "--drop", "z").startswith("--drop must name a column of")
    assert sentence("distill", boosted, rows, "--tolerance", "much").startswith("--tolerance must be a share")
    words = write(tmp_path / "w.csv", {"a": ["x", "y"] * 5, "b": ["1", "2"] * 5})
    assert "takes 2 columns of numbers; the rows have 1: 'b'." in sentence("distill", boosted, words)
