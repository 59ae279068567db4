import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.cost import cost_left
from polyladder_lab.experiments.engine.declare import only
from polyladder_lab.experiments.engine.plan import selection_groups
from polyladder_lab.experiments.engine.run import run
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.render import markdown
from polyladder_lab.experiments.runners.networks import run_networks
from tests.lab.experiments.small import TEXT, small

pytestmark = pytest.mark.slow

KILLED = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from polyladder_lab.experiments.engine.run import run
from polyladder_lab.experiments.engine.store import Store
from tests.lab.experiments.small import small

torch.set_num_threads(1)
folder = Path(sys.argv[1])
moments = random.Random(0)
for _ in range(20):
    # A fork has everything imported already: it is at work from its first moment on.
    child = os.fork()
    if child == 0:
        run(small(), Store(folder))
        os._exit(0)
    time.sleep(moments.uniform(0.0, 0.4))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(len(Store(folder).rows("small")), flush=True)
"""


def table(folder):
    d = small()
    return markdown(compare(d, Store(folder).rows("small")))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run(small(), Store(folder))
    return folder


def test_a_run_fills_the_table(undisturbed):
    d = small()
    comparison = compare(d, Store(undisturbed).rows("small"))
    assert all(cell.complete for cell in comparison.cells.values())
    # Diabetes has a deviation of 77; anything that learned is below that.
    assert all(40 < cell.mean < 100 for cell in comparison.cells.values())
    row = next(iter(Store(undisturbed).rows("small").values()))
    assert {"key", "table", "column", "data", "model", "setting", "split", "seconds", "seed", "commit"} <= row.keys()


def test_a_second_run_does_nothing(undisturbed):
    before = (undisturbed / "small.jsonl").read_bytes()
    groups = []
    run(small(), Store(undisturbed), watch=lambda group, cost: groups.append(group))
    assert groups == []
    assert (undisturbed / "small.jsonl").read_bytes() == before
    assert cost_left(small(), Store(undisturbed).rows("small")) == pytest.approx(0.0)


def values(folder):
    return {key: row.get("value", row.get("folds")) for key, row in Store(folder).rows("small").items()}


def test_killed_at_twenty_moments_it_goes_on_to_the_same_table(undisturbed, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    said = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, env=environment, check=True
    )
    counts = [int(line) for line in said.stdout.split()]
    assert len(counts) == 20
    # No kill loses a row that was stored.
    assert counts == sorted(counts)
    assert [path.name for path in tmp_path.iterdir()] == ["small.jsonl"] * bool(counts[-1])
    run(small(), Store(tmp_path))
    assert table(tmp_path) == table(undisturbed)
    assert values(tmp_path) == values(undisturbed)


def test_cut_off_while_writing_it_goes_on_to_the_same_table(undisturbed, tmp_path):
    whole = (undisturbed / "small.jsonl").read_bytes()
    (tmp_path / "small.jsonl").write_bytes(whole[: len(whole) // 2])
    with pytest.warns(UserWarning, match="ends in half a line"):
        assert 0 < len(values(tmp_path)) < len(values(undisturbed))
    with pytest.warns(UserWarning, match="ends in half a line"):
        run(small(), Store(tmp_path))
    with pytest.warns(UserWarning, match="must be JSON"):
        assert table(tmp_path) == table(undisturbed)
    with pytest.warns(UserWarning, match="must be JSON"):
        assert values(tmp_path) == values(undisturbed)


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_ends_at_once_and_stores_nothing_half_trained(tmp_path, jobs):
    declaration = tmp_path / "small.toml"
    text = TEXT.replace("epochs = 2", "epochs = 100_000").replace("splits_at_once = 2", "splits_at_once = 1")
    # The first model is quickly done; the others would take hours.
    declaration.write_text(text.replace('name = "FFR"', 'name = "FFR"\ncolumns.diabetes = { epochs = 1 }'))
    command = [sys.executable, "-c", "from polyladder.cli.start import run; run()", "reproduce", str(declaration)]
    process = subprocess.Popen([*command, "--jobs", str(jobs)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "on one core" in process.stderr.readline()
    for _ in range(6):
        assert "diabetes/FFR" in process.stderr.readline()
    stored = (tmp_path / "results" / "small.jsonl").read_bytes()
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    process.communicate()
    # Two seconds on a machine that is free; the limit leaves room for one that is not.
    assert time.perf_counter() - began < 20
    assert process.returncode == 130
    assert (tmp_path / "results" / "small.jsonl").read_bytes() == stored
    assert stored.endswith(b"\n")


def test_more_splits_add_to_what_is_there(undisturbed, tmp_path):
    fewer = small(TEXT.replace("splits = 3", "splits = 2"))
    store = Store(tmp_path)
    run(fewer, store)
    first = set(store.rows("small"))
    groups = []
    run(small(), store, watch=lambda group, cost: groups.append(group))
    assert {each.split for group in groups for each in group} == {2}
    assert first < set(store.rows("small"))
    assert table(tmp_path) == table(undisturbed)


def test_processes_give_the_same_rows(undisturbed, tmp_path):
    part = only(small(), "/FM")
    run(part, Store(tmp_path), jobs=2)
    found = [compare(part, Store(folder).rows("small")).cells["diabetes", "FM"] for folder in (tmp_path, undisturbed)]
    assert found[0].complete
    assert found[0].values == found[1].values


def test_a_column_whose_data_cannot_be_had_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYLADDER_DATA", raising=False)
    text = TEXT.replace('data = "diabetes"', 'data = "sensIT"')
    with pytest.raises(OSError, match="sensIT must be fetched by hand"):
        run(small(text), Store(tmp_path))
    told = text.replace("settings = 3", 'settings = 3\nunavailable = "data not available"')
    assert run(small(told), Store(tmp_path)) == ["diabetes"]
    assert "data not available" in markdown(compare(small(told), {}))[2]


def test_models_of_a_group_are_as_if_alone_without_dropout():
    d = small(TEXT.replace("dropout = [0.0, 0.2]", "learning_rate = [1e-2, 1e-3]"))
    group = next(selection_groups(d, d.columns[0], {}))
    together = run_networks(group)
    for measurement, results in zip(group, together, strict=True):
        alone = run_networks([measurement])[0]
        assert [r.value for r in results] == pytest.approx([r.value for r in alone], rel=1e-4)
    assert np.ptp([results[0].value for results in together]) > 0
