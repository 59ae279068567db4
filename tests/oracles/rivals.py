"""The ladder's rivals by their definitions: machines and kernels in exact rational arithmetic, networks by PyTorch."""

from fractions import Fraction
from itertools import combinations
from math import prod

import torch
from torch import Tensor, nn


def factorization_machine(w0: float, w: Tensor, factors_by_degree: list[Tensor], x: list[float]) -> tuple[float, float]:
    """One row: a sum over every tuple of distinct inputs and every factor.

    ``factors_by_degree`` holds those of degree 2, then 3, each (rank, d). Returned are the value and the sum of the
    absolute terms, the scale against which rounding is to be judged.
    """
    inputs = [Fraction(v) for v in x]
    terms = [Fraction(w0)] + [Fraction(a) * b for a, b in zip(w.tolist(), inputs, strict=True)]
    for degree, factors in enumerate(factors_by_degree, start=2):
        for s in factors.tolist():
            for chosen in combinations(range(len(inputs)), degree):
                terms.append(prod((Fraction(s[i]) * inputs[i] for i in chosen), start=Fraction(1)))
    return float(sum(terms)), float(sum(map(abs, terms)))


def polynomial_kernel(
    weights: list[float], intercepts: list[float], directions: Tensor, degree: int, x: list[float]
) -> float:
    """One row: the weighted sum of powers."""
    total = Fraction(0)
    for weight, intercept, direction in zip(weights, intercepts, directions.tolist(), strict=True):
        inner = sum((Fraction(p) * Fraction(v) for p, v in zip(direction, x, strict=True)), Fraction(intercept))
        total += Fraction(weight) * inner**degree
    return float(total)


class PlainNetwork(nn.Module):
    """A feed-forward network from PyTorch's own layers, holding copies of a single `Feedforward`'s state."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.square = net.activation == "quadratic"
        self.layers = nn.ModuleList()
        for l, W in enumerate(net.W):
            layer = nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
            layer.weight.data, layer.bias.data = W.data.clone(), net.b[l].data.clone()
            self.layers.append(layer)
        self.norms = nn.ModuleList()
        for norm in net.norms:
            own = nn.BatchNorm1d(len(norm.gamma), dtype=norm.gamma.dtype)
            own.weight.data, own.bias.data = norm.gamma.data.clone(), norm.beta.data.clone()
            own.running_mean, own.running_var = norm.mean.clone(), norm.variance.clone()
            self.norms.append(own)
        self.readout = nn.Linear(net.readout.shape[1], net.readout.shape[0], dtype=net.readout.dtype)
        self.readout.weight.data, self.readout.bias.data = net.readout.data.clone(), net.offset.data.clone()

    def forward(self, x: Tensor) -> Tensor:
        h = x
        for l, layer in enumerate(self.layers):
            u = layer(h)
            h = u * u if self.square else torch.relu(u)
            if self.norms:
                h = self.norms[l](h)
        return self.readout(h)
