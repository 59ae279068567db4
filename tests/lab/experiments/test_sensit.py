"""Whoever has the files of SensIT gets its column of Table 3 by one command: tried on small files of its format."""

import bz2
import dataclasses

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from polyladder_lab.commands.reproduce import reproduce
from polyladder_lab.datasets import dataset as dataset_module
from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.experiments.engine import plan
from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, only
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.runners import sources

ROWS, TEST_ROWS = 400, 80

app = typer.Typer()
app.command()(reproduce)


def svmlight(classes, features):
    """Lines as LIBSVM writes them: the class from 1 on, then the entries that are not zero, counted from 1."""
    entries = (" ".join(f"{i + 1}:{value:.7g}" for i, value in enumerate(row) if value) for row in features)
    return "".join(f"{c + 1} {row} \n" for c, row in zip(classes, entries, strict=True)).encode()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with a small SensIT, and a catalog that knows how many rows it has."""
    random = np.random.default_rng(0)
    classes = random.integers(3, size=ROWS)
    features = np.where(random.random((ROWS, 100)) < 0.1, 0.0, random.normal(size=(ROWS, 100)))
    features[:, :10] += 2.0 * (classes[:, None] - 1)
    for name, part in (("combined", slice(0, ROWS - TEST_ROWS)), ("combined.t", slice(ROWS - TEST_ROWS, ROWS))):
        place = tmp_path / "data" / "sensIT" / f"{name}.bz2"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(bz2.compress(svmlight(classes[part], features[part])))
    entry = dataclasses.replace(find_entry("sensIT"), rows=ROWS, test_rows=TEST_ROWS)
    for module in (dataset_module, plan):
        monkeypatch.setattr(module, "find_entry", lambda name: entry)
    monkeypatch.setenv("POLYLADDER_DATA", "")
    sources.dataset.cache_clear()
    yield tmp_path
    sources.dataset.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["LPNN", "boosting"])
def test_the_column_is_measured_by_one_command(folder, model):
    told = ["table_3", "--only", f"sensIT/{model}", "--data-dir", folder / "data", "--store", folder]
    done = CliRunner().invoke(app, [str(word) for word in told], catch_exceptions=False)
    assert done.exit_code == 0
    d = only(declared("table_3"), f"sensIT/{model}")
    cell = compare(d, Store(folder).rows("table_3")).cells["sensIT", model]
    assert cell.complete
    # As of the other sets of the table, 30 % of all rows are drawn to test on.
    assert cell.rows[0]["rows"] == 120
    assert cell.mean < 0.3
    assert "data not available" not in done.stdout
