from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from polyladder import load
from polyladder.cli.demo import ROWS, write_friedman
from polyladder.cli.main import commands

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


def test_the_table_is_friedmans_function_with_noise(tmp_path: Path) -> None:
    write_friedman(tmp_path / "f.csv")
    table = pl.read_csv(tmp_path / "f.csv")
    assert table.columns == [*(f"x{i}" for i in range(10)), "y"]
    x = table.to_numpy()
    assert x.shape == (ROWS, 11)
    truth = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    noise = x[:, 10] - truth
    assert abs(noise.mean()) < 4 / np.sqrt(ROWS)
    assert noise.std() == pytest.approx(1, abs=0.1)
