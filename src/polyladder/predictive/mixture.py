"""The distribution of a new observation when the posterior is a set of draws: a mixture of Student-t's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.standard_student import log_density, probability_below

ROUNDS = 60
"""Steps of the search for a quantile, at most; ten are usual."""


@dataclass(frozen=True)
class StudentMixture:
    """One Student-t per draw, for every row and output.

    Attributes:
        center: the function's values. Shape (draws, n, m).
        scale: of the noise, the same at all rows or not. Shape (draws, 1, m) or (draws, n, m).
        degrees: of freedom; infinity is Gaussian. Shape (draws, 1, m).
        share: the probability of each draw at each row, summing to one over the draws. Shape (draws, n).
    """

    center: Tensor
    scale: Tensor
    degrees: Tensor
    share: Tensor

    @classmethod
    def equal(cls, center: Tensor, scale: Tensor, degrees: Tensor) -> StudentMixture:
        """All draws equally likely."""
        return cls(center, scale, degrees, center.new_full(center.shape[:2], 1 / len(center)))

    def within(self, low: Tensor, high: Tensor) -> StudentMixture:
        """Given that the function's values lie between low and high (m,): draws that do not are left out, row by row.

        A polynomial may explode where there are no training rows, and most draws with it; the other draws are the
        better guess. If none is left, all are kept, clipped to the range.
        """
        inside = ((self.center >= low) & (self.center <= high)).all(-1)
        left = (self.share * inside).sum(0)
        share = torch.where(left > 0, self.share * inside / left.clamp_min(1e-300), self.share)
        return StudentMixture(self.center.clamp(low, high), self.scale, self.degrees, share)

    def log_density(self, y: Tensor) -> Tensor:
        """Log density of the m outputs of every row together, given y (n, m): a draw's outputs share its ladder.

        Shape (n,).
        """
        return torch.logsumexp(self.log_densities(y).sum(-1) + self.share.log(), 0)

    def log_densities(self, y: Tensor) -> Tensor:
        """Log density of every draw at y (n, m). Shape (draws, n, m)."""
        return log_density((y - self.center) / self.scale, self.degrees) - self.scale.log()

    def distribution(self, y: Tensor) -> Tensor:
        """Probability that an output is at most y (n, m), each output by itself. Shape (n, m)."""
        return self.mean(probability_below((y - self.center) / self.scale, self.degrees))

    def mean(self, values: Tensor) -> Tensor:
        """Mean over the draws of values (draws, n or 1, m). Shape (n, m)."""
        return (self.share.unsqueeze(-1) * values).sum(0)

    def median(self) -> Tensor:
        """Median over the draws of the function's value. Shape (n, m)."""
        # Draws last: sorting, gathering and adding up then run along memory.
        values, order = self.center.movedim(0, -1).contiguous().sort(-1)
        share = self.share.T.unsqueeze(1).expand_as(values).gather(-1, order)
        # The first draw at which half is reached; rounding must not push it on by one.
        position = (share.cumsum(-1) < 0.5 - 1e-9).sum(-1, keepdim=True)
        return values.gather(-1, position)[..., 0]

    def quantile(self, level: float) -> Tensor:
        """Where `distribution` reaches a level in (0, 1), to a relative error of 1e-9. Shape (n, m).

        Newton's method on a function that rises everywhere, held inside a shrinking bracket.
        """
        step = self.scale.amax(0)
        low, high = self.center.amin(0) - step, self.center.amax(0) + step
        # Heavy tails may reach beyond the first bracket, which is then widened.
        while bool((outside := self.distribution(low) > level).any()):
            step = 2 * step
            low = torch.where(outside, low - step, low)
        while bool((outside := self.distribution(high) < level).any()):
            step = 2 * step
            high = torch.where(outside, high + step, high)
        y = (low + high) / 2
        for _ in range(ROUNDS):
            miss = self.distribution(y) - level
            low, high = torch.where(miss < 0, y, low), torch.where(miss > 0, y, high)
            density = self.mean(self.log_densities(y).exp())
            moved = y - miss / density
            inside = (moved > low) & (moved < high)
            moved = torch.where(inside, moved, (low + high) / 2)
            settled = (moved - y).abs() <= 1e-9 * self.scale.amin(0)
            y = moved
            if bool(settled.all()):
                break
        return y

    def noise_variance(self) -> Tensor:
        """Mean variance of the noise over the draws. Shape (n, m)."""
        nu = torch.where(self.degrees.isfinite(), self.degrees, 3.0)
        factor = torch.where(self.degrees.isfinite(), nu / (nu - 2).clamp_min(0.0), 1.0)
        return self.mean(self.scale.square() * factor)

    def weights_covariance(self) -> Tensor:
        """Covariance over the draws of the function's m values at each row. Shape (n, m, m)."""
        deviation = self.center - self.mean(self.center)
        return torch.einsum("sn,sni,snj->nij", self.share, deviation, deviation)

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """New observations, each from a draw of its own. Shape (n, rows, m)."""
        rows, m = self.center.shape[1:]
        which = torch.multinomial(self.share.T, n, replacement=True, generator=generator).T
        row = torch.arange(rows)
        scale, degrees = self.scale.expand_as(self.center)[which, row], self.degrees[which, 0]
        rng = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
        normal = torch.from_numpy(rng.standard_normal((n, rows, m)))
        nu = torch.where(degrees.isfinite(), degrees, 1.0)
        shrink = torch.where(degrees.isfinite(), torch.from_numpy(rng.chisquare(nu.numpy())) / nu, 1.0)
        return self.center[which, row] + scale * normal / shrink.sqrt()


def waic(log_densities: Tensor) -> Tensor:
    """Watanabe's estimate of the log density of each row by a fit without it.

    The log of the mean density over draws, less the variance of the log density.

    Args:
        log_densities: of every draw at every training row. Shape (draws, n).

    Returns:
        Shape (n,).
    """
    mean = torch.logsumexp(log_densities, 0) - math.log(len(log_densities))
    return mean - log_densities.var(0)
