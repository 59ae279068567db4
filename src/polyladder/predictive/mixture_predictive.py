"""What a posterior says of new observations: a mixture over its draws, as a `Predictive`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.mixture import StudentMixture
from polyladder.predictive.number_predictive import NumberPredictive
from polyladder.predictive.predictive import Array
from polyladder.predictive.standard_student import mean_distance

REACH = 6.0
"""The CRPS is integrated numerically up to sinh(6), about 200, standard deviations of the mixture to both sides."""

FEWEST, MOST = 31, 301
"""Points of that integral; in between they grow as components become narrow beside the mixture. The error is about 1e-5
of the CRPS, 1e-4 where components lie several of their scales apart, a few percent where hundreds. More points take
longer."""


@dataclass(frozen=True, eq=False, repr=False)
class MixturePredictive(NumberPredictive):
    """A mixture of Student distributions for each row, one for each draw of a posterior.

    ``mean`` is the mixture's mean, where `predict` of a Bayesian regressor gives the median over the draws. The outputs
    of a row depend on each other through the draw that they share; `log_likelihood` takes that into account.

    Attributes:
        mixture: its components.
        flat: whether the target is one column without a second dimension, so that answers have shape (n,).
    """

    mixture: StudentMixture
    flat: bool

    @property
    def means(self) -> Tensor:
        """Shape (n, m)."""
        return self.mixture.mean(self.mixture.center)

    @property
    def deviations(self) -> Tensor:
        """Standard deviations. Shape (n, m)."""
        weights = self.mixture.weights_covariance().diagonal(dim1=-2, dim2=-1)
        return (weights + self.mixture.noise_variance()).sqrt()

    @property
    def covariance(self) -> Array:
        """Covariance of the outputs of each row. Shape (n, m, m)."""
        noise = torch.diag_embed(self.mixture.noise_variance())
        return np.asarray((self.mixture.weights_covariance() + noise).numpy())

    def quantiles(self, probability: float) -> Tensor:
        """Of each output by itself. Shape (n, m)."""
        return self.mixture.quantile(probability)

    def ends(self, level: float) -> tuple[Tensor, Tensor]:
        """Of the central interval. Shapes (n, m)."""
        return self.mixture.quantile(0.5 - level / 2), self.mixture.quantile(0.5 + level / 2)

    def log_densities(self, y: Tensor) -> Tensor:
        """Of each output by itself. Shape (n, m)."""
        return torch.logsumexp(self.mixture.log_densities(y) + self.mixture.share.log().unsqueeze(-1), 0)

    def joint_log_density(self, y: Tensor) -> Tensor:
        """Of the outputs of each row together. Shape (n,)."""
        return self.mixture.log_density(y)

    def below(self, y: Tensor) -> Tensor:
        """Probability of at most y (n, m). Shape (n, m)."""
        return self.mixture.distribution(y)

    def draws(self, n: int, seed: int) -> Tensor:
        """New observations. Shape (n, rows, m)."""
        return self.mixture.sample(n, torch.Generator().manual_seed(seed))

    def scores(self, y: Tensor) -> Tensor:
        """CRPS of each output: E|Y - y| in closed form, less the integral `half_spread`. Shape (n, m)."""
        return distance(self.mixture, y) - half_spread(self.mixture)

    def of_rows(self, index: Tensor) -> StudentMixture:
        """The mixtures of the rows with these numbers (k,)."""
        m = self.mixture
        scale = m.scale if m.scale.shape[1] == 1 else m.scale[:, index]
        return replace(m, center=m.center[:, index], scale=scale, share=m.share[:, index])

    def rows(self, index: Tensor) -> Self:
        """The distributions of the rows with these numbers (k,)."""
        return replace(self, mixture=self.of_rows(index))


def distance(mixture: StudentMixture, y: Tensor) -> Tensor:
    """Mean distance of an observation from y (n, m). Shape (n, m)."""
    z = (y - mixture.center) / mixture.scale
    return mixture.mean(mixture.scale * mean_distance(z, mixture.degrees))


def half_spread(mixture: StudentMixture) -> Tensor:
    r"""Half the mean distance between two observations, :math:`\int F (1 - F)`. Shape (n, m).

    By the trapezoidal rule in u, where t is the mean plus a multiple of sinh(u); it converges exponentially, since F
    has no corners. What lies beyond is in closed form, but for the square of its small probability.
    """
    middle = mixture.mean(mixture.center)
    narrow = mixture.mean(mixture.scale.expand_as(mixture.center))
    wide = (mixture.mean((mixture.center - middle).square()) + narrow.square()).sqrt()
    count = int((FEWEST * (wide / narrow).amax()).ceil().clamp(FEWEST, MOST)) if wide.numel() else FEWEST
    step = 2 * REACH / (count - 1)
    total = torch.zeros_like(middle)
    for k in range(count):
        u = -REACH + k * step
        below = mixture.distribution(middle + wide * math.sinh(u))
        part = 0.5 if k in (0, count - 1) else 1.0
        total += part * step * math.cosh(u) * below * (1 - below)
    reach = wide * math.sinh(REACH)
    # E(Y - t)+ = (E|Y - t| + E Y - t) / 2, and alike on the other side.
    tails = (distance(mixture, middle + reach) + distance(mixture, middle - reach)) / 2 - reach
    return wide * total + tails
