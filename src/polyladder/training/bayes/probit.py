"""Classes as `polyladder.sample_gibbs` sees them: latent Gaussians of which the sign, or the largest, is observed.

Albert and Chib's augmentation: given the latent values the ladder is a regression with unit noise, given the ladder
the latent values are truncated normals.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import log_ndtr, ndtri_exp
from torch import Tensor

from polyladder.training.bayes.streams import Streams


class TwoClasses:
    """P(y = s) = Phi(s f) for signs s = +-1: the sign of f plus standard normal noise.

    A row of weight w has noise of variance 1 / w.

    Args:
        sign: Shape (1, 1, n) or (B, 1, n).
    """

    def __init__(self, sign: Tensor) -> None:
        self.sign = sign

    def renew(self, f: Tensor, rows: Tensor, streams: Streams) -> tuple[Tensor, Tensor]:
        """Draw the latent values: normal around f, truncated to the side of the sign."""
        scale = latent_scale(rows)
        margin = self.sign * f / scale
        z = f + self.sign * scale * normal_above(-margin, streams.uniform(*f.shape[1:]))
        return z, torch.ones_like(f)

    def kept(self) -> tuple[Tensor, Tensor, Tensor]:
        """Unit noise, Gaussian."""
        one = self.sign.new_ones(1, 1)
        return one, one * torch.inf, one.new_empty(1, 1, 0)

    def memory(self) -> tuple[Tensor, ...]:
        """Nothing: the latent values are drawn again from the outputs alone."""
        return ()

    def recall(self, memory: tuple[Tensor, ...]) -> None:
        """Nothing to recall."""


class SeveralClasses:
    """P(y = j) = P(f_j + e_j is the largest), with independent standard normal e.

    The latent value of a row's own class is drawn above all others, then all others below it. A row of weight w has
    noise of variance 1 / w.

    Args:
        label: class numbers. Shape (1, n) or (B, n).
        latent: where the latent values start. Shape (B, m, n).
    """

    def __init__(self, label: Tensor, latent: Tensor) -> None:
        self.label, self.latent = label, latent

    def renew(self, f: Tensor, rows: Tensor, streams: Streams) -> tuple[Tensor, Tensor]:
        """Draw the latent values, each given the others."""
        scale = latent_scale(rows)
        label = self.label.unsqueeze(1).expand(len(f), 1, f.shape[-1])
        own = torch.zeros_like(f, dtype=torch.bool).scatter(1, label, True)
        uniform = streams.uniform(*f.shape[1:])
        highest = torch.where(own, -torch.inf, self.latent).amax(1, keepdim=True)
        center = f.gather(1, label)
        top = center + scale * normal_above((highest - center) / scale, uniform.gather(1, label))
        below = f - scale * normal_above((f - top) / scale, uniform)
        self.latent = torch.where(own, top, below)
        return self.latent, torch.ones_like(f)

    def kept(self) -> tuple[Tensor, Tensor, Tensor]:
        """Unit noise, Gaussian."""
        one = self.latent.new_ones(self.latent.shape[:2])
        return one, one * torch.inf, one.new_empty(*one.shape, 0)

    def memory(self) -> tuple[Tensor, ...]:
        """The latent values."""
        return (self.latent,)

    def recall(self, memory: tuple[Tensor, ...]) -> None:
        """Start from latent values."""
        (self.latent,) = memory


def latent_scale(rows: Tensor) -> Tensor:
    """Standard deviation of the latent noise of rows with these weights; a row left out may have any. (B, 1, n)."""
    return torch.where(rows > 0, rows, 1.0).rsqrt().unsqueeze(1)


def normal_above(bound: Tensor, uniform: Tensor) -> Tensor:
    """Standard normal draws above a bound, from uniform ones, by inverting the upper tail's logarithm.

    The logarithm keeps full accuracy however far out the bound lies.
    """
    tail = log_ndtr(-bound.cpu().numpy()) + np.log(uniform.cpu().numpy())
    return torch.from_numpy(-ndtri_exp(tail)).to(bound.device)


NODES = 32
"""Points of the quadrature for several classes: the error is below 1e-8 for outputs up to 8 in size."""


def class_probabilities(f: Tensor) -> Tensor:
    """P(class) for outputs f: the sign, or the largest, of f plus independent standard normal noise.

    With several outputs, P(j) is the mean of the product of Phi(t + f_j - f_c) over c other than j, for standard
    normal t: one integral, by Gauss-Hermite quadrature.

    Args:
        f: Shape (..., m).

    Returns:
        Shape (..., m) for m > 1, summing to one; (..., 2) for m = 1.
    """
    if f.shape[-1] == 1:
        return torch.special.ndtr(torch.cat([-f, f], -1))
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    margin = f.unsqueeze(-1) - f.unsqueeze(-2)
    margin.diagonal(dim1=-2, dim2=-1).fill_(torch.inf)
    total = torch.zeros_like(f)
    for t, weight in zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True):
        total += weight * torch.special.ndtr(margin + t).prod(-1)
    return total / total.sum(-1, keepdim=True)
