"""Tables read in parts: the same model as in memory, resumed where it stopped, held-out rows never fitted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor, load
from polyladder.automatic.fit_large import Checkpoint, Keyed, collected, fit_large_table
from polyladder.polynomial.store import save
from polyladder.tables.columns import ColumnKind
from polyladder.tables.file_parts import FileParts, bytes_in_memory, sampled_file, table_files
from polyladder.tables.partitions import LocalPartitions
from tests.cli.tables import run, sentence
from tests.ladders import random_ladder


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2400, 3))
    y = x[:, 0] * x[:, 1] + x[:, 2] + 0.1 * rng.normal(size=2400)
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    frame = frame.with_columns(
        kind=pl.Series(np.where(y > 0, "up", "down")), y=pl.when(pl.arange(2400) == 7).then(None).otherwise("y")
    )
    place = tmp_path / "rows"
    place.mkdir()
    for i, part in enumerate(frame.iter_slices(1000)):
        part.write_parquet(place / f"{i}.parquet", row_group_size=300)
    return place


def parts(folder):
    kinds = tuple(ColumnKind(name, "number") for name in "abc")
    return LocalPartitions(FileParts(table_files(folder), kinds, ColumnKind("y", "number"), None, lambda rows: None))


@pytest.mark.slow
def test_the_fit_is_that_of_the_rows_that_are_not_held_out(folder):
    said = []
    model = fit_large_table(folder, "y", drop=("kind",), order=3, compare=False, seed=5, say=said.append)
    assert any("2,400 rows" in line for line in said)
    X, y = collected(parts(folder), Keyed(0.15, 1.0, 5))
    unseen, answers = collected(parts(folder), Keyed(0.0, 0.15, 5))
    assert len(y) + len(answers) == 2399
    again = LPNNRegressor(order=3, random_state=5).fit_batches([(X, y)])
    np.testing.assert_allclose(model.predict(unseen), again.predict(unseen), rtol=1e-3, atol=2e-3)
    card = model.card_
    assert card["scores"][0]["rmse"] == pytest.approx(np.sqrt(np.mean((model.predict(unseen) - answers) ** 2)))
    assert card["scores"][0]["rmse"] < 0.13
    assert card["rows"] == 2400


@pytest.mark.slow
def test_an_interrupted_fit_goes_on_and_ends_in_the_same_model(folder, tmp_path):
    options = {"drop": ("kind",), "order": 3, "compare": False, "sweeps": 3}
    whole = fit_large_table(folder, "y", **options)
    said = []

    def stop_after_the_first_sweep(sentence):
        said.append(sentence)
        if sentence.startswith("1 sweep over"):
            raise KeyboardInterrupt

    place = tmp_path / "m.part"
    with pytest.raises(KeyboardInterrupt):
        fit_large_table(folder, "y", **options, checkpoint=place, say=stop_after_the_first_sweep)
    assert load(place).predict(pl.DataFrame({"a": [0.0], "b": [0.0], "c": [1.0]})) == pytest.approx(1.0, abs=0.1)
    resumed = fit_large_table(folder, "y", **options, checkpoint=place, say=said.append)
    assert any("Going on" in line for line in said)
    assert not place.exists()
    rows = pl.read_parquet(folder / "0.parquet").select("a", "b", "c")
    np.testing.assert_allclose(resumed.predict(rows), whole.predict(rows), rtol=1e-9, atol=1e-9)


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    place = tmp_path / "m.part"
    save(random_ladder(), place)
    with pytest.raises(ValueError, match="must be new or a checkpoint of polyladder; it is a model"):
        Checkpoint(place, "these rows").read()
    place.write_text("mine")
    with pytest.raises(ValueError, match=r"m\.part cannot be read as a polyladder file"):
        Checkpoint(place, "these rows").read()
    assert place.read_text() == "mine"


@pytest.mark.slow
def test_the_command_streams_what_exceeds_its_memory(folder, tmp_path):
    file = folder / "0.parquet"
    assert bytes_in_memory(file) > 1000 * 4 * 8
    place = tmp_path / "m.ladder"
    arguments = ["fit", file, "-t", "kind", "--drop", "y", "-o", place, "--memory", "0.00001", "--sweeps", "1"]
    result = run(*arguments)
    assert "read in parts" in result.output
    assert "HistGradientBoosting" in result.output
    model = load(place)
    assert model.card_["scores"][0]["error"] < 0.1
    assert "--bayesian must be left out" in sentence(*arguments, "--bayesian")


def test_a_sample_of_all_files_is_uniform(folder):
    drawn, count = sampled_file(table_files(folder), 600, 0, lambda rows: None)
    frame = drawn.whole()
    assert (count, len(frame)) == (2400, 600)
    whole = pl.read_parquet(folder / "*.parquet")
    last = whole[2000:].join(frame, on=["a", "b", "c"], how="inner")
    assert 60 < len(last) < 140
