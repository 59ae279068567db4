import numpy as np
import torch

from polyladder.estimators.selection.candidates.ladders import LadderTrial
from tests.estimators.selection.candidates.few_rows import X, Y, outputs
from tests.ladders import random_ladder


def test_the_mean_of_the_ladders_is_added() -> None:
    ladders = random_ladder(2, (3,), 1, batch_shape=(4,), seed=1)
    trial = LadderTrial("standard", 2, np.zeros_like(Y), np.array([2, 0]), ladders, 0.25)
    expected = ladders(torch.from_numpy(X[:, [2, 0]])).mean(0).numpy()
    np.testing.assert_allclose(outputs(trial, 0.3), 0.3 * expected, atol=1e-12)
    assert trial.excess == 0.25
