"""Laws of exact steps for factorization machines and polynomial kernels: no step raises the regularized loss, and a
model of a batch is fitted as if it were alone."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.rivals import fit as fit_module
from polyladder.training.rivals.fit import fit_kernel, fit_machine
from tests.ladders import rows
from tests.laws.test_alternating import draw_targets, row_losses

LOSSES = ["squared", "logistic", "softmax", "huber"]
sizes = {
    "d": st.integers(1, 4),
    "rank": st.integers(1, 3),
    "outputs": st.integers(1, 2),
    "n": st.integers(2, 40),
    "exponent": st.floats(-6, 1),
    "seed": st.integers(0, 2**31),
}
batch_shapes = st.sampled_from([(), (3,)])


def outputs_of(loss: str, outputs: int) -> int:
    return {"logistic": 1, "softmax": outputs + 1}.get(loss, outputs)


def machine_penalty(net: FactorizationMachine, alpha: torch.Tensor) -> torch.Tensor:
    """alpha times the squares of all weights but the offset. Shape batch_shape."""
    parts = [(net.linear, 2), (net.factors, 3)] + ([] if net.factors3 is None else [(net.factors3, 3)])
    return alpha * sum(t.square().sum([-i for i in range(1, k + 1)]) for t, k in parts)


def kernel_penalty(net: PolynomialKernel, alpha: torch.Tensor) -> torch.Tensor:
    """alpha times the least that |pi|^2 + c^2 + |p|^2 can be over the scales of each unit. Shape batch_shape."""
    weights = net.weights.square().sum(-2)
    units = net.intercept.square().unsqueeze(-1) + net.directions.square().sum(-1)
    # A convex function of the logarithm of the scale: its lowest point by bisection of the derivative.
    low, high = torch.full_like(units, -60.0), torch.full_like(units, 60.0)
    for _ in range(100):
        t = (low + high) / 2
        rising = units * (2 * t).exp() > net.degree * weights * (-2 * net.degree * t).exp()
        low, high = torch.where(rising, low, t), torch.where(rising, t, high)
    return alpha * (units * (2 * low).exp() + weights * (-2 * net.degree * low).exp()).sum(-1)


def check_never_rises(
    net: Any, penalty: Any, fit: Any, loss: str, n: int, exponent: float, weighted: bool, seed: int
) -> None:
    shape, m = net.batch_shape, net.out_features
    x, y = rows(n, net.in_features, seed=seed), draw_targets(loss, n, m, seed + 1)
    weight = rows(n, 1, seed=seed + 2).abs()[:, 0] if weighted else None
    counts = torch.ones(n, dtype=torch.float64) if weight is None else weight
    # Another ridge weight for each model.
    alpha = 10.0**exponent * torch.arange(1.0, shape.numel() + 1, dtype=torch.float64).reshape(shape)

    def objective() -> torch.Tensor:
        """From the module's own outputs and weights. Shape batch_shape."""
        with torch.no_grad():
            errors = row_losses(loss, net(x).reshape(-1, n, m), y).reshape(*shape, n)
            return (counts * errors).sum(-1) / counts.sum(-1) + penalty(net, alpha)

    before = start = objective()
    for _ in range(3):
        record = fit(net, x, y, loss=loss, alpha=alpha, sample_weight=weight, steps=2, tolerance=0.0)
        after = objective()
        slack = 1e-9 * (1 + before.abs())
        # A model that has nothing more to gain stops, and NaN follows.
        last = record.training_loss.gather(-1, record.steps.unsqueeze(-1) - 1)[..., 0]
        torch.testing.assert_close(last, after, rtol=1e-7, atol=1e-9)
        assert (record.training_loss[..., 0] <= before + slack).all()
        assert not (record.training_loss.diff() > slack.unsqueeze(-1)).any()
        assert (after <= before + slack).all()
        before = after
    assert (before < start).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=20)
@given(**sizes, order=st.sampled_from([2, 3]), batch_shape=batch_shapes, joint=st.booleans(), weighted=st.booleans())
def test_machines_never_get_worse(
    loss: str,
    d: int,
    rank: int,
    outputs: int,
    n: int,
    exponent: float,
    seed: int,
    order: int,
    batch_shape: tuple[int, ...],
    joint: bool,
    weighted: bool,
) -> None:
    net = FactorizationMachine(d, rank, outputs_of(loss, outputs), order, batch_shape, seed, torch.float64)

    def fit(*arguments: Any, **options: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fit_module, "JOINT_LIMIT", 10**6 if joint else 0)
            return fit_machine(*arguments, **options)

    check_never_rises(net, machine_penalty, fit, loss, n, exponent, weighted, seed)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=20)
@given(**sizes, degree=st.integers(1, 4), batch_shape=batch_shapes, shift=st.sampled_from([1.0, 0.3, 0.0]))
def test_kernels_never_get_worse(
    loss: str,
    d: int,
    rank: int,
    outputs: int,
    n: int,
    exponent: float,
    seed: int,
    degree: int,
    batch_shape: tuple[int, ...],
    shift: float,
) -> None:
    m = outputs_of(loss, outputs)
    net = PolynomialKernel(d, rank, m, degree, shift, batch_shape=batch_shape, seed=seed, dtype=torch.float64)
    check_never_rises(net, kernel_penalty, fit_kernel, loss, n, exponent, False, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["machine", "machine by columns", "kernel"])
@settings(max_examples=12)  # four fits each
@given(
    d=st.integers(1, 3),
    rank=st.integers(1, 2),
    order=st.sampled_from([2, 3]),
    estimated=st.booleans(),
    chosen=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_a_model_of_a_batch_is_fitted_as_if_alone(
    kind: str, d: int, rank: int, order: int, estimated: bool, chosen: bool, seed: int
) -> None:
    n, count = 30, 3
    x, y = rows(n, d, seed=seed), rows(n, 1, seed=seed + 1)
    # Rows of their own for each model, some of them twice.
    numbers = torch.randint(0, n, (count, n), generator=torch.Generator().manual_seed(seed)) if chosen else None
    alpha = torch.tensor([1e-3, 1e-2, 1e-1], dtype=torch.float64)
    seeds = [seed, seed + 5, seed + 9]

    def make(shape: tuple[int, ...], seeds: Any) -> Any:
        if kind == "kernel":
            return PolynomialKernel(d, rank, 1, order, batch_shape=shape, seed=seeds, dtype=torch.float64)
        return FactorizationMachine(d, rank, 1, order, shape, seeds, torch.float64)

    def fit(net: Any, alpha: Any, numbers: Any) -> Any:
        # Few steps: rounding, which a batch does differently, has no time to grow.
        options = {"alpha": "auto" if estimated else alpha, "rows": numbers, "steps": 6, "tolerance": 1e-2}
        if kind == "kernel":
            return fit_kernel(net, x, y, **options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fit_module, "JOINT_LIMIT", 10**6 if kind == "machine" else 0)
            return fit_machine(net, x, y, **options)

    batch = make((count,), seeds)
    together = fit(batch, alpha, numbers)
    for i in range(count):
        net = make((), seeds[i])
        alone = fit(net, alpha[i], None if numbers is None else numbers[i])
        steps = int(alone.steps)
        assert alone.training_loss.shape == (steps,)
        assert int(together.steps[i]) == steps
        torch.testing.assert_close(together.training_loss[i, :steps], alone.training_loss, rtol=1e-6, atol=1e-9)
        assert together.training_loss[i, steps:].isnan().all()
        torch.testing.assert_close(batch[i](x), net(x), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(together.alpha[:, i], alone.alpha, rtol=1e-4, atol=1e-9)
        torch.testing.assert_close(together.noise[i], alone.noise, rtol=1e-4, atol=1e-9)
