from pathlib import Path

import numpy as np
import onnxruntime
import polars as pl
import pytest

from polyladder import load
from polyladder.cli.export import FORMATS, export
from tests.cli.tables import run, sentence
from tests.export.estimators import error, fitted


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "houses.ladder"
    fitted("numbers")[0].save(path)
    return path


def test_the_examples_of_its_help_run(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "houses.ladder").write_bytes(model.read_bytes())
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
