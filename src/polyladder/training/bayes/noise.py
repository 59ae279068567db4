"""Gaussian and Student-t noise as `polyladder.sample_gibbs` sees them: a response and its precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from polyladder.training.bayes.streams import Streams

TILT = 2.0
"""The most that the slopes add to or take from a log precision: the noise scale may be up to 2.7 times larger or
smaller. Without a bound the noise of a region can grow until its rows no longer count."""

SMALL_STEPS = 4
"""Small steps that the slopes take in a sweep, in addition to a large one."""


@dataclass(frozen=True)
class GammaPrior:
    """A Gamma prior of a precision: density proportional to t^(shape - 1) exp(-rate t)."""

    shape: float
    rate: float

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0 and math.isfinite(self.shape) and math.isfinite(self.rate)):
            raise ValueError(f"A Gamma prior must have a positive shape and rate; got {self.shape} and {self.rate}.")


class Likelihood(Protocol):
    """What the sampler needs of a likelihood: given its latent variables, a row is Gaussian."""

    def renew(self, f: Tensor, rows: Tensor, streams: Streams) -> tuple[Tensor, Tensor]:
        """Draw the latent variables given outputs f (B, m, n) and row weights (B, n) or (1, n).

        Returns:
            The response (B, m, n), or (1, m, n), and its precision (B, m, n): given both, the response is Gaussian
            around f with that precision times the row's weight.
        """

    def kept(self) -> tuple[Tensor, Tensor, Tensor]:
        """As last drawn: noise scale (B, m), degrees of freedom (B, m), slopes of the log precision (B, m, q)."""

    def memory(self) -> tuple[Tensor, ...]:
        """What the next `renew` needs from this one: enough to continue after an interruption."""

    def recall(self, memory: tuple[Tensor, ...]) -> None:
        """Continue from what `memory` returned."""


class Noise:
    r"""Student-t noise whose scale may depend on the row.

    .. math:: y = f + e (\tau \lambda \exp(2 \tanh(\beta \cdot \phi / 2)))^{-1/2}, \quad
        \lambda \sim Gamma(\nu / 2, \nu / 2)

    with standard normal e. :math:`\nu = \infty` is Gaussian noise. The precision :math:`\tau` has a Gamma prior,
    :math:`\nu` is uniform on a grid of values, and the slopes :math:`\beta` of the log precision on given features
    :math:`\phi` are Gaussian around zero, with a precision that has a Gamma prior; each output has its own. Given
    everything else, all but the slopes can be drawn at once; :math:`\nu` with the :math:`\lambda` of all rows
    integrated out, since given them it would hardly move. The slopes take a few Metropolis-Hastings steps.

    A row of weight w stands for w observations that share one :math:`\lambda`.

    Args:
        y: targets, rows last. Shape (1, m, n) or (B, m, n).
        degrees: the grid of :math:`\nu`. Shape (g,).
        prior: of the noise precision.
        precision: where :math:`\tau` starts. Shape (B, m).
        features: :math:`\phi`, best of mean zero and variance one. Shape (q, n), q = 0 for none.
        slopes_prior: of the precision of the slopes.
    """

    def __init__(
        self,
        y: Tensor,
        degrees: Tensor,
        prior: GammaPrior,
        precision: Tensor,
        features: Tensor,
        slopes_prior: GammaPrior,
    ) -> None:
        self.y, self.grid, self.prior, self.precision = y, degrees, prior, precision
        self.features, self.slopes_prior = features, slopes_prior
        self.degrees = degrees[-1:].expand(precision.shape)
        self.slopes = precision.new_zeros(*precision.shape, len(features))

    def renew(self, f: Tensor, rows: Tensor, streams: Streams) -> tuple[Tensor, Tensor]:
        """Draw the degrees of freedom, the weight of every row, the noise precision and its slopes."""
        weight = rows.unsqueeze(1)
        squares = weight * (self.y - f).square()
        tilt = log_tilt(self.slopes @ self.features).exp()
        if len(self.grid) > 1:
            self.degrees = self._draw_degrees(squares * tilt * self.precision.unsqueeze(-1), weight, streams)
        relative = torch.ones_like(squares)
        # Decided by the grid, not by what was drawn: a chain's stream must not depend on its neighbors' noise.
        if bool(self.grid.isfinite().any()):
            nu = self.degrees.unsqueeze(-1)
            finite = torch.where(nu.isfinite(), nu, 1.0)
            rate = (finite + self.precision.unsqueeze(-1) * tilt * squares) / 2
            drawn = streams.gamma((finite + weight).expand_as(squares) / 2, rate)
            relative = torch.where(nu.isfinite(), drawn, 1.0)
        squares = relative * squares
        count = weight.sum(-1).expand(self.precision.shape)
        rate = self.prior.rate + (tilt * squares).sum(-1) / 2
        self.precision = streams.gamma(self.prior.shape + count / 2, rate)
        if len(self.features):
            self._move_slopes(self.precision.unsqueeze(-1) * squares, weight, streams)
            tilt = log_tilt(self.slopes @ self.features).exp()
        return self.y, relative * tilt * self.precision.unsqueeze(-1)

    def _draw_degrees(self, squares: Tensor, weight: Tensor, streams: Streams) -> Tensor:
        """Draw from the grid given weighted squared residuals in units of the noise scale."""
        logs = torch.stack([student_log_density(squares, weight, nu).sum(-1) for nu in self.grid], -1)
        below = logs.softmax(-1).cumsum(-1)
        u = streams.uniform(below.shape[1]).unsqueeze(-1)
        # Rounding may leave the last sum a little below 1.
        return self.grid[(below < u).sum(-1).clamp_max(len(self.grid) - 1)]

    def _move_slopes(self, squares: Tensor, weight: Tensor, streams: Streams) -> None:
        """Draw the precision of the slopes, then take a few Metropolis-Hastings steps on them.

        All steps propose with the same covariance, the inverse of the information at small slopes. The first ones start
        from the present slopes: they are small, but work from anywhere. The last one starts from where a step of
        Fisher's scoring leads: it forgets the present slopes if they are typical, but may fail far out.

        Args:
            squares: weighted squared residuals in units of the noise scale without its slopes. Shape (B, m, n).
            weight: Shape (B, 1, n) or (1, 1, n).
            streams: random streams.
        """
        phi, m, q = self.features, *self.slopes.shape[1:]
        prior = self.slopes_prior
        norms = self.slopes.square().sum(-1)
        kappa = streams.gamma(torch.full_like(norms, prior.shape + q / 2), prior.rate + norms / 2).unsqueeze(-1)
        information = ((phi * weight) @ phi.mT / 2).expand(len(self.slopes), m, q, q) + torch.diag_embed(
            kappa.expand(-1, -1, q)
        )
        factor = torch.linalg.cholesky(information)

        def log_density(slopes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            tilt = log_tilt(slopes @ phi)
            spread = squares * tilt.exp()
            return (weight * tilt - spread).sum(-1) / 2 - (kappa * slopes.square()).sum(-1) / 2, tilt, spread

        def step() -> Tensor:
            normal = streams.normal(m, q).unsqueeze(-1)
            return torch.linalg.solve_triangular(factor.mT, normal, upper=True).squeeze(-1)

        def accept(proposed: Tensor, gain: Tensor) -> Tensor:
            accepted = streams.uniform(m).log() < gain
            return torch.where(accepted.unsqueeze(-1), proposed, self.slopes)

        for _ in range(SMALL_STEPS):
            # The usual step size, at which a quarter to a half of the proposals is accepted.
            proposed = self.slopes + 2.4 / q**0.5 * step()
            self.slopes = accept(proposed, log_density(proposed)[0] - log_density(self.slopes)[0])

        def scored(slopes: Tensor) -> tuple[Tensor, Tensor]:
            density, tilt, spread = log_density(slopes)
            open_share = 1 - (tilt / TILT).square()  # the derivative of the bounded tilt
            slope = ((weight - spread) * open_share) @ phi.mT / 2 - kappa * slopes
            return density, slopes + torch.cholesky_solve(slope.unsqueeze(-1), factor).squeeze(-1)

        def log_proposal(at: Tensor, mean: Tensor) -> Tensor:
            return -(factor.mT @ (at - mean).unsqueeze(-1)).squeeze(-1).square().sum(-1) / 2

        before, mean = scored(self.slopes)
        proposed = mean + step()
        after, back = scored(proposed)
        self.slopes = accept(proposed, after - before + log_proposal(self.slopes, back) - log_proposal(proposed, mean))

    def kept(self) -> tuple[Tensor, Tensor, Tensor]:
        """Noise scale, degrees of freedom, and the slopes of the log precision."""
        return self.precision.rsqrt(), self.degrees, self.slopes

    def memory(self) -> tuple[Tensor, ...]:
        """The noise precision and its slopes."""
        return self.precision, self.slopes

    def recall(self, memory: tuple[Tensor, ...]) -> None:
        """Start from a noise precision and its slopes."""
        self.precision, self.slopes = memory


def log_tilt(raw: Tensor) -> Tensor:
    """What is added to the log precision of a row: linear in the slopes while small, never beyond `TILT`."""
    return TILT * (raw / TILT).tanh()


def noise_columns(x: Tensor) -> Tensor:
    """What the log precision of the noise may depend on: standardized inputs, held to 3 in size, and their squares.

    Shape (n, d) to (n, 2 d).
    """
    held = x.clamp(-3, 3)
    return torch.cat([held, (held.square() - 1) / 2], -1)


def student_log_density(squares: Tensor, weight: Tensor, degrees: Tensor) -> Tensor:
    """Log density of w observations that share a row weight, up to what does not depend on the degrees of freedom.

    Args:
        squares: w times the squared residual in units of the scale.
        weight: w, broadcast against squares.
        degrees: one number; infinity is Gaussian.
    """
    if not bool(degrees.isfinite()):
        return -squares / 2
    half = (degrees + weight) / 2
    constant = torch.lgamma(half) - torch.lgamma(degrees / 2) - weight / 2 * (degrees / 2).log()
    return constant - half * (squares / degrees).log1p()
