"""Draws of rows in parts are the draws of all rows, up to the order of summation, however they are parted."""

from __future__ import annotations

import pytest
import torch

from polyladder.tables.partitions import LocalPartitions
from polyladder.training.bayes.gibbs import sample_gibbs
from polyladder.training.partitions.gibbs import sample_partitions
from polyladder.training.solves.alternating import random_start
from tests.training.bayes.test_gibbs import assert_same


def data(n, m, kind, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 4, dtype=torch.float64, generator=g)
    f = (torch.sin(x[:, 0]) * x[:, 1] + x[:, 2]).unsqueeze(1) * torch.arange(1, m + 1)
    noisy = f + 0.3 * torch.randn(n, m, dtype=torch.float64, generator=g)
    return x, noisy if kind == "gaussian" else (noisy[:, 0] > 0).long()


def parted(size, *tensors):
    return LocalPartitions(list(zip(*(t.split(size) for t in tensors), strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "m", "hidden", "relevance"),
    [
        ("gaussian", 1, (3, 4), False),
        ("gaussian", 2, (3,), True),
        ("gaussian", 1, (), False),
        ("probit", 1, (3, 3), False),
    ],
)
@pytest.mark.parametrize("size", [70, 1300])
def test_same_draws_as_in_memory(kind, m, hidden, relevance, size):
    x, y = data(1300, m, kind)
    start = random_start(4, hidden, m, [0, 1], 2)
    options = {"likelihood": kind, "relevance": relevance, "warmup": 3, "draws": 5, "seed": 3}
    whole = sample_gibbs(start, x, y, **options)
    parts = sample_partitions(start, parted(size, x, y), **options)
    assert_same(parts, whole, 1e-6)
    torch.testing.assert_close(parts.degrees, whole.degrees)
    assert parts.slopes.shape == whole.slopes.shape


def test_weights_count_as_in_memory():
    x, y = data(300, 1, "gaussian")
    weight = (torch.arange(300) % 3).double()
    start = random_start(4, (3,), 1, [0], 1)
    options = {"warmup": 2, "draws": 4, "seed": 1}
    whole = sample_gibbs(start, x, y, sample_weight=weight, **options)
    assert_same(sample_partitions(start, parted(80, x, y, weight), **options), whole, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "probit"])
def test_draws_go_on_in_parts_or_in_memory_as_if_never_stopped(kind):
    x, y = data(200, 1, kind)
    start, rows = random_start(4, (3,), 1, [0, 1], 2), parted(60, x, y)
    whole = sample_partitions(start, rows, likelihood=kind, warmup=0, draws=6, seed=2)
    first = sample_partitions(start, rows, likelihood=kind, warmup=0, draws=3, seed=2)
    for rest in (
        sample_partitions(first.state, rows, likelihood=kind, warmup=0, draws=3),
        sample_gibbs(first.state, x, y, likelihood=kind, warmup=0, draws=3),
    ):
        torch.testing.assert_close(rest.weights(x), whole.weights[3:](x), rtol=1e-6, atol=1e-6)


def test_refusals():
    x, y = data(50, 2, "gaussian")
    start, rows = random_start(4, (3,), 2, [0], 1), parted(20, x, y)
    with pytest.raises(ValueError, match="'probit' for two classes"):
        sample_partitions(start, rows, likelihood="probit")
    with pytest.raises(ValueError, match="got 'student'"):
        sample_partitions(start, rows, likelihood="student")
    with pytest.raises(ValueError, match="warmup must be"):
        sample_partitions(start, rows, warmup=-1)
    with pytest.raises(ValueError, match="finite"):
        sample_partitions(start, parted(20, x * torch.nan, y))
    with pytest.raises(ValueError, match="at most 4000 weights"):
        sample_partitions(random_start(4, (900,), 2, [0], 1), rows)
