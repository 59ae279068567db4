import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from polyladder import load
from polyladder.cli.demo import ROWS, friedman
from polyladder.cli.main import commands
from tests.cli.tables import run, sentence

pytestmark = pytest.mark.slow


def test_demo_ends_with_a_model_and_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.cli.demo.ROWS", 120)
    monkeypatch.setattr("polyladder.cli.demo.SECONDS", 0.0)
    result = CliRunner().invoke(commands, ["demo", "--output", str(tmp_path)])
    assert result.exit_code == 0, result.exception
    assert "HistGradientBoosting" in result.stdout
    assert "exact minimum" in result.stdout
    assert result.stdout.endswith(f"Report: {tmp_path / 'friedman.html'}\n")
    assert (tmp_path / "friedman.html").is_file()
    model = load(tmp_path / "friedman.ladder")
    assert model.n_features_in_ == 10
    rmse = {score["model"]: score["rmse"] for score in model.card_["scores"]}
    assert rmse["ladder"] < rmse["linear"] < rmse["mean"]
    shown = result.stdout.splitlines()
    at = shown.index("prediction,lower,upper")
    assert len(shown[at + 1].split(",")) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"friedman.csv", "friedman.ladder", "friedman.html"}


def test_the_table_is_friedmans_function_with_noise() -> None:
    table = pl.read_csv(friedman())
    assert table.columns == [*(f"x{i}" for i in range(10)), "y"]
    x = table.to_numpy()
    assert x.shape == (ROWS, 11)
    truth = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    noise = x[:, 10] - truth
    assert abs(noise.mean()) < 4 / np.sqrt(ROWS)
    assert noise.std() == pytest.approx(1, abs=0.1)


def test_only_its_own_files_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[object] = []
    monkeypatch.setattr("polyladder.cli.fit.fit", lambda *_, **__: began.append(1) or sys.exit(3))
    table = tmp_path / "friedman.csv"
    table.write_text("mine\n")
    assert "friedman.csv exists" in sentence("demo", "--output", tmp_path)
    assert table.read_text() == "mine\n"
    run("demo", "--output", tmp_path, "--force", code=3)
    assert table.read_bytes() == friedman()
    run("demo", "--output", tmp_path, code=3)
    (tmp_path / "friedman.html").write_text("mine")
    assert "friedman.html is neither" in sentence("demo", "--output", tmp_path)
    assert len(began) == 2
