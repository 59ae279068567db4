from dataclasses import replace

import pytest
import torch

from polyladder.training.rivals.gauss_newton import (
    LONGEST,
    best_length,
    determined_share,
    gauss_newton_step,
    interpolation,
    joint_equations,
)
from polyladder.training.solves import blocks as blocks_module
from tests.training.rivals.families import some_quadratic, structures


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


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_values_at_the_nodes_give_the_coefficients_back(degree: int) -> None:
    coefficients = torch.randn(degree + 1, generator=torch.Generator().manual_seed(degree), dtype=torch.float64)
    nodes, to_powers = interpolation(degree)
    assert len(set(nodes)) == degree + 1
    assert all(0 < t < LONGEST for t in nodes)
    values = torch.tensor(
        [sum(c * t**i for i, c in enumerate(coefficients.tolist())) for t in nodes], dtype=torch.float64
    )
    torch.testing.assert_close(to_powers @ values, coefficients)


def test_the_quadratic_is_its_definition() -> None:
    structure, theta = structures()[0]
    quadratic, f = some_quadratic(structure, theta), structure.outputs(theta)
    value = quadratic.value(f, theta)
    for b in range(2):
        for s in range(2):
            errors = sum(
                quadratic.weight[b, n] * (f[b, s, 0, n] - quadratic.response[b, s, 0, n]) ** 2 for n in range(7)
            )
            penalty = sum(quadratic.penalty[b, 0, i] * theta[b, s, i] ** 2 for i in range(theta.shape[-1]))
            torch.testing.assert_close(value[b, s], errors / quadratic.weight[b].sum() + penalty)


def test_rows_in_chunks_give_the_same_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    structure, theta = structures()[2]
    quadratic, f = some_quadratic(structure, theta), structure.outputs(theta)
    whole = joint_equations(structure, theta, f, quadratic)
    monkeypatch.setattr(blocks_module, "CHUNK_NUMBERS", 1)
    for part, expected in zip(joint_equations(structure, theta, f, quadratic), whole, strict=True):
        torch.testing.assert_close(part, expected)


def test_the_determined_share_of_a_diagonal_is_gram_over_gram_plus_ridge() -> None:
    diagonal, penalty = torch.tensor([4.0, 1.0, 0.0]).double(), torch.tensor([1.0, 1.0, 1.0]).double()
    share = determined_share(torch.diag(diagonal)[None, None], penalty[None, None])
    torch.testing.assert_close(share[0, 0], torch.tensor([0.8, 0.5, 0.0]).double())


@pytest.mark.parametrize("case", range(4))
def test_where_nothing_is_to_gain_the_weights_stay(case: int) -> None:
    structure, theta = structures()[case]
    f = structure.outputs(theta)
    solved = replace(some_quadratic(structure, theta, penalty=0.0), response=f)
    step = gauss_newton_step(structure, theta, f, solved, torch.full(theta.shape[:2], 0.1, dtype=torch.float64), False)
    assert torch.equal(step.theta, theta)
    assert torch.equal(step.f, f)
    assert not step.determined.any()


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
