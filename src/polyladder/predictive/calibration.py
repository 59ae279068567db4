"""Are stated probabilities true? Reliability, coverage, sharpness and proper scores of predictions with error bars.

Arrays and tensors are read alike, computed in float64 and returned as tensors. A prediction is given as a Gaussian
(mean and standard deviation), as equally likely draws, as an equal mixture of Gaussians (one per draw of the weights),
as class probabilities, or as a `Predictive` of numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.predictive import Predictive
from polyladder.predictive.student import StudentPredictive

LEVELS = tuple(i / 20 for i in range(1, 20))
"""Stated probabilities at which a reliability curve is read by default: 5 %, 10 %, ..., 95 %."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """Stated probabilities, and how often the events happened; equal for calibrated predictions.

    Args:
        stated: probability. Shape (points,).
        actual: share of the rows for which it came true; NaN in a bin without rows. Shape (points,).
        rows: how many rows each share is of. Shape (points,).
    """

    stated: Tensor
    actual: Tensor
    rows: Tensor

    @property
    def error(self) -> float:
        """Mean distance between stated and actual, weighted by rows: the expected calibration error, for bins."""
        seen = self.rows > 0
        distance = (self.stated - self.actual)[seen].abs()
        return float((distance * self.rows[seen]).sum() / self.rows.sum())


@dataclass(frozen=True)
class Coverage:
    """How often intervals contain the target, and how wide they are.

    Args:
        share: of the targets inside.
        width: mean width, the sharpness. Of two forecasts with equal coverage the narrower is better.
    """

    share: float
    width: float


def gaussian_levels(y: Any, mean: Any, standard_deviation: Any) -> Tensor:
    """At which quantile of its Gaussian prediction each target lies; uniform if calibrated. Shape as the arguments'."""
    y, mean, sd = same_shape(y, mean, standard_deviation)
    return mixture_levels(y, mean.unsqueeze(0), sd.unsqueeze(0))


def mixture_levels(y: Any, means: Any, standard_deviations: Any) -> Tensor:
    """At which quantile of its equal mixture of Gaussians each target lies.

    Args:
        y: targets. Shape (...).
        means: of the components. Shape (components, ...).
        standard_deviations: of the components; broadcast against ``means``.
    """
    y, means, sds = components(y, means, standard_deviations)
    return torch.special.ndtr((y - means) / sds).mean(0)


def draw_levels(y: Any, draws: Any) -> Tensor:
    """At which quantile of its draws each target lies: (draws below + half of those equal + 1/2) / (draws + 1).

    Args:
        y: targets. Shape (...).
        draws: of new observations, noise included. Shape (draws, ...).
    """
    y, draws = as_float(y), as_float(draws)
    check_leading("draws", draws, y)
    below = (draws < y).sum(0) + 0.5 * (draws == y).sum(0)
    return (below + 0.5) / (len(draws) + 1)


def quantile_reliability(levels: Any, at: Any = LEVELS) -> Reliability:
    """Share of the targets below each stated quantile.

    Args:
        levels: at which quantile of its prediction each target lies: `gaussian_levels`, `mixture_levels` or
            `draw_levels`. Any shape, in [0, 1].
        at: stated probabilities. Shape (points,).
    """
    levels, at = check_probabilities("levels", levels).flatten(), check_probabilities("at", at)
    return Reliability(at, (levels <= at.unsqueeze(1)).double().mean(1), torch.full_like(at, float(len(levels))))


def interval_reliability(levels: Any, at: Any = LEVELS) -> Reliability:
    """Share of the targets inside the central interval of each stated probability. Arguments as above."""
    levels = check_probabilities("levels", levels)
    # A target at quantile u is inside the central interval of probability p just if |2 u - 1| <= p.
    return quantile_reliability((2 * levels - 1).abs(), at)


def predictive_reliability(predictive: Predictive, y: Any, at: Any = LEVELS) -> Reliability:
    """Share of the targets inside ``predictive.interval(p)``, for each stated probability p.

    Args:
        predictive: of numbers.
        y: what was observed, in the shape of the target. Of several outputs each counts by itself.
        at: stated probabilities. Shape (points,).
    """
    y, at = np.array(y, dtype=np.float64), check_probabilities("at", at)
    if not isinstance(predictive, StudentPredictive):
        # Its intervals lie between quantiles: one look at each target says which of them hold it.
        return interval_reliability(predictive.cdf(y), at)
    ends = [predictive.interval(level) for level in at.tolist()]
    shares = [coverage(y, low, high).share for low, high in ends]
    return Reliability(at, as_float(shares), torch.full_like(at, float(y.size)))


def class_reliability(probability: Any, label: Any, bins: int = 15) -> Reliability:
    """How often a class is right, by its stated probability, in bins of equal width; empty bins have no rows.

    Args:
        probability: of class 1 (n,); or of every class (n, classes), of which the most probable one counts.
        label: class numbers. Shape (n,).
        bins: how many.
    """
    probability, label = check_probabilities("probability", probability), torch.as_tensor(label)
    if tuple(label.shape) != tuple(probability.shape[:1]):
        raise ValueError(f"label must have shape {tuple(probability.shape[:1])}; got shape {tuple(label.shape)}.")
    if probability.dim() == 1:
        stated, right = probability, label == 1
    else:
        stated, likeliest = probability.max(-1)
        right = label == likeliest
    # The bin (i / bins, (i + 1) / bins]; zero belongs to the first.
    position = (torch.ceil(stated * bins) - 1).clamp(0, bins - 1).long()
    rows = torch.zeros(bins, dtype=torch.float64).index_add(0, position, torch.ones_like(stated))
    total = torch.zeros(bins, dtype=torch.float64).index_add(0, position, stated)
    hits = torch.zeros(bins, dtype=torch.float64).index_add(0, position, right.double())
    middle = (torch.arange(bins, dtype=torch.float64) + 0.5) / bins
    return Reliability(torch.where(rows > 0, total / rows, middle), hits / rows, rows)


def expected_calibration_error(probability: Any, label: Any, bins: int = 15) -> float:
    """Mean distance between the stated probability of a class and how often it is right, over bins of rows.

    Arguments as for `class_reliability`.
    """
    return class_reliability(probability, label, bins).error


def coverage(y: Any, low: Any, high: Any) -> Coverage:
    """Share of the targets inside their intervals, ends included, and the intervals' mean width. Shapes (...)."""
    y, low, high = same_shape(y, low, high)
    if bool((low > high).any()):
        raise ValueError("low must not exceed high; got an interval of negative width.")
    return Coverage(float(((low <= y) & (y <= high)).double().mean()), float((high - low).mean()))


def crps_gaussian(y: Any, mean: Any, standard_deviation: Any) -> Tensor:
    r"""Continuous ranked probability score of a Gaussian prediction, in units of the target; the less the better.

    .. math:: \int (F(t) - 1[t \ge y])^2 dt
        = \sigma \big(z (2 \Phi(z) - 1) + 2 \varphi(z) - \pi^{-1/2}\big), \quad z = (y - \mu) / \sigma

    Shapes (...) alike; so is the result's.
    """
    y, mean, sd = same_shape(y, mean, standard_deviation)
    return crps_mixture(y, mean.unsqueeze(0), sd.unsqueeze(0))


def crps_mixture(y: Any, means: Any, standard_deviations: Any) -> Tensor:
    r"""Continuous ranked probability score of an equal mixture of S Gaussians.

    .. math:: \frac1S \sum_i A(y - \mu_i, \sigma_i) - \frac1{2 S^2} \sum_{ij} A(\mu_i - \mu_j,
        \sqrt{\sigma_i^2 + \sigma_j^2}), \quad A(\mu, \sigma) = E |N(\mu, \sigma^2)|

    Args:
        y: targets. Shape (...).
        means: Shape (S, ...).
        standard_deviations: broadcast against ``means``.

    Returns:
        Shape (...).

    Cost: S^2 per target, one component at a time.
    """
    y, means, sds = components(y, means, standard_deviations)
    spread = torch.zeros_like(y)
    for mean, sd in zip(means, sds, strict=True):
        spread = spread + absolute_mean(means - mean, (sds.square() + sd.square()).sqrt()).mean(0)
    return absolute_mean(y - means, sds).mean(0) - spread / (2 * len(means))


def crps_draws(y: Any, draws: Any) -> Tensor:
    """Continuous ranked probability score of the distribution of equally likely draws.

    E|Y - y| - E|Y - Y'| / 2, the second mean from the sorted draws.

    Args:
        y: targets. Shape (...).
        draws: of new observations, noise included. Shape (S, ...).

    Returns:
        Shape (...).
    """
    y, draws = as_float(y), as_float(draws)
    check_leading("draws", draws, y)
    count = len(draws)
    order = torch.arange(1, count + 1, dtype=torch.float64).reshape(-1, *[1] * y.dim())
    spread = ((2 * order - count - 1) * draws.sort(0).values).sum(0) / count**2
    return (draws - y).abs().mean(0) - spread


def mixture_log_likelihood(y: Any, means: Any, standard_deviations: Any) -> Tensor:
    """Log density of each target under its equal mixture of Gaussians.

    Args:
        y: targets. Shape (...).
        means: Shape (components, ...).
        standard_deviations: broadcast against ``means``.

    Returns:
        Shape (...).
    """
    y, means, sds = components(y, means, standard_deviations)
    each = -0.5 * ((y - means) / sds).square() - sds.log() - 0.5 * math.log(2 * math.pi)
    return torch.logsumexp(each, 0) - math.log(len(means))


def absolute_mean(mean: Tensor, sd: Tensor) -> Tensor:
    """E|N(mean, sd^2)|."""
    z = mean / sd
    density = torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
    return 2 * sd * density + mean * (2 * torch.special.ndtr(z) - 1)


def as_float(values: Any) -> Tensor:
    """A float64 tensor of what an array, a list or a tensor holds."""
    return torch.as_tensor(values, dtype=torch.float64)


def same_shape(first: Any, *others: Any) -> tuple[Tensor, ...]:
    """Float64 tensors; the others are broadcast to the first, and refused where they would enlarge it."""
    target = as_float(first)
    tensors = [target]
    for t in map(as_float, others):
        try:
            tensors.append(t.expand(target.shape))
        except RuntimeError:
            raise ValueError(
                f"The prediction must have the targets' shape {tuple(target.shape)}; got shape {tuple(t.shape)}."
            ) from None
    return tuple(tensors)


def components(y: Any, means: Any, sds: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Targets (...) and a mixture's means and standard deviations (components, ...)."""
    y, means, sds = as_float(y), as_float(means), as_float(sds)
    check_leading("means", means, y)
    return y, means, sds.expand(means.shape)


def check_leading(name: str, t: Tensor, y: Tensor) -> None:
    """Refuse a tensor that does not have the targets' shape behind one more dimension."""
    if t.shape[1:] != y.shape or t.dim() != y.dim() + 1 or not len(t):
        raise ValueError(f"{name} must have shape (count, *{tuple(y.shape)}); got shape {tuple(t.shape)}.")


def check_probabilities(name: str, values: Any) -> Tensor:
    """Refuse what is not within [0, 1]."""
    t = as_float(values)
    if not bool(((t >= 0) & (t <= 1)).all()):
        raise ValueError(f"{name} must lie in [0, 1]; got {float(t.min()):g} to {float(t.max()):g}.")
    return t
