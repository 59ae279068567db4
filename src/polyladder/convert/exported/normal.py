"""The normal distribution function by arithmetic and exp, for languages without an error function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import erfcx

CENTER = 3.0
"""The |x| / sqrt(2) at which the argument of the tail's polynomial is zero."""

DEGREE = 22
"""Degree of the tail's polynomial: with this one the distribution is accurate to 1e-14."""


def tail_coefficients() -> NDArray[np.float64]:
    """Ascending coefficients of erfcx(u) (1 + u) in t = (u - CENTER) / (u + CENTER).

    With u = |x| / sqrt(2), the tail beyond x is exp(-u^2) times that polynomial, divided by 2 (1 + u).
    """

    def smooth(t: Any) -> Any:
        u = CENTER * (1 + t) / (1 - np.minimum(t, 1 - 1e-12))
        return erfcx(u) * (1 + u)

    return np.asarray(chebyshev.cheb2poly(chebyshev.chebinterpolate(smooth, DEGREE)))
