from typing import Any

import pytest
import torch

from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.rivals import fit as fit_module
from polyladder.training.rivals.fit import fit_kernel, fit_machine
from polyladder.training.rivals.gauss_newton import LONGEST, Quadratic, best_length, gauss_newton_step, lowest_point
from polyladder.training.rivals.kernel_units import KernelStructure, kernel_weights, set_kernel_weights
from polyladder.training.rivals.machine_columns import MachineStructure, column_positions, column_sweep
from tests.ladders import rows
from tests.models import contract


def machine(order: int = 3, m: int = 1, shape: tuple[int, ...] = ()) -> FactorizationMachine:
    return contract.scrambled(lambda **options: FactorizationMachine(3, 2, m, order, **options), batch_shape=shape)


def kernel(degree: int = 3, m: int = 1, shape: tuple[int, ...] = (), shift: float = 1.0) -> PolynomialKernel:
    return PolynomialKernel(3, 2, m, degree, shift, batch_shape=shape, seed=4, dtype=torch.float64)


def structures() -> list[Any]:
    """A family of each kind at 7 rows, with weight vectors of two models."""
    x = rows(7, 3).mT
    found = []
    for order in (2, 3):
        net = machine(order, 2, (2,))
        parts = [t for t in (net.offset, net.linear, net.factors, net.factors3) if t is not None]
        found.append((MachineStructure(net, x), torch.cat([t.detach().reshape(2, 2, -1) for t in parts], -1)))
    for shift in (1.0, 0.0):
        net = kernel(3, 2, (2,), shift)
        found.append((KernelStructure(net, x), kernel_weights(net)))
    return found


def some_quadratic(structure: Any, theta: torch.Tensor, penalty: float = 0.1) -> Quadratic:
    f = structure.outputs(theta)
    response = torch.randn(f.shape, generator=torch.Generator().manual_seed(3), dtype=f.dtype)
    weight = rows(f.shape[-1], len(theta), seed=8).abs().T
    ridge = torch.where(structure.groups >= 0, penalty, 0.0).double().expand(len(theta), 1, -1)
    return Quadratic(response, weight, weight.sum(-1), ridge)


# The families as weight vectors


@pytest.mark.parametrize("case", range(4))
def test_outputs_are_those_of_the_module_and_derivatives_those_of_autograd(case: int) -> None:
    structure, theta = structures()[case]
    net = [machine(2, 2, (2,)), machine(3, 2, (2,)), kernel(3, 2, (2,)), kernel(3, 2, (2,), 0.0)][case]
    f = structure.outputs(theta)
    torch.testing.assert_close(f.flatten(1, 2).mT, net(structure.x[:3].mT).detach())
    found = structure.derivatives(theta, slice(2, 6))
    B, s, o, _ = f.shape
    for b in range(B):
        for part in range(s):

            def outputs(vector: torch.Tensor, b: int = b, part: int = part) -> torch.Tensor:
                moved = theta.clone()
                moved[b, part] = vector
                return structure.outputs(moved)[b, part]

            expected = torch.autograd.functional.jacobian(outputs, theta[b, part])
            torch.testing.assert_close(found[b, part], expected[:, 2:6].mT)
    assert found.shape == (B, s, o, theta.shape[-1], 4)


@pytest.mark.parametrize("case", range(4))
def test_balancing_changes_no_output_and_lowers_the_norm(case: int) -> None:
    structure, theta = structures()[case]
    scaled = theta.clone()
    if case >= 2:
        # One unit ten times as large, its weights smaller: the same network.
        scaled[..., :2] /= 1000.0
        scaled[..., structure.sizes[0] :] *= 10.0
    balanced = structure.balanced(scaled)
    torch.testing.assert_close(structure.outputs(balanced), structure.outputs(scaled))
    torch.testing.assert_close(balanced, structure.balanced(theta) if case < 2 else structure.balanced(balanced))
    assert (balanced.square().sum(-1) <= scaled.square().sum(-1) * (1 + 1e-12)).all()
    if case >= 2:
        for factor in (0.99, 1.01):
            weights, units = (t.clone() for t in structure.parts(balanced))
            weights[..., 0] /= factor**3
            units[..., 0, :] *= factor
            other = torch.cat([weights.flatten(-2), units.flatten(-2)], -1)
            assert (other.square().sum(-1) > balanced.square().sum(-1)).all()


@pytest.mark.parametrize("shift", [1.0, 0.3, 0.0])
def test_kernel_weights_go_to_units_and_back(shift: float) -> None:
    net = kernel(4, 2, (2,), shift)
    x = rows(6, 3)
    before = net(x).detach()
    structure = KernelStructure(net, x.mT)
    theta = structure.balanced(kernel_weights(net))
    with torch.no_grad():
        net.weights.zero_()
        net.directions.zero_()
    set_kernel_weights(net, structure, theta)
    torch.testing.assert_close(net(x).detach(), before)
    assert (net.intercept == shift).all()


def test_a_unit_without_intercept_is_written_with_a_tiny_one() -> None:
    net = kernel(2)
    x = rows(6, 3)
    structure = KernelStructure(net, x.mT)
    theta = kernel_weights(net)
    theta[..., structure.sizes[0] + 3 :: 4] = 0.0
    expected = structure.outputs(theta).squeeze(0).squeeze(0).mT
    set_kernel_weights(net, structure, theta)
    torch.testing.assert_close(net(x).detach(), expected, rtol=1e-6, atol=1e-6)


# Steps


@pytest.mark.parametrize("case", range(4))
def test_the_step_length_is_the_lowest_on_a_fine_grid(case: int) -> None:
    structure, theta = structures()[case]
    quadratic = some_quadratic(structure, theta)
    gradient = torch.autograd.functional.jacobian(
        lambda t: quadratic.value(structure.outputs(t), t).sum(), theta.clone()
    )
    for direction in (-gradient, -0.01 * gradient):
        length = best_length(structure, theta, direction, quadratic)
        at = theta + length.unsqueeze(-1) * direction
        found = quadratic.value(structure.outputs(at), at)
        grid = []
        for t in torch.linspace(0, LONGEST, 401).tolist():
            moved = theta + t * direction
            grid.append(quadratic.value(structure.outputs(moved), moved))
        least = torch.stack(grid).min(0).values
        assert ((length >= 0) & (length <= LONGEST)).all()
        assert (found <= least * (1 + 1e-9)).all()
        assert (found < grid[0]).all()


def test_the_lowest_of_several_valleys_is_taken() -> None:
    # (t - 0.5)^2 (t - 1.5)^2 - 0.05 t + 1: the second valley is lower.
    two_valleys = torch.tensor([0.5625 + 1, -3.0 - 0.05, 5.5, -4.0, 1.0], dtype=torch.float64)
    t = torch.linspace(0, 2, 20001, dtype=torch.float64)
    grid = sum(c * t**i for i, c in enumerate(two_valleys))
    assert lowest_point(two_valleys).item() == pytest.approx(t[grid.argmin()].item(), abs=1e-4)
    falling = torch.tensor([1.0, -1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    assert lowest_point(falling).item() == LONGEST


@pytest.mark.parametrize("case", range(4))
def test_an_undamped_step_of_length_one_is_the_linearized_minimizer(case: int) -> None:
    """The direction, against numpy's least squares on the stacked rows."""
    structure, theta = structures()[case]
    quadratic = some_quadratic(structure, theta)
    f = structure.outputs(theta)
    step = gauss_newton_step(structure, theta, f, quadratic, theta.new_zeros(theta.shape[:2]), True)
    slopes = structure.derivatives(theta, slice(0, f.shape[-1]))
    for b in range(theta.shape[0]):
        for s in range(theta.shape[1]):
            root = (quadratic.weight[b] / quadratic.total[b]).sqrt()
            J = (slopes[b, s] * root).transpose(-1, -2).reshape(-1, theta.shape[-1])
            missing = ((quadratic.response - f)[b, s] * root).reshape(-1)
            ridge = quadratic.penalty[b, 0].sqrt()
            stacked = torch.cat([J, torch.diag(ridge)])
            wanted = torch.cat([missing, -ridge * theta[b, s]])
            direction = torch.linalg.lstsq(stacked, wanted.unsqueeze(-1), driver="gelsd").solution[:, 0]
            moved = step.theta[b, s] - theta[b, s]
            length = (moved @ direction) / (direction @ direction)
            assert 0 < length <= LONGEST * (1 + 1e-9)
            torch.testing.assert_close(moved, length * direction, rtol=1e-5, atol=1e-7)
            # How many weights the rows determine: the trace of the hat matrix.
            if (ridge > 0).all():
                G = J.T @ J
                trace = torch.linalg.solve(G + torch.diag(ridge.square()), G).trace()
                torch.testing.assert_close(step.determined[b, s].sum(), trace)
    torch.testing.assert_close(step.f, structure.outputs(step.theta))


@pytest.mark.parametrize("order", [2, 3])
def test_a_sweep_solves_one_input_after_another(order: int) -> None:
    """Against autograd: after its turn, no weight of an input has a slope left; the last input is checked."""
    structure, theta = structures()[order - 2]
    quadratic = some_quadratic(structure, theta)
    step = column_sweep(structure, theta, structure.outputs(theta), quadratic, True)
    torch.testing.assert_close(step.f, structure.outputs(step.theta))
    slope = torch.autograd.functional.jacobian(
        lambda t: quadratic.value(structure.outputs(t), t).sum(), step.theta.clone()
    )
    last = column_positions(structure)[-1]
    assert len(last) == 2 + 2 * (order - 1)
    assert slope[..., last].abs().max() < 1e-10
    assert slope.abs().max() > 1e-4
    assert ((step.determined >= 0) & (step.determined <= 1 + 1e-12)).all()
    positions = column_positions(structure)
    assert sorted(positions[:, 1:].flatten().tolist()) == list(range(1, theta.shape[-1]))


# Whole fits


def solve_jointly(monkeypatch: pytest.MonkeyPatch, joint: bool) -> None:
    """Gauss-Newton steps over all weights, or one input after another, whatever the size."""
    monkeypatch.setattr(fit_module, "JOINT_LIMIT", 10**6 if joint else 0)


def settled(fit: Any, net: Any, x: torch.Tensor, y: torch.Tensor, **options: Any) -> Any:
    return fit(net, x, y, alpha=1e-2, steps=300, tolerance=0.0, **options)


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
        ({"loss": "absolute"}, "loss must be one of 'squared', 'logistic', 'softmax'; got 'absolute'"),
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
