"""Weights as the page carries them; `test_js_model.py` reads them in Node, short forms included."""

import base64

import numpy as np
import torch

from polyladder.report.weights import ladders_json, packed
from tests.ladders import random_ladder


def test_numbers_are_packed_without_loss() -> None:
    numbers = [0.1, -1e300, float("inf"), 5e-324]
    assert np.frombuffer(base64.b64decode(packed(numbers)), dtype="<f8").tolist() == numbers


def test_weights_follow_each_other_draw_after_draw() -> None:
    ladder = random_ladder(3, (2, 2), 2, batch_shape=(4,), seed=0)
    found = ladders_json(ladder)
    layers = [t.flatten(1) for layer in ladder.layers() for t in layer]
    expected = torch.cat([*layers, ladder.readout.flatten(1), ladder.offset], 1)
    assert np.frombuffer(base64.b64decode(found["weights"])).tolist() == expected.flatten().tolist()
    assert (found["draws"], found["inputs"], found["hidden"], found["outputs"]) == (4, 3, [2, 2], 2)
    assert (found["diagonal"], found["repeated"]) == ([False, False], [False, False])
