import numpy as np
import pytest
import torch

from polyladder.convert.source.c import c_source
from polyladder.fitted.answers import Draws
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, ladder_model
from polyladder.fitted.plan import Feature
from tests.convert.exported.test_parts import kernel, mixed_model
from tests.convert.source.compiled import call, library
from tests.ladders import random_ladder


@pytest.mark.parametrize("guard", [None, ((-1e9,), (-1e8,)), ((-0.5,), (0.8,))])
def test_median_and_deviation_over_believed_draws(guard, tmp_path):
    """Also where no draw lies in the guard's range: then all count, held to it."""
    p = random_ladder(d=2, hidden=(3,), m=1, batch_shape=(5,))
    variance = np.linspace(0.1, 0.5, 5).reshape(5, 1)
    answer = Draws(guard, np.sqrt(variance), np.full((5, 1), np.inf), np.zeros((5, 1, 0)))
    columns = tuple(Column(n, "number") for n in "ab")
    model = FittedModel(columns, (Feature(0, ()), Feature(1, ())), p, answer)
    x = np.random.default_rng(0).normal(size=(50, 2))
    found = call(library(c_source(model), tmp_path), x, 2)
    draws = p(torch.tensor(x)).numpy()[..., 0].T
    for f, (median, deviation) in zip(draws, found, strict=True):
        kept = list(range(5))
        if guard is not None:
            low, high = guard[0][0], guard[1][0]
            kept = [s for s in kept if low <= f[s] <= high] or kept
            f = f.clip(low, high)  # noqa: PLW2901
        assert median == pytest.approx(sorted(f[kept])[(len(kept) - 1) // 2], rel=1e-12)
        assert deviation == pytest.approx(np.sqrt(f[kept].var() + variance[kept].mean()), rel=1e-10)


@pytest.mark.parametrize("ladder", [True, False])
def test_sums_of_units_are_dot_products_and_polynomials_of_them(ladder, tmp_path):
    model, x = mixed_model(ladder), np.random.default_rng(0).normal(size=(40, 5))
    loaded = library(c_source(model), tmp_path)
    assert call(loaded, x, 1) == pytest.approx(model.ladders(torch.tensor(x)).mean(0).numpy(), rel=1e-12, abs=1e-12)
    # No answer where an input is no number, also one that no unit reads.
    for column in range(5):
        x[0, column] = np.inf
        assert np.isnan(call(loaded, x[:1], 1)).all()
        x[0, column] = 0.0


def test_units_are_written_once():
    """A kernel of any degree has its directions once, where ladders have a matrix for every rung."""
    high, low = (str(c_source(ladder_model(kernel([0, 1, 2, 3, 4], degree, units=40)))) for degree in (8, 2))
    assert len(high) < 2.5 * len(low)
    assert "W0" not in high
