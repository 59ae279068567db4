import pytest
import torch

from polyladder.training.rivals.machine_columns import column_positions, column_sweep
from tests.oracles import rivals as oracle
from tests.training.rivals.families import check_outputs_and_derivatives, machine, machine_structure, some_quadratic


@pytest.mark.parametrize("order", [2, 3])
def test_outputs_are_those_of_the_module_and_derivatives_those_of_autograd(order: int) -> None:
    check_outputs_and_derivatives(*machine_structure(order), machine(order, 2, (2,)))


@pytest.mark.parametrize("order", [2, 3])
def test_outputs_are_sums_over_tuples_of_inputs(order: int) -> None:
    structure, theta = machine_structure(order)
    offset, linear, *factors = (part[1, 0] for part in structure.parts(theta))
    for i in range(7):
        exact, size = oracle.factorization_machine(offset.item(), linear, factors, structure.x[:, i].tolist())
        assert structure.outputs(theta)[1, 0, 0, i].item() == pytest.approx(exact, abs=1e-12 * size)


def test_no_scale_of_a_machine_is_free() -> None:
    structure, theta = machine_structure(3)
    assert torch.equal(structure.balanced(theta), theta)


@pytest.mark.parametrize("order", [2, 3])
def test_positions_are_those_at_which_an_input_enters(order: int) -> None:
    """With all other inputs zero, only the offset and the linear weight of an input are seen; its factors are named."""
    structure, theta = machine_structure(order)
    names = torch.arange(theta.shape[-1], dtype=torch.float64)
    offset, linear, *factors = structure.parts(names)
    for j, found in enumerate(column_positions(structure).tolist()):
        expected = [offset.item(), linear[j].item(), *(v for f in factors for v in f[:, j].tolist())]
        assert found == expected


@pytest.mark.parametrize("order", [2, 3])
def test_a_sweep_solves_one_input_after_another(order: int) -> None:
    """Against autograd: after its turn, no weight of an input has a slope left; the last input is checked."""
    structure, theta = machine_structure(order)
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


def test_without_estimating_nothing_is_said_of_the_weights() -> None:
    structure, theta = machine_structure(2)
    quadratic, f = some_quadratic(structure, theta), structure.outputs(theta)
    quiet, told = (column_sweep(structure, theta, f, quadratic, estimating) for estimating in (False, True))
    assert not quiet.determined.any()
    assert told.determined.any()
    assert torch.equal(quiet.theta, told.theta)
    assert (quadratic.value(quiet.f, quiet.theta) < quadratic.value(f, theta)).all()
