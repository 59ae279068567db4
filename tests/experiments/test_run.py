import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from polyladder.experiments.compare import compare
from polyladder.experiments.declare import only
from polyladder.experiments.networks import run_networks
from polyladder.experiments.plan import selection_groups
from polyladder.experiments.render import markdown
from polyladder.experiments.run import cost_left, run
from polyladder.experiments.store import Store
from tests.experiments.small import TEXT, small

PROGRAM = """
import sys
from pathlib import Path
from polyladder.experiments.run import run
from polyladder.experiments.store import Store
from tests.experiments.small import small
run(small(), Store(Path(sys.argv[1])), watch=lambda group, cost: print("group", flush=True))
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
    assert cost_left(small(), Store(undisturbed)) == pytest.approx(0.0)


def test_killed_in_the_middle_it_goes_on_to_the_same_table(undisturbed, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    for _ in range(5):
        assert process.stdout.readline() == "group\n"
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    path = tmp_path / "small.jsonl"
    # As if it had been killed while writing the last line.
    path.write_bytes(path.read_bytes()[:-40])
    unfinished = len(Store(tmp_path).rows("small"))
    assert 0 < unfinished < len(Store(undisturbed).rows("small"))
    run(small(), Store(tmp_path))
    assert table(tmp_path) == table(undisturbed)
    values = [
        {k: r.get("value", r.get("folds")) for k, r in Store(f).rows("small").items()} for f in (tmp_path, undisturbed)
    ]
    assert values[0] == values[1]


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
    for task, results in zip(group, together, strict=True):
        alone = run_networks([task])[0]
        assert [r.value for r in results] == pytest.approx([r.value for r in alone], rel=1e-4)
    assert np.ptp([results[0].value for results in together]) > 0
