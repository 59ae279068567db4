"""Programs on the workers of joblib's engines: a real cluster of processes, one of which is killed."""

from __future__ import annotations

import os
import signal

import joblib
import numpy as np
import pytest
import torch
from sklearn.datasets import make_friedman1

from polyladder import BatchedGridSearchCV, LPNNRegressor
from polyladder.estimators.selection import elsewhere
from polyladder.training.spread import on_one_thread, workers_elsewhere
from polyladder_lab.experiments.engine.run import run
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.engine.workers import engine_of
from tests.lab.experiments.small import small


def values(store):
    return {key: row.get("value", row.get("folds")) for key, row in store.rows("small").items()}


def test_no_engine_is_no_worker():
    assert workers_elsewhere() == 0
    with joblib.parallel_config("threading", n_jobs=2):
        assert workers_elsewhere() == 0
    with joblib.parallel_config("loky", n_jobs=2):
        assert workers_elsewhere() == 2


def test_a_task_has_one_thread_and_leaves_the_others():
    before = torch.get_num_threads()
    assert on_one_thread(torch.get_num_threads) == 1
    assert torch.get_num_threads() == before


def executed(dask_worker):
    return dask_worker.state.executed_count


@pytest.mark.slow
def test_a_killed_worker_of_a_dask_cluster_changes_nothing(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    d = small()
    here = Store(tmp_path / "here")
    run(d, here)
    X, y = make_friedman1(200, random_state=0)
    model = LPNNRegressor(order=3, n_estimators=1, max_iter=5, random_state=0)
    search = BatchedGridSearchCV(model, {"alpha": [1e-4, 1e-2], "width": [3, 4]}, cv=2)
    alone = search.fit(X, y).cv_results_["mean_test_score"]
    monkeypatch.setattr(elsewhere, "SPREAD_ROWS", 400)
    many = make_friedman1(400, n_features=5, noise=1.0, random_state=0)
    chosen = LPNNRegressor(width=4, max_iter=3, random_state=0).fit(*many)
    assert any(candidate.model == "ladder" for candidate in chosen.selection_.candidates)
    with engine_of("dask", jobs=2) as jobs:
        client = distributed.get_client()
        assert set(client.run(os.getenv, "MALLOC_MMAP_THRESHOLD_").values()) == {str(2**25)}
        victims = list(client.run(os.getpid).values())[:1]
        there, groups = Store(tmp_path / "there"), []

        def kill_one(group, cost):
            groups.append(group)
            if victims:
                os.kill(victims.pop(), signal.SIGKILL)

        run(d, there, jobs=jobs, watch=kill_one)
        assert not victims
        assert len(groups) > 3
        spread = search.fit(X, y).cv_results_["mean_test_score"]
        before = sum(client.run(executed).values())
        choice = LPNNRegressor(width=4, max_iter=3, random_state=0).fit(*many)
        # Kernels of six degrees for each of two kinds of features and of three with ramps, and two shares of ladders.
        assert sum(client.run(executed).values()) >= before + 17
    assert values(there) == values(here)
    np.testing.assert_allclose(spread, alone, rtol=1e-10)
    # Gram matrices of shares of the ladders are summed in single precision, in parts of other sizes.
    np.testing.assert_allclose(choice.predict(many[0]), chosen.predict(many[0]), rtol=2e-4)
    for here, there in zip(chosen.selection_.candidates, choice.selection_.candidates, strict=True):
        assert (here.model, here.features, here.order) == (there.model, there.features, there.order)
        assert here.weight == pytest.approx(there.weight, abs=1e-4)
