"""The definitions of the relatives of a ladder, summed term by term for one row, one output and one model."""

import math
from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor, nn


def machine_by_definition(w0: float, w: Tensor, factors: Sequence[Tensor], x: Tensor) -> float:
    """A factorization machine: ``factors`` holds a matrix (rank, d) for order 2, 3, ...; w and x have shape (d,)."""
    d = len(x)
    total = w0 + sum(float(w[i] * x[i]) for i in range(d))
    for order, s in enumerate(factors, start=2):
        for chosen in combinations(range(d), order):
            for f in range(len(s)):
                total += math.prod(float(s[f, i] * x[i]) for i in chosen)
    return total


def kernels_by_definition(weights: Tensor, shift: float, directions: Tensor, degree: int, x: Tensor) -> float:
    """A network of polynomial kernels: weights (K,), directions (K, d), x (d,)."""
    total = 0.0
    for pi, p in zip(weights, directions, strict=True):
        base = shift + sum(float(p[i] * x[i]) for i in range(len(x)))
        total += float(pi) * math.prod([base] * degree)
    return total


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
