"""Engines that groups run on (dask, with a worker that is killed: tests/training/test_spread.py)."""

import pytest
from joblib.parallel import get_active_backend

from polyladder_lab.experiments.engine.run import run
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.engine.workers import engine_of
from tests.lab.experiments.small import small


def test_a_scheduler_needs_an_engine():
    with pytest.raises(ValueError, match="must come with an engine"), engine_of(None, "tcp://127.0.0.1:1"):
        pass


def test_loky_and_no_engine_run_as_many_groups_as_asked_for():
    with engine_of(None, jobs=3) as jobs:
        assert jobs == 3
    with engine_of("loky", jobs=3) as jobs:
        assert jobs == 3
        assert get_active_backend()[1] == 3


@pytest.mark.slow
def test_ray_gives_the_same_table(tmp_path):
    pytest.importorskip("ray", reason="ray is not installed: sweeps on ray are NOT tested here")
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run(small(), here)
    with engine_of("ray", jobs=2) as jobs:
        run(small(), there, jobs=jobs)
    found = [{key: row.get("value", row.get("folds")) for key, row in s.rows("small").items()} for s in (here, there)]
    assert found[0] == found[1]
