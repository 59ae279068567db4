from dataclasses import replace

import torch

from polyladder import from_polynomial_kernel
from polyladder.convert.exported.parts import consecutive, exported_parts
from polyladder.fitted.answers import Numbers, Probit
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.models.batched import stack
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import UnitSum, unit_sum
from tests.ladders import random_ladder, rows


def kernel(columns: list[int], degree: int = 3, inputs: int = 5, units: int = 5) -> LadderPolynomial:
    """A polynomial kernel that reads some of the inputs."""
    directions = torch.zeros(units, inputs, dtype=torch.float64)
    directions[:, columns] = rows(units, len(columns))
    return from_polynomial_kernel(rows(1, units)[0], 0.5, directions, degree)


def mixed_model(ladder: bool = True) -> FittedModel:
    """A constant and two kernels, of which one skips an input; the last input is read by none; and a ladder."""
    constant = replace(kernel([0]).map(torch.zeros_like), offset=torch.ones(1, dtype=torch.float64))
    mixed = [kernel([0, 2]), *([random_ladder(5, (5, 5), 1)] if ladder else []), kernel([1, 2, 3]), constant]
    columns = tuple(Column(f"x{i}", "number") for i in range(5))
    return FittedModel(columns, tuple(Feature(i, ()) for i in range(5)), stack(mixed), Numbers(None))


def test_members_are_sums_of_units_where_they_can_be() -> None:
    parts = exported_parts(mixed_model())
    assert [type(part) for part in parts] == [UnitSum, LadderPolynomial, UnitSum, UnitSum]
    x = rows(7, 5)
    found = sum(part(x) for part in parts) / 4
    torch.testing.assert_close(found, mixed_model().ladders(x).mean(0))


def test_draws_stay_ladders() -> None:
    model = mixed_model()
    probit = Probit((0, 1))
    drawn = FittedModel(model.columns, model.steps, model.ladders, probit)
    assert all(isinstance(part, LadderPolynomial) for part in exported_parts(drawn))


def test_directions_over_consecutive_inputs() -> None:
    x = rows(6, 5)
    for columns, first, width in (([0, 2], 0, 3), ([1, 2, 3], 1, 3), ([3], 3, 1)):
        part = unit_sum(kernel(columns))
        assert part is not None
        start, directions = consecutive(part)
        assert (start, len(directions)) == (first, width)
        t = x[:, start : start + width] @ directions
        torch.testing.assert_close(t, x[:, part.columns] @ part.directions)
    constant = unit_sum(kernel([0]).map(torch.zeros_like))
    assert constant is not None
    start, directions = consecutive(constant)
    assert (start, directions.shape) == (0, (1, 1))
    assert not directions.any()
