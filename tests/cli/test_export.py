from pathlib import Path

import numpy as np
import onnxruntime
import polars as pl
import pytest

from polyladder import LPNNRegressor, load
from polyladder.cli.export import FORMATS, export
from tests.cli.tables import run, sentence
from tests.export.estimators import error, fitted, table


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "houses.ladder"
    fitted("numbers")[0].save(path)
    return path


def test_the_examples_of_its_help_run(calibrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "houses.ladder").write_bytes(calibrated.read_bytes())
    lines = [line.strip() for line in (export.__doc__ or "").splitlines() if "polyladder export" in line]
    assert len(lines) == 3
    for line in lines:
        run(*line.split()[1:])
    written = {p.name for p in tmp_path.iterdir()}
    assert written == {"houses.ladder", "houses.c", "houses.h", "houses.sql", "houses.onnx"}
    assert 'FROM "houses"' in (tmp_path / "houses.sql").read_text()


@pytest.mark.parametrize("to", FORMATS)
def test_every_target_is_written(to: str, model: Path, tmp_path: Path) -> None:
    place = tmp_path / "m.out"
    assert f"Export: {place}" in run("export", model, "--to", to, "-o", place).stdout
    assert place.stat().st_size > 1000


def test_what_is_written_predicts(model: Path, tmp_path: Path) -> None:
    rows = fitted("numbers")[1]
    run("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")
    found = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, {"rows": rows.to_numpy()})[0]
    assert error(found[:, 0], load(model).predict(rows)) < 1e-12
    run("export", model, "--to", "numpy", "-o", tmp_path / "m.py")
    module: dict[str, object] = {}
    exec((tmp_path / "m.py").read_text(), module)
    assert error(module["predict"](pl.from_pandas(rows).to_numpy()), np.asarray(found)) < 1e-12  # type: ignore[operator]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calibrated") / "houses.ladder"
    X, y = table(120, 0)
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X[:60], y[:60])
    model.calibrate(X[60:], y[60:]).save(path)
    return path


def test_intervals_are_written(calibrated: Path, tmp_path: Path) -> None:
    rows = table(50, 1)[0]
    run("export", calibrated, "--to", "onnx", "--interval", "80", "-o", tmp_path / "m.onnx")
    found = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, {"rows": rows.to_numpy()})
    model = load(calibrated)
    assert isinstance(model, LPNNRegressor)
    expected = np.stack([model.predict(rows), *model.predict_interval(rows, 0.8)], 1)
    assert error(np.concatenate(found[:3], 1), expected) < 1e-12
    run("export", calibrated, "--to", "sql", "--interval", "97.5", "-o", tmp_path / "m.sql")
    assert "hold 97.5 % of new observations" in (tmp_path / "m.sql").read_text()


def test_integers_state_their_bound(model: Path, tmp_path: Path) -> None:
    said = run("export", model, "--to", "c", "--numbers", "fixed", "-o", tmp_path / "m.c").stdout
    assert "Proven largest error of each answer:" in said
    assert "double" not in (tmp_path / "m.c").read_text()


def test_mistakes_are_sentences(model: Path, tmp_path: Path) -> None:
    said = sentence("export", model, "--to", "onnx", "--numbers", "fixed", "-o", tmp_path / "m")
    assert said.startswith("--numbers must be float64 or float32")
    (tmp_path / "there").write_text("")
    said = sentence("export", model, "--to", "c", "-o", tmp_path / "there", "--no-clobber")
    assert "must be a new file" in said


def test_intervals_that_cannot_be_are_sentences(model: Path, calibrated: Path, tmp_path: Path) -> None:
    said = sentence("export", calibrated, "--to", "recipe", "--interval", "90", "-o", tmp_path / "m")
    assert said == "--interval must be left out for recipe: encrypted predictions are numbers alone."
    said = sentence("export", calibrated, "--to", "c", "--interval", "100", "-o", tmp_path / "m")
    assert said.startswith("interval must be a percentage from 1 to below 100; got 100.")
    said = sentence("export", calibrated, "--to", "c", "--numbers", "fixed", "--interval", "90", "-o", tmp_path / "m")
    assert said.startswith("Fixed point must be without intervals")
    said = sentence("export", model, "--to", "c", "--interval", "90", "-o", tmp_path / "m")
    assert said.startswith("interval must be left out: the LPNNRegressor knows no errors")
    assert not (tmp_path / "m").exists()
