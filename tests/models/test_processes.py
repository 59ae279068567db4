"""Gradient steps shared by processes: the losses of one process, and resuming with another number of them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

WORK = """
import os
import sys
from pathlib import Path
import torch
from torch import distributed as dist
from polyladder.models.ladder import LPNN
from polyladder.training.gradient.train import Adam, train

torch.set_num_threads(1)
folder = Path(sys.argv[1])
g = torch.Generator().manual_seed(0)
x = torch.randn(201, 4, dtype=torch.float64, generator=g)
y = x[:, 0] * x[:, 1] + x[:, 2]
weight = torch.rand(201, dtype=torch.float64, generator=g)
found = {}

def run(name, stop=0, checkpoint=None):
    net = LPNN(4, (6, 5), 1, batch_norm=True, batch_shape=(2,), seed=0, dtype=torch.float64)

    def at(epoch, loss):
        if epoch == stop:
            raise KeyboardInterrupt

    options = Adam(epochs=6, batch_size=33, learning_rate=1e-2, l2=1e-4, clip=1.0)
    history = train(net, x, y, options=options, sample_weight=weight, progress=at, on_interrupt="return",
                    checkpoint=checkpoint)
    found[name] = (history.training_loss, net(x).detach())

first = os.environ["RANK"] == "0"
run("one")
if first:
    run("one stopped", 3, folder / "one.part")
dist.init_process_group("gloo")
run("two")
run("two stopped", 3, folder / "two.part")
dist.barrier()
run("one, then two", 0, folder / "one.part")
dist.destroy_process_group()
if first:
    run("two, then one", 0, folder / "two.part")
    torch.save(found, folder / "result.pt")
"""


@pytest.mark.slow
def test_two_processes_are_one_and_resume_as_another_number(tmp_path):
    script = tmp_path / "work.py"
    script.write_text(WORK)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, str(script), str(tmp_path)], check=False, env=environment, timeout=200, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = torch.load(tmp_path / "result.pt", weights_only=True)
    losses, outputs = found["one"]
    assert found["one stopped"][0].shape[-1] == found["two stopped"][0].shape[-1] == 3
    for name in ("two", "one, then two", "two, then one"):
        torch.testing.assert_close(found[name][0], losses, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(found[name][1], outputs, rtol=1e-6, atol=1e-8)
