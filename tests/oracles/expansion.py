"""A ladder multiplied out by sympy in exact rational arithmetic, and exact calculus on the result."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from sympy import QQ
from sympy.polys.rings import ring

from polyladder import LadderPolynomial


def expand(p: LadderPolynomial) -> list[Any]:
    """The outputs of one ladder as sympy polynomials in x1, ..., xd and a spare variable t, without rounding."""
    _, *variables = ring([f"x{i + 1}" for i in range(p.in_features)] + ["t"], QQ)
    inputs = variables[:-1]
    h = inputs
    for W, b, V, c in p.layers():
        u, gate = affine(W, b, h), affine(V, c, inputs)
        h = [a * g for a, g in zip(u, gate, strict=True)]
    zero = inputs[0].ring.zero
    return [zero + f for f in affine(p.readout, p.offset, h)]


def affine(weight: torch.Tensor, intercept: torch.Tensor, values: list[Any]) -> list[Any]:
    return [
        sum((rational(w) * v for w, v in zip(row, values, strict=True)), start=rational(constant))
        for row, constant in zip(weight.tolist(), intercept.tolist(), strict=True)
    ]


def rational(value: float) -> Any:
    return QQ(*value.as_integer_ratio())


def monomials(f: Any) -> dict[tuple[int, ...], float]:
    """The coefficients of one output by the exponents of its inputs."""
    return {tuple(map(int, exponents[:-1])): float(value) for exponents, value in f.terms()}


def value(f: Any, x: list[float]) -> Any:
    """The polynomial at one point, a rational number."""
    return f.evaluate(list(zip(f.ring.gens, [*map(rational, x), QQ(0)], strict=True)))


def integrated_gradient(f: Any, x: list[float], baseline: list[float]) -> list[float]:
    """(x_i - baseline_i) times the integral of the i-th partial derivative from baseline to x, term by term."""
    *inputs, t = f.ring.gens
    line = [rational(a) + (rational(b) - rational(a)) * t for a, b in zip(baseline, x, strict=True)]
    found = []
    for i, variable in enumerate(inputs):
        along = f.diff(variable).compose(list(zip(inputs, line, strict=True)))
        integral = sum(c / (int(exponents[-1]) + 1) for exponents, c in along.terms())
        found.append(float((rational(x[i]) - rational(baseline[i])) * integral))
    return found


def hessian(f: Any, x: list[float]) -> list[list[float]]:
    inputs = f.ring.gens[:-1]
    return [[float(value(f.diff(a).diff(b), x)) for b in inputs] for a in inputs]


def gradient(f: Any, x: list[float]) -> list[float]:
    return [float(value(f.diff(a), x)) for a in f.ring.gens[:-1]]


def singles(p: LadderPolynomial) -> Iterator[LadderPolynomial]:
    """Every polynomial of a batch, last dimension fastest."""
    if p.batch_shape:
        for member in p:
            yield from singles(member)
    else:
        yield p


def over_batch(p: LadderPolynomial, function: Callable[[LadderPolynomial], torch.Tensor]) -> torch.Tensor:
    """A function of single ladders for each of a batch: (*batch_shape, ...)."""
    results = torch.stack([function(q) for q in singles(p)])
    return results.reshape(*p.batch_shape, *results.shape[1:])
