"""Ladders with weights of very different sizes, whose products underflow or overflow although the function does not."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def rescaled(polynomial: LadderPolynomial, reach: Tensor, ordinary: float = 0.0) -> LadderPolynomial:
    """The same function, with powers of two moved from layer to layer, so that units are about as large as 1.

    Dividing W and b of a unit by one power of two, and V and c by another, divides its state by both; the weights that
    read the state are multiplied by them. Nothing is rounded, except weights that are negligible compared with others
    of their unit, and a readout that underflows to zero or overflows to infinity.

    Args:
        polynomial: any ``batch_shape``.
        reach: how large each input can be. Shape (*batch_shape, d).
        ordinary: a W h + b, or V x + c, of a size from ``2**-ordinary`` to ``2**ordinary`` keeps it.

    Example:
        >>> tiny, huge, one, zero = (torch.full((1, 1), t, dtype=torch.float64) for t in (1e-170, 1e170, 1.0, 0.0))
        >>> none = (zero[0], zero[0])
        >>> cube = LadderPolynomial((tiny, huge), none, (tiny, huge), none, one, zero[0])
        >>> cube(2 * one), rescaled(cube, 2 * one[0])(2 * one)
        (tensor([[0.]], dtype=torch.float64), tensor([[8.]], dtype=torch.float64))
    """
    # Sizes as logarithms to base 2, which neither underflow nor overflow.
    inputs = reach.detach().abs().log2()
    size, moved = inputs, torch.zeros_like(inputs)
    W, b, V, c = [], [], [], []
    for weight, intercept, gate, gate_intercept in polynomial.layers():
        inner, outer = largest(weight, intercept, size), largest(gate, gate_intercept, inputs)
        down, gate_down = (powers(each, ordinary) for each in (inner, outer))
        W.append(read(weight, size, moved.unsqueeze(-2) - down.unsqueeze(-1)))
        b.append(shifted(intercept, -down))
        V.append(read(gate, inputs, -gate_down.unsqueeze(-1)))
        c.append(shifted(gate_intercept, -gate_down))
        size, moved = inner + outer, down + gate_down
    readout = read(polynomial.readout, size, moved.unsqueeze(-2))
    return LadderPolynomial(tuple(W), tuple(b), tuple(V), tuple(c), readout, polynomial.offset)


@torch.no_grad()
def largest(weight: Tensor, intercept: Tensor, size: Tensor) -> Tensor:
    """The logarithm of how large weight @ x + intercept can be, from those of x, (*batch_shape, i). Shape (..., k)."""
    terms = torch.cat([weight.abs().log2() + size.unsqueeze(-2), intercept.abs().log2().unsqueeze(-1)], -1)
    return torch.logsumexp(terms * math.log(2), -1) / math.log(2)


def powers(size: Tensor, ordinary: float) -> Tensor:
    """The exponents of the powers of two to divide by; 0 for what is ordinary, zero or infinite."""
    return torch.where((size.abs() > ordinary) & size.isfinite(), size.round(), 0.0)


def read(weight: Tensor, size: Tensor, exponent: Tensor) -> Tensor:
    """Weights times powers of two; the powers of units that are always zero do not matter and are kept finite."""
    found = shifted(weight, exponent)
    return torch.where(found.isinf() & (size == -torch.inf).unsqueeze(-2), 0.0, found)


def shifted(t: Tensor, exponent: Tensor) -> Tensor:
    """The product of t and 2**exponent, exact unless it overflows or underflows."""
    # 2**exponent may overflow where the product does not, so a third of the exponent is applied three times.
    exponent = exponent.clamp(-3000, 3000)
    third = (exponent / 3).trunc()
    power = torch.exp2(third)
    return t * power * power * torch.exp2(exponent - 2 * third)
