"""Slow, obvious moments of a ladder with random weights."""

from collections.abc import Callable
from typing import Any

import torch

from polyladder import LadderPolynomial


def enumerated_moments(
    mean: LadderPolynomial, variance: LadderPolynomial, x: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and covariance over all two-point weights mean +- sd: as many ladders as there are sign patterns.

    A single ladder and few random weights: each doubles the number of patterns. Its outputs are polynomials of degree
    one in every weight, so they have the moments of any other weights with the same means and variances.
    """
    random = [(name, i) for name, t in variance.tensors().items() for i in (t.flatten() > 0).nonzero()[:, 0].tolist()]
    patterns = 1 - 2 * (torch.arange(2 ** len(random)).unsqueeze(-1) >> torch.arange(len(random)) & 1).to(mean.dtype)
    outcomes = {name: t.expand(len(patterns), *t.shape).clone() for name, t in mean.tensors().items()}
    for (name, i), signs in zip(random, patterns.mT, strict=True):
        outcomes[name].flatten(1)[:, i] += signs * variance.tensors()[name].flatten()[i].sqrt()
    layers = range(len(mean.W))
    ladders = LadderPolynomial(
        **{kind: tuple(outcomes[f"{kind}.{l}"] for l in layers) for kind in "WbVc"},
        readout=outcomes["readout"],
        offset=outcomes["offset"],
    )
    y = ladders(x)
    centered = y - y.mean(0)
    return y.mean(0), torch.einsum("sni,snj->nij", centered, centered) / len(patterns)


def raw_moments(
    mean: LadderPolynomial, variance: LadderPolynomial, row: torch.Tensor, number: Callable[[float], Any] = float
) -> tuple[list[Any], list[list[Any]]]:
    """Mean and covariance at one row by eq. (15) as printed: raw second moments of absorbed weights, sum by sum.

    ``number`` makes a weight into a number: mpmath's ``mpf`` carries as many digits as one asks for, ``float`` shows
    what rounding does to a small variance.
    """
    one, zero = number(1.0), number(0.0)

    def numbers(t: torch.Tensor) -> Any:
        return number(float(t)) if t.dim() == 0 else [numbers(s) for s in t]

    def absorbed(weight: torch.Tensor, intercept: torch.Tensor) -> list[list[Any]]:
        return [[*w, b] for w, b in zip(numbers(weight), numbers(intercept), strict=True)]

    def second(i: int, j: int, a: int, b: int, mean: list[list[Any]], variance: list[list[Any]]) -> Any:
        """E[M_ia M_jb] for independent entries."""
        return mean[i][a] * mean[j][b] + (variance[i][a] if (i, a) == (j, b) else zero)

    def quadratic(mean: list[list[Any]], variance: list[list[Any]], S: list[list[Any]]) -> list[list[Any]]:
        """tr(E[M_i' M_j] S) for all i, j."""
        inner, outer = range(len(S)), range(len(mean))
        return [
            [sum((second(i, j, a, b, mean, variance) * S[a][b] for a in inner for b in inner), zero) for j in outer]
            for i in outer
        ]

    x = [*numbers(row), one]
    X = [[a * b for b in x] for a in x]
    h, S = x, X
    for (W, b, V, c), (vW, vb, vV, vc) in zip(mean.layers(), variance.layers(), strict=True):
        layer, gate = absorbed(W, b), absorbed(V, c)
        layer_S, gate_S = quadratic(layer, absorbed(vW, vb), S), quadratic(gate, absorbed(vV, vc), X)
        h = [product(u, h) * product(g, x) for u, g in zip(layer, gate, strict=True)]
        S = [[u * g for u, g in zip(us, gs, strict=True)] for us, gs in zip(layer_S, gate_S, strict=True)]
        # The constant 1 rides along: E[h 1] = E[h].
        S = [[*s, mu] for s, mu in zip(S, h, strict=True)] + [[*h, one]]
        h = [*h, one]
    top = absorbed(mean.readout, mean.offset)
    y = [product(r, h) for r in top]
    Y = quadratic(top, absorbed(variance.readout, variance.offset), S)
    return y, [[Y[i][j] - y[i] * y[j] for j in range(len(y))] for i in range(len(y))]


def product(a: list[Any], b: list[Any]) -> Any:
    """The inner product of two lists."""
    return sum(s * t for s, t in zip(a, b, strict=True))
