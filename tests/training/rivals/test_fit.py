from typing import Any

import pytest
import torch

from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.rivals import fit as fit_module
from polyladder.training.rivals.fit import fit_kernel, fit_machine
from polyladder.training.rivals.kernel_units import KernelStructure, kernel_weights
from tests.ladders import rows
from tests.training.rivals.families import kernel, machine


def solve_jointly(monkeypatch: pytest.MonkeyPatch, joint: bool) -> None:
    """Gauss-Newton steps over all weights, or one input after another, whatever the size."""
    monkeypatch.setattr(fit_module, "JOINT_LIMIT", 10**6 if joint else 0)


def settled(fit: Any, net: Any, x: torch.Tensor, y: torch.Tensor, **options: Any) -> Any:
    return fit(net, x, y, alpha=1e-2, steps=300, tolerance=0.0, **options)


@pytest.mark.slow
@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("order", [2, 3])
def test_a_settled_machine_is_stationary(order: int, joint: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    solve_jointly(monkeypatch, joint)
    net = machine(order)
    x, y = rows(40, 3), rows(40, 1, seed=2)
    settled(fit_machine, net, x, y)
    loss = (net(x) - y).square().mean()
    penalty = sum(t.square().sum() for name, t in net.named_parameters() if name != "offset")
    slopes = torch.autograd.grad(loss + 1e-2 * penalty, list(net.parameters()))
    assert max(t.abs().max().item() for t in slopes) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_settled_kernel_network_is_stationary(degree: int) -> None:
    net = kernel(degree)
    x, y = rows(40, 3), rows(40, 1, seed=2)
    settled(fit_kernel, net, x, y)
    structure = KernelStructure(net, x.mT)
    theta = structure.balanced(kernel_weights(net)).requires_grad_()
    objective = (structure.outputs(theta)[0, 0].mT - y).square().mean() + 1e-2 * theta.square().sum()
    (slope,) = torch.autograd.grad(objective, theta)
    assert slope.abs().max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("joint", [True, False])
def test_a_known_machine_is_found_again(order: int, joint: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    solve_jointly(monkeypatch, joint)
    truth = machine(order)
    x, new = rows(200, 3), rows(50, 3, seed=9)
    net = FactorizationMachine(3, 3, 1, order, (3,), 0, torch.float64)
    fit_machine(net, x, truth(x).detach(), steps=200, tolerance=1e-7)
    error = (net(new) - truth(new)).square().mean((-1, -2)).min()
    # One input after another is a slow way along a valley.
    assert error < (1e-4 if joint else 1e-2) * truth(new).var()


@pytest.mark.slow
@pytest.mark.parametrize("degree", [2, 3])
def test_a_known_kernel_network_is_found_again(degree: int) -> None:
    truth = kernel(degree)
    x, new = rows(200, 3), rows(50, 3, seed=9)
    net = PolynomialKernel(3, 4, 1, degree, batch_shape=(3,), seed=0, dtype=torch.float64)
    fit_kernel(net, x, truth(x).detach(), steps=200, tolerance=1e-7)
    error = (net(new) - truth(new)).square().mean((-1, -2)).min()
    assert error < 1e-4 * truth(new).var()


@pytest.mark.parametrize("kind", ["machine", "kernel"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 1)])
def test_the_record_has_the_shape_of_the_batch(kind: str, shape: tuple[int, ...]) -> None:
    net = machine(2, 2, shape) if kind == "machine" else kernel(2, 2, shape)
    x, y = rows(30, 3), rows(30, 2, seed=2)
    seen = []

    def progress(step: int, objective: torch.Tensor) -> None:
        seen.append((step, objective.shape))

    fit = (fit_machine if kind == "machine" else fit_kernel)(net, x, y, steps=3, progress=progress)
    assert fit.training_loss.shape == (*shape, 3)
    assert fit.validation_loss is None
    assert fit.alpha.shape == (2, *shape)
    assert fit.noise.shape == fit.steps.shape == fit.stopped.shape == shape
    assert seen == [(step, torch.Size(shape)) for step in (1, 2, 3)]
    assert fit.seconds > 0


@pytest.mark.parametrize("kind", ["machine", "kernel"])
def test_the_noise_is_estimated(kind: str) -> None:
    x = rows(2000, 3)
    y = x[:, :1] * x[:, 1:2] + 0.3 * rows(2000, 1, seed=5)
    net = machine(2) if kind == "machine" else PolynomialKernel(3, 4, 1, 2, seed=1, dtype=torch.float64)
    fit = (fit_machine if kind == "machine" else fit_kernel)(net, x, y)
    assert fit.noise.item() == pytest.approx(0.09, rel=0.08)


@pytest.mark.parametrize("joint", [True, False])
def test_a_row_of_weight_two_is_two_rows(joint: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    solve_jointly(monkeypatch, joint)
    x, y = rows(20, 3), rows(20, 1, seed=2)
    weight = torch.tensor([1.0, 2.0, 0.0, 1.0]).repeat(5).double()
    nets = machine(2), machine(2), machine(2)
    fit_machine(nets[0], x, y, alpha=0.1, sample_weight=weight, steps=5)
    repeated = torch.arange(20).repeat_interleave(weight.long())
    fit_machine(nets[1], x[repeated], y[repeated], alpha=0.1, steps=5)
    fit_machine(nets[2], x, y, alpha=0.1, rows=repeated, steps=5)
    torch.testing.assert_close(nets[0](x), nets[1](x), rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(nets[0](x), nets[2](x))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["machine", "kernel"])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_classes_of_a_product_are_learned(kind: str, loss: str) -> None:
    x = rows(200, 3)
    positive = x[:, 0] * x[:, 1] > 0
    m = 1 if loss == "logistic" else 2
    net: Any = FactorizationMachine(3, 2, m, seed=0, dtype=torch.float64)
    if kind == "kernel":
        net = PolynomialKernel(3, 4, m, 2, seed=0, dtype=torch.float64)
    (fit_machine if kind == "machine" else fit_kernel)(net, x, positive.long(), loss=loss, alpha=1e-4)
    scores = net(x)
    said = scores[:, 0] > 0 if loss == "logistic" else scores[:, 1] > scores[:, 0]
    assert (said == positive).double().mean() > 0.95


def test_single_precision_stays_what_it_is() -> None:
    net = FactorizationMachine(3, 2, 1, seed=0)
    fit = fit_machine(net, rows(30, 3).float(), rows(30, 1, seed=2).float(), alpha=1e-2, steps=3)
    assert net.factors.dtype == torch.float32
    assert fit.training_loss.dtype == torch.float64


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": torch.zeros(5, 2)}, r"x must have shape \(n, 3\), n > 0; got shape \(5, 2\)"),
        ({"x": torch.zeros(0, 3)}, r"got shape \(0, 3\)"),
        ({"x": [[0.0, 1.0, 2.0]]}, "x must be a torch.Tensor; got list"),
        ({"x": torch.full((5, 3), torch.nan)}, "x must be finite"),
        ({"x": torch.zeros(5, 3).to_sparse()}, "x must be dense for exact solves"),
        ({"y": torch.zeros(4)}, r"y must have shape \(5, 1\) or \(5,\); got shape \(4,\)"),
        ({"alpha": "most"}, "alpha must be a non-negative number, one per model, or 'auto'; got 'most'"),
        ({"alpha": -1.0}, r"alpha must be in \[0, inf\); got -1"),
        ({"steps": 0}, "steps must be a positive integer; got 0"),
        ({"sample_weight": torch.zeros(5)}, "sample_weight must be positive for some row of every model"),
        ({"loss": "absolute"}, "loss must be one of 'squared', 'logistic', 'softmax', 'huber'; got 'absolute'"),
    ],
)
@pytest.mark.parametrize("kind", ["machine", "kernel"])
def test_refusals(kind: str, change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"x": rows(5, 3), "y": rows(5, 1)[:, 0], **change}
    fit, net = (fit_machine, machine()) if kind == "machine" else (fit_kernel, kernel())
    with pytest.raises((TypeError, ValueError), match=message):
        fit(net, **options)


def test_kernels_with_and_without_lambda_are_not_mixed() -> None:
    net = PolynomialKernel(3, 2, 1, 2, torch.tensor([0.0, 1.0]), batch_shape=(2,), seed=0, dtype=torch.float64)
    with pytest.raises(ValueError, match="lambda = 0 in all of its models or in none; got both"):
        fit_kernel(net, rows(5, 3), rows(5, 1))
