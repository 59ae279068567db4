import numpy as np
import pytest
import torch

from polyladder.convert.encrypted.normalized import NormalModel, normalized
from polyladder.convert.source.fixed import held
from polyladder.fitted.model import fitted_model, ladder_model
from tests.export.estimators import case, error
from tests.ladders import random_ladder


def normal_outputs(model: NormalModel, z: np.ndarray) -> np.ndarray:
    """What the encrypted computation approximates, in the clear. Shapes (n, d) to (n, m)."""
    x = z / model.scale
    total = np.zeros((len(z), len(model.sizes)))
    for ladder in model.ladders:
        h = x
        for inner, gate in ladder.rungs:
            h = (h @ inner.matrix.T + inner.vector) * (x @ gate.matrix.T + gate.vector)
        for j, (last, gate) in enumerate(ladder.last):
            g = x @ gate.matrix.T + gate.vector
            total[:, j] += g[:, 0] if last is None else ((h @ last.matrix.T + last.vector) * g).sum(1)
    return total * model.sizes + model.offset


@pytest.mark.parametrize("hidden", [(), (3,), (4, 5), (3, 3, 3)])
def test_nothing_inside_exceeds_one_and_the_function_is_the_same(hidden):
    p = random_ladder(d=3, hidden=hidden, m=2)
    model = normalized(held(ladder_model(p), [(-2.0, 1.0)] * 3))
    x = np.random.default_rng(0).uniform(-2, 1, (300, 3))
    assert error(normal_outputs(model, x), p(torch.tensor(x)).numpy()) < 1e-12
    z = x / model.scale
    for ladder in model.ladders:
        h = z
        for inner, gate in ladder.rungs:
            u, g = h @ inner.matrix.T + inner.vector, z @ gate.matrix.T + gate.vector
            assert np.abs(u).max() <= 1 + 1e-12
            assert np.abs(g).max() <= 1 + 1e-12
            h = u * g
    assert (np.abs(normal_outputs(model, x) - model.offset) <= model.sizes * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", ["numbers", "two outputs", "three classes", "kernel"])
def test_members_are_summed(name):
    fitted, rows, _ = case(name)
    description = fitted_model(fitted)
    z = fitted.inputs(rows).numpy()
    found = normal_outputs(normalized(description), z)
    assert error(found, description.ladders(torch.tensor(z)).mean(0).numpy()) < 1e-10
