"""A fit of rows in parts is the fit of all rows, up to the order of summation, however they are parted."""

from __future__ import annotations

import pytest
import torch

from polyladder.tables.partitions import LocalPartitions
from polyladder.training.losses.huber import Huber
from polyladder.training.partitions.fit import fit_partitions, passes
from polyladder.training.solves.alternating import fit_alternating, random_start


def data(n, loss, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, dtype=torch.float64, generator=g)
    f = torch.sin(x[:, 0]) * x[:, 1] + x[:, 2]
    if loss == "squared" or isinstance(loss, Huber):
        return x, f + 0.3 * torch.randn(n, dtype=torch.float64, generator=g), 1
    return (x, (f > 0).long(), 1) if loss == "logistic" else (x, (2 * f).round().clamp(-1, 1).long() + 1, 3)


class Counted(list):
    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 111, 300])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax", Huber((0.3,))])
@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_same_fit_as_in_memory(size, loss, alpha):
    x, y, m = data(300, loss)
    start = random_start(6, (4, 5), m, [0, 1], 2)
    whole = fit_alternating(start, x, y, loss=loss, alpha=alpha, sweeps=7, tolerance=0.0)
    batches = Counted(zip(x.split(size), y.split(size), strict=True))
    parts = fit_partitions(start, LocalPartitions(batches), loss=loss, alpha=alpha, sweeps=7, tolerance=0.0)
    torch.testing.assert_close(parts.polynomial(x), whole.polynomial(x), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(parts.alpha, whole.alpha, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(parts.training_loss, whole.training_loss, rtol=1e-8, atol=0.0)
    assert batches.passes == passes(2, 7)


def test_weights_are_repetitions():
    x, y, _ = data(300, "squared")
    times = torch.arange(300) % 3
    start = random_start(6, (4,), 1, [0], 1)
    weighted = fit_partitions(
        start, LocalPartitions([(x[:100], y[:100], times[:100]), (x[100:], y[100:], times[100:])])
    )
    repeated = fit_partitions(start, LocalPartitions([(x.repeat_interleave(times, 0), y.repeat_interleave(times))]))
    torch.testing.assert_close(weighted.polynomial(x), repeated.polynomial(x), rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_single_precision_never_raises_the_loss_and_reaches_the_same_error():
    x, y, _ = data(5000, "squared")
    start = random_start(6, (5, 5), 1, [0], 1)
    rows = LocalPartitions(list(zip(x.split(1300), y.split(1300), strict=True)))
    single = fit_partitions(start, rows, alpha=1e-4, sweeps=15, tolerance=0.0)
    double = fit_partitions(start, rows, alpha=1e-4, sweeps=15, tolerance=0.0, precision=torch.float64)
    assert (single.training_loss.diff() <= 1e-9).all()
    torch.testing.assert_close(single.training_loss[:, -1], double.training_loss[:, -1], rtol=1e-4, atol=0.0)


def test_sums_of_the_sweep_before_save_a_pass_and_change_nothing():
    x, y, _ = data(400, "squared")
    batches = Counted(zip(x.split(130), y.split(130), strict=True))
    rows, start = LocalPartitions(batches), random_start(6, (4, 4), 1, [0, 1], 2)
    first = fit_partitions(start, rows, alpha=1e-3, sweeps=1)
    again = fit_partitions(first.polynomial, rows, alpha=1e-3, sweeps=1)
    batches.passes = 0
    saved = fit_partitions(first.polynomial, rows, alpha=1e-3, sweeps=1, ahead=first.ahead)
    assert batches.passes == passes(2, 1) - 1
    torch.testing.assert_close(saved.polynomial(x), again.polynomial(x), rtol=1e-12, atol=1e-12)
    assert fit_partitions(start, rows, alpha=1e-3, sweeps=2).ahead is None


def test_refusals():
    x, y, _ = data(50, "squared")
    start = random_start(6, (4,), 1, [0], 1)
    with pytest.raises(TypeError, match="again in every pass"):
        LocalPartitions(iter([(x, y)]))
    with pytest.raises(ValueError, match="batches must hold rows"):
        fit_partitions(start, LocalPartitions([]))
    with pytest.raises(TypeError, match="tuple"):
        fit_partitions(start, LocalPartitions([x]))
    with pytest.raises(ValueError, match="finite"):
        fit_partitions(start, LocalPartitions([(x * torch.nan, y)]))
    with pytest.raises(ValueError, match="shape"):
        fit_partitions(start, LocalPartitions([(x[:, :5], y)]))
    with pytest.raises(ValueError, match=r"precision must be torch\.float32"):
        fit_partitions(start, LocalPartitions([(x, y)]), precision=torch.float16)
    with pytest.raises(ValueError, match="at most 4000 weights"):
        fit_partitions(random_start(6, (700,), 1, [0], 1), LocalPartitions([(x, y)]))
    with pytest.raises(ValueError, match=r"loss must be settled for rows in parts, as Huber\(.*\) is not"):
        fit_partitions(start, LocalPartitions([(x, y)]), loss="huber")


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_same_predictions_as_in_memory_in_double_precision_of_many_rows(loss):
    x, y, m = data(5000, loss)
    start = random_start(6, (5, 5), m, [0], 1)
    options = {"loss": loss, "sweeps": 8, "tolerance": 0.0, "precision": torch.float64}
    whole = fit_alternating(start, x, y, **options)
    parts = fit_partitions(start, LocalPartitions(list(zip(x.split(1300), y.split(1300), strict=True))), **options)
    torch.testing.assert_close(parts.polynomial(x), whole.polynomial(x), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(parts.alpha, whole.alpha, rtol=1e-6, atol=0.0)


def test_same_error_as_in_memory_in_single_precision():
    x, y, _ = data(5000, "squared")
    start = fit_alternating(random_start(6, (5, 5), 1, [0], 1), x, y, sweeps=8)
    options = {"sweeps": 2, "tolerance": 0.0, "known_alpha": start.alpha}
    whole = fit_alternating(start.polynomial, x, y, **options)
    batches = list(zip(x.split(1300), y.split(1300), strict=True))
    parts = fit_partitions(start.polynomial, LocalPartitions(batches), **options)
    errors = [float((fit.polynomial(x)[0, :, 0] - y).square().mean().sqrt()) for fit in (whole, parts)]
    assert errors[0] == pytest.approx(errors[1], abs=1e-6)
