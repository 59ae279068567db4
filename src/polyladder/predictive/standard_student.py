"""The standard Student distribution, of which the normal is the one of infinitely many degrees of freedom.

Functions of z and of the degrees of freedom, which broadcast against each other; float64, more than one degree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.special import betaln, stdtr, stdtrit
from torch import Tensor


def log_density(z: Tensor, degrees: Tensor) -> Tensor:
    """Log density."""
    finite = degrees.isfinite()
    nu = torch.where(finite, degrees, 1.0)
    student = -(nu + 1) / 2 * (z.square() / nu).log1p() - nu.log() / 2 - log_beta(nu / 2)
    normal = -z.square() / 2 - math.log(2 * math.pi) / 2
    return torch.where(finite, student, normal)


def probability_below(z: Tensor, degrees: Tensor) -> Tensor:
    """Probability of at most z."""
    return chosen(z, degrees, torch.special.ndtr, stdtr)


def quantile_at(probability: Tensor, degrees: Tensor) -> Tensor:
    """Where `probability_below` reaches a probability in (0, 1)."""
    return chosen(probability, degrees, torch.special.ndtri, stdtrit)


def mean_distance(z: Tensor, degrees: Tensor) -> Tensor:
    r"""Mean distance of an observation from z.

    .. math:: E|T - z| = z (2 F(z) - 1) + 2 f(z) \frac{\nu + z^2}{\nu - 1}
    """
    finite = degrees.isfinite()
    nu = torch.where(finite, degrees, 2.0)
    factor = torch.where(finite, (nu + z.square()) / (nu - 1), 1.0)
    return z * (2 * probability_below(z, degrees) - 1) + 2 * factor * log_density(z, degrees).exp()


def half_difference(degrees: Tensor) -> Tensor:
    r"""Half the mean distance between two observations: the part of the CRPS that does not depend on the target.

    .. math:: \tfrac12 E|T - T'| = \frac{2 \sqrt\nu}{\nu - 1} \frac{B(1/2, \nu - 1/2)}{B(1/2, \nu/2)^2},
        \quad \pi^{-1/2} \text{ for the normal}
    """
    finite = degrees.isfinite()
    nu = torch.where(finite, degrees, 2.0)
    student = 2 * nu.sqrt() / (nu - 1) * (log_beta(nu - 0.5) - 2 * log_beta(nu / 2)).exp()
    return torch.where(finite, student, 1 / math.sqrt(math.pi))


def log_beta(b: Tensor) -> Tensor:
    """Log of the beta function at 1/2 and b; a difference of log gammas would lose its digits where b is large."""
    return torch.from_numpy(np.asarray(betaln(0.5, b.numpy())))


def chosen(
    values: Tensor, degrees: Tensor, normal: Callable[[Tensor], Tensor], student: Callable[..., np.ndarray[Any, Any]]
) -> Tensor:
    """One function where the degrees are infinite, the other, which is slow, elsewhere."""
    finite = degrees.isfinite()
    if not bool(finite.any()):
        return normal(values + torch.zeros_like(degrees))
    nu = torch.where(finite, degrees, 1.0)
    found = torch.from_numpy(np.asarray(student(nu.numpy(), values.numpy())))
    return found if bool(finite.all()) else torch.where(finite, found, normal(values))
