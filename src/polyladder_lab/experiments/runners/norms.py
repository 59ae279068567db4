"""How large the weight matrices of trained ladders are: their norms, as trained and with batch norm merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from polyladder import LPNN, merge
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Result
from polyladder_lab.experiments.runners.networks import trained_ladders


def run_norms(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement a trained ladder's error and its norms; the ladders of a group train as one program."""
    found = []
    for net, _, result in trained_ladders(group):
        # A ladder that blew up has no finite weights to measure.
        more = {} if result.value is None else {"norms": norms(net)}
        found.append([Result(result.value, {**result.more, **more})])
    return found


@torch.no_grad()
def norms(net: LPNN) -> dict[str, list[float]]:
    """Spectral norms: of every merged W, of every V, of every W as it was trained, and of the merged readout."""
    ladder = merge(net.double())
    return {
        "W": spectral(ladder.W),
        "V": spectral(ladder.V),
        "trained_W": spectral(net.W),
        "readout": spectral([ladder.readout]),
    }


def spectral(weights: Iterable[Tensor]) -> list[float]:
    """The largest singular value of each matrix, in four digits."""
    return [float(f"{float(torch.linalg.matrix_norm(weight, 2)):.4g}") for weight in weights]
