"""The ladders of a model as exports write them: a member that is a sum of units of one direction is written as that.

Such a unit is one dot product and a polynomial of it, in place of a row in every matrix of every rung.
"""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.fitted.model import FittedModel
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.trim import trim
from polyladder.polynomial.units import UnitSum, parts_of


def exported_parts(model: FittedModel) -> tuple[UnitSum | LadderPolynomial, ...]:
    """The members one by one, as sums of units where they are that, without units that nothing reads."""
    if model.ladders.W and not model.answer.by_member:
        return parts_of(model.ladders)
    return tuple(trim(each) for each in model.ladders)


def consecutive(units: UnitSum) -> tuple[int, Tensor]:
    """The first input that is read, and the directions over it and those that follow. Shape (at least 1, units)."""
    columns = units.columns
    at = torch.arange(columns.start, columns.stop) if isinstance(columns, slice) else columns
    start, stop = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 1)
    directions = units.directions.new_zeros(stop - start, units.directions.shape[1])
    directions[at - start] = units.directions
    return start, directions
