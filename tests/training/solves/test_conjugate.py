import pytest
import torch

from polyladder.training.solves import blocks as blocks_module
from polyladder.training.solves import conjugate
from polyladder.training.solves.blocks import normal_equations
from polyladder.training.solves.conjugate import PROBES, MatrixFreeRidge


def problem(shared: bool, outputs: int, B: int = 2, k: int = 4, q: int = 5, n: int = 300) -> tuple[torch.Tensor, ...]:
    g = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    h = random(q, n) if shared else random(B, q, n)
    return random(B, outputs, k, n), h, random(B, outputs, n), random(1 if shared else B, n).abs()


def dense(g: torch.Tensor, h: torch.Tensor, r: torch.Tensor, w: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """The same block from its Gram matrix."""
    equations = normal_equations(g, h, r, w, w.sum(-1))
    matrix = equations.gram + torch.diag_embed(alpha[:, None].expand(-1, equations.gram.shape[-1]))
    return torch.linalg.solve(matrix, equations.moment).reshape(len(g), g.shape[2], h.shape[-2])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("chunk", [1, 2**22])
@pytest.mark.parametrize("most", [4, 600])
def test_equals_the_direct_solve(
    shared: bool, outputs: int, chunk: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks_module, "CHUNK_NUMBERS", chunk)
    monkeypatch.setattr(conjugate, "EIGEN_LIMIT", most)
    g, h, r, w = problem(shared, outputs)
    alpha = torch.tensor([1e-3, 0.5], dtype=torch.float64)
    system = MatrixFreeRidge(g, h, w, w.sum(-1), alpha)
    theta = system.solve(system.moment(r), torch.ones(2, 4, 5, dtype=torch.float64))
    torch.testing.assert_close(theta, dense(g, h, r, w, alpha), rtol=1e-7, atol=1e-9)
    again = system.solve(system.moment(r), theta)
    assert torch.equal(again, theta)


def test_each_step_lowers_the_quadratic() -> None:
    g, h, r, w = problem(False, 1)
    system = MatrixFreeRidge(g, h, w, w.sum(-1), torch.zeros(2, dtype=torch.float64))
    moment, start = system.moment(r), torch.ones(2, 4, 5, dtype=torch.float64)

    def quadratic(theta: torch.Tensor) -> torch.Tensor:
        return (theta * (system.apply(theta) / 2 - moment)).sum((1, 2))

    values = torch.stack([quadratic(system.solve(moment, start, iterations=i)) for i in range(8)])
    assert (values[1:] < values[:-1]).all()
    assert torch.equal(system.solve(moment, start, iterations=0), start)


def test_the_preconditioner_is_the_inverse_when_derivatives_and_inputs_are_independent() -> None:
    g = torch.Generator().manual_seed(0)
    left = torch.randn(3, 20, generator=g, dtype=torch.float64)
    right = torch.randn(4, 30, generator=g, dtype=torch.float64)
    # Every left row with every right row: exactly independent, so that one step is enough.
    derivatives = left.repeat_interleave(30, 1).reshape(1, 1, 3, 600)
    inputs = right.repeat(1, 20)
    alpha = torch.tensor([0.1], dtype=torch.float64)
    one = torch.ones(1, 600, dtype=torch.float64)
    system = MatrixFreeRidge(derivatives, inputs, one, one.sum(-1), alpha)
    moment = torch.randn(1, 3, 4, generator=g, dtype=torch.float64)
    torch.testing.assert_close(system.apply(system.precondition(moment)), moment, rtol=1e-9, atol=1e-9)


def test_a_model_without_any_derivative_does_not_harm_its_neighbor() -> None:
    g, h, r, w = problem(False, 1)
    alpha = torch.zeros(2, dtype=torch.float64)
    alone = MatrixFreeRidge(g[1:], h[1:], w[1:], w[1:].sum(-1), alpha[1:])
    expected = alone.solve(alone.moment(r[1:]), torch.zeros(1, 4, 5, dtype=torch.float64))
    g[0] = 0.0
    both = MatrixFreeRidge(g, h, w, w.sum(-1), alpha)
    theta = both.solve(both.moment(r), torch.zeros(2, 4, 5, dtype=torch.float64))
    assert (theta[0] == 0).all()
    torch.testing.assert_close(theta[1:], expected, rtol=1e-12, atol=1e-14)


def test_derivatives_whose_squares_underflow_give_a_finite_block() -> None:
    g, h, r, w = problem(False, 1)
    g[0] *= 1e-160
    system = MatrixFreeRidge(g, h, w, w.sum(-1), torch.full((2,), 1e5, dtype=torch.float64))
    theta = system.solve(system.moment(r), torch.zeros(2, 4, 5, dtype=torch.float64))
    assert theta.isfinite().all()
    assert theta[0].abs().max() < 1e-150


@pytest.mark.parametrize("alpha", [1e-4, 1.0, 10.0])
def test_determined_weights(alpha: float) -> None:
    g, h, _, w = problem(True, 2, B=3, k=12, q=15)
    ridge = alpha * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    gram = normal_equations(g, h, g[:, :, 0], w, w.sum(-1)).gram
    values = torch.linalg.eigvalsh(gram)
    exact = (values / (values + ridge[:, None])).sum(-1)
    estimate = MatrixFreeRidge(g, h, w, w.sum(-1), ridge).determined()
    assert ((estimate - exact).abs() < 4 * (2 * exact / PROBES).sqrt()).all()
    torch.testing.assert_close(MatrixFreeRidge(g[1:2], h, w, w.sum(-1), ridge[1:2]).determined(), estimate[1:2])
