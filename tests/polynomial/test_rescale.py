import torch

from polyladder.polynomial.rescale import rescaled, shifted
from tests.ladders import random_ladder, rows
from tests.oracles.rational import rational, rational_value

F64 = torch.float64


def test_shifted_is_exact_where_the_power_itself_is_no_number() -> None:
    assert shifted(torch.tensor([2.0**-1000], dtype=F64), torch.tensor([1900.0], dtype=F64)).item() == 2.0**900


def test_the_function_stays_exactly_what_it_was() -> None:
    p = random_ladder(3, (4, 3), 2)
    scales = iter((1e-150, 1e120, 1e-90, 1e150, 1e-200, 1e60, 1e-40, 1e-80, 1e-170, 1e-30))
    p = p.map(lambda t: t * next(scales))
    found = rescaled(p, torch.tensor([1.0, 1e-3, 1e5], dtype=F64))
    for x in rows(3, 3):
        assert rational_value(found, rational(x)) == rational_value(p, rational(x))


def test_units_become_about_as_large_as_one() -> None:
    p, reach = random_ladder(3, (4, 5, 4), 1), torch.tensor([1e-3, 1.0, 1e3], dtype=F64)
    scales = iter((1e-200, 1e100, 1e-30, *[1.0] * 11))
    p = p.map(lambda t: t * next(scales))
    states = rescaled(p, reach).map(torch.abs).hidden_states(reach.unsqueeze(0))
    assert all(((h > 0.2) & (h < 2.1)).all() for h in states[1:])


def test_what_is_ordinary_is_left_alone() -> None:
    p, reach = random_ladder(3, (4, 5), 2, batch_shape=(2,)), torch.ones(2, 3, dtype=F64)
    assert rescaled(p, reach, ordinary=300.0) == p
    W = (p.W[0].clone(), p.W[1])
    W[0][1, 2] *= 1e-120
    b = (p.b[0].clone(), p.b[1])
    b[0][1, 2] = 0.0
    small = type(p)(W, b, p.V, p.c, p.readout, p.offset)
    found = rescaled(small, reach, ordinary=300.0)
    assert torch.equal(found.W[0][0], p.W[0][0])
    assert torch.equal(found.W[0][1, :2], p.W[0][1, :2])
    assert (found.W[0][1, 2].abs().amax() > 0.1) & (found.W[0][1, 2].abs().amax() < 10)


def test_inputs_that_are_zero_hide_no_others() -> None:
    p = random_ladder(2, (3,), 1)
    p.W[0][:, 0] *= 1e-150
    p.W[0][:, 1] = 1e300
    p.b[0].zero_()
    found = rescaled(p, torch.tensor([1e-100, 0.0], dtype=F64))
    assert all(t.isfinite().all() for t in found.tensors().values())
    x = torch.tensor([1e-100, 0.0], dtype=F64)
    assert rational_value(found, rational(x)) == rational_value(p, rational(x))
