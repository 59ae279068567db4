"""Ctrl-C ends a fit at once, whatever it is doing; a truncated model never passes for a fitted one."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import warnings
import numpy as np
import polars  # once it is there, Ctrl-C does not wake a thread that waits for others
import torch
from polyladder import BayesianLPNNRegressor, FactorizationMachineRegressor, LPNNClassifier, LPNNRegressor

warnings.simplefilter("ignore")
torch.set_num_threads(2)
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 12))
y = X[:, 0] * X[:, 1] + rng.normal(size=len(X))
for model in (
    LPNNRegressor(solver="alternating", width=20, n_estimators=6, tol=0.0, max_iter=10_000),
    LPNNRegressor(solver="adam", max_iter=10_000),
    LPNNClassifier(max_iter=10_000),
    FactorizationMachineRegressor(solver="alternating", n_estimators=4, tol=0.0, max_iter=10_000),
    BayesianLPNNRegressor(width=20, draws=10_000),
    BayesianLPNNRegressor(width=20, inference="variational"),
):
    print("fitting", flush=True)
    try:
        model.fit(X, y > 0 if isinstance(model, LPNNClassifier) else y)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print(f"interrupted, {torch.get_num_threads()} threads", flush=True)
"""


def test_a_fit_ends_soon_after_ctrl_c() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for model in ("block solves", "Adam", "trained classes", "machine", "Gibbs", "variational"):
            assert process.stdout.readline() == "fitting\n", model
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            assert process.stdout.readline().startswith("interrupted, 2 threads"), model
            # Two seconds on a machine that is free; the limit leaves room for one that is not.
            assert time.perf_counter() - began < 10, model
    assert process.returncode == 0
