"""Sums of polynomials of one direction each: a fast way to evaluate ladders whose units do not mix.

If every layer after the first is diagonal and a unit reads x along one direction u only, the unit is a polynomial of t
= u . x. Kernels over directions and linear models are such ladders. They cost one matrix product and a few passes over
t, which stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rungs import diagonal_of
from polyladder.polynomial.trim import trim

CACHE_NUMBERS = 2**16
"""Numbers of t at a time: half a MiB in float64."""

ROUNDING = 8 * torch.finfo(torch.float64).eps
"""Relative error, compared with its largest entry, up to which a weight counts as a multiple of a direction."""


@dataclass(frozen=True, eq=False)
class UnitSum:
    """Outputs ``offset + readout @ p(t)``, where p_i is a polynomial of t_i = x[columns] . directions_i.

    Attributes:
        columns: positions of the inputs that are read, (q,); a slice if they are consecutive.
        directions: shape (q, units).
        powers: coefficients of each unit's polynomial, the highest power first. Shape (degree + 1, units).
        readout: shape (units, m).
        offset: shape (m,).
    """

    columns: slice | Tensor
    directions: Tensor
    powers: Tensor
    readout: Tensor
    offset: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Outputs at rows x (n, d). Shape (n, m)."""
        read = x[:, self.columns]
        out = x.new_empty(len(x), len(self.offset))
        inputs, units = self.directions.shape
        # A product starts by copying the directions: with many inputs that pays only for many rows.
        size = max(1, CACHE_NUMBERS // units, inputs)
        for start in range(0, len(x), size):
            rows = slice(start, start + size)
            t = read[rows] @ self.directions
            value = torch.addcmul(self.powers[1], self.powers[0], t) if len(self.powers) > 1 else self.powers[0] + 0 * t
            for power in self.powers[2:]:
                value.mul_(t).add_(power)
            torch.addmm(self.offset, value, self.readout, out=out[rows])
        return out

    def slopes(self, x: Tensor) -> Tensor:
        """Derivatives of the outputs by the inputs at rows x (n, d). Shape (n, m, d)."""
        found = x.new_zeros(len(x), len(self.offset), x.shape[1])
        t = x[:, self.columns] @ self.directions
        slope = torch.zeros_like(t)
        for power, coefficient in zip(range(len(self.powers) - 1, 0, -1), self.powers, strict=False):
            slope.mul_(t).add_(power * coefficient)
        found[..., self.columns] = (slope.unsqueeze(1) * self.readout.mT) @ self.directions.mT
        return found

    def map(self, function: Callable[[Tensor], Tensor]) -> UnitSum:
        """The same with a function applied to every weight."""
        weights = (self.directions, self.powers, self.readout, self.offset)
        return UnitSum(self.columns, *(function(weight) for weight in weights))


def unit_sum(polynomial: LadderPolynomial) -> UnitSum | None:
    """The ladder as a sum of units, or None where some unit reads another or a second direction.

    Args:
        polynomial: without a batch, with at least one layer.
    """
    ladder = trim(polynomial)
    if any(diagonal_of(W) is None for W in ladder.W[1:]) or not ladder.W:
        return None
    steepest = torch.stack([weight.abs().amax(1) for weight in (*ladder.V, ladder.W[0])])
    which = steepest.argmax(0)
    directions = torch.stack([*ladder.V, ladder.W[0]])[which, torch.arange(len(which))]
    first = multiples(ladder.W[0], directions)
    gates = [multiples(V, directions) for V in ladder.V]
    if first is None or any(gate is None for gate in gates):
        return None
    # The polynomial of each unit, lowest power first, is carried up the layers.
    powers = torch.stack([ladder.b[0], first])
    for l, (gate, c) in enumerate(zip(gates, ladder.c, strict=True)):
        assert gate is not None
        if l:
            powers = powers * ladder.W[l].diagonal()
            powers[0] += ladder.b[l]
        longer = powers.new_zeros(len(powers) + 1, powers.shape[1])
        longer[:-1] += powers * c
        longer[1:] += powers * gate
        powers = longer
    degrees = powers.ne(0).any(1).nonzero()
    powers = powers[: int(degrees.max()) + 1] if len(degrees) else powers[:1]
    columns = directions.ne(0).any(0).nonzero().squeeze(-1)
    start, stop = (int(columns[0]), int(columns[-1]) + 1) if len(columns) else (0, 0)
    return UnitSum(
        slice(start, stop) if stop - start == len(columns) else columns,
        directions[:, columns].mT.contiguous(),
        powers.flip(0).contiguous(),
        ladder.readout.mT.contiguous(),
        ladder.offset,
    )


def multiples(weight: Tensor, directions: Tensor) -> Tensor | None:
    """Each row of a weight (k, d) as a multiple of its direction (k, d), if all are. Shape (k,)."""
    squares = directions.square().sum(1)
    factor = (weight * directions).sum(1) / torch.where(squares > 0, squares, 1.0)
    far = (weight - factor.unsqueeze(1) * directions).abs().amax(1)
    return factor if bool((far <= ROUNDING * weight.abs().amax(1)).all()) else None


@dataclass(frozen=True, eq=False)
class MeanOfParts:
    """The mean of ladders, each evaluated in the way that suits it.

    Attributes:
        parts: sums of units, or ladders.
    """

    parts: tuple[UnitSum | LadderPolynomial, ...]

    def __call__(self, x: Tensor) -> Tensor:
        """The mean output at rows x (n, d). Shape (n, m)."""
        total = self.parts[0](x)
        for part in self.parts[1:]:
            total = total + part(x)
        return total / len(self.parts)


def parts_of(members: LadderPolynomial) -> tuple[UnitSum | LadderPolynomial, ...]:
    """The members of a batch (B,) of ladders with at least one layer, each as a sum of units where it is one."""
    return tuple(unit_sum(each) or trim(each) for each in members)


def mean_of(members: LadderPolynomial) -> MeanOfParts:
    """The mean of a batch (B,) of ladders with at least one layer."""
    return MeanOfParts(parts_of(members))
