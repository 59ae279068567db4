"""The fit of the command under torchrun, here by one process; `tests/models/test_processes.py` has two."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from polyladder.automatic.fit_processes import fit_with_processes, under_torchrun
from polyladder.automatic.fit_table import read_training_table
from polyladder.automatic.options import FitOptions


@pytest.mark.slow
def test_a_table_is_learned_and_the_checkpoint_removed(tmp_path):
    x = np.random.default_rng(0).normal(size=(400, 3))
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x[:, 0] * x[:, 1] + x[:, 2]})
    said = []
    table = read_training_table(frame, "y")
    place = tmp_path / "c.part"
    model = fit_with_processes(table, FitOptions(say=said.append), width=8, epochs=15, batch_size=16, checkpoint=place)
    assert len(said) == 15
    assert not place.exists()
    assert model.card_["scores"][0]["r2"] > 0.8
    assert model.predict(table.columns).shape == (400,)


def test_the_command_knows_torchrun_by_its_environment(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not under_torchrun()
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    assert under_torchrun()
