"""Smooth functions of engineering, without noise: what surrogate models are tried on.

Formulas and ranges: Surjanovic and Bingham, Virtual Library of Simulation Experiments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import qmc

Array = np.ndarray[Any, np.dtype[np.float64]]

TEST_ROWS = 2000


def borehole(x: Array) -> Array:
    """Water flow through a borehole."""
    rw, r, tu, hu, tl, hl, length, k = x.T
    log = np.log(r / rw)
    return np.asarray(2 * np.pi * tu * (hu - hl) / (log * (1 + 2 * length * tu / (log * rw**2 * k) + tu / tl)))


def circuit(x: Array) -> Array:
    """Midpoint voltage of a push-pull circuit without output transformer."""
    b1, b2, f, c1, c2, beta = x.T
    voltage, gain = 12 * b2 / (b1 + b2), beta * (c2 + 9)
    return np.asarray(((voltage + 0.74) * gain + 11.35 * f + 0.74 * f * gain / c1) / (gain + f))


def wing(x: Array) -> Array:
    """Weight of a light aircraft's wing."""
    s, fuel, a, sweep, q, taper, tc, nz, w, paint = x.T
    c = np.cos(np.radians(sweep))
    shape = 0.036 * s**0.758 * fuel**0.0035 * (a / c**2) ** 0.6 * q**0.006 * taper**0.04
    return np.asarray(shape * (100 * tc / c) ** -0.3 * (nz * w) ** 0.49 + s * paint)


def piston(x: Array) -> Array:
    """Cycle time of a piston in a cylinder."""
    m, s, v0, k, p0, ta, t0 = x.T
    a = p0 * s + 19.62 * m - k * v0 / s
    v = s / (2 * k) * (np.sqrt(a**2 + 4 * k * p0 * v0 / t0 * ta) - a)
    return np.asarray(2 * np.pi * np.sqrt(m / (k + s**2 * p0 * v0 / t0 * ta / v**2)))


def ishigami(x: Array) -> Array:
    """Ishigami's function."""
    return np.asarray(np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))


class SmoothFunction(NamedTuple):
    """A function and the box that its inputs are drawn from."""

    of: Callable[[Array], Array]
    low: tuple[float, ...]
    high: tuple[float, ...]


SMOOTH = {
    "borehole": SmoothFunction(
        borehole, (0.05, 100, 63070, 990, 63.1, 700, 1120, 9855), (0.15, 50000, 115600, 1110, 116, 820, 1680, 12045)
    ),
    "circuit": SmoothFunction(circuit, (50, 25, 0.5, 1.2, 0.25, 50), (150, 70, 3, 2.5, 1.2, 300)),
    "wing": SmoothFunction(
        wing, (150, 220, 6, -10, 16, 0.5, 0.08, 2.5, 1700, 0.025), (200, 300, 10, 10, 45, 1, 0.18, 6, 2500, 0.08)
    ),
    "piston": SmoothFunction(
        piston, (30, 0.005, 0.002, 1000, 90000, 290, 340), (60, 0.02, 0.01, 5000, 110000, 296, 360)
    ),
    "ishigami": SmoothFunction(ishigami, (-np.pi,) * 3, (np.pi,) * 3),
}


def draw_smooth(name: str, run: int) -> tuple[Array, Array, int]:
    """Rows of ``"borehole-100"``: a Latin hypercube of 100 to train on, then 2,000 uniform rows to test on.

    Returns:
        Inputs, values divided by their deviation on the test rows, and how many rows are to train on.
    """
    function, _, rows = name.partition("-")
    if function not in SMOOTH or not rows.isdigit():
        raise ValueError(f"data must be a smooth function and a number of rows, such as borehole-100; got {name!r}.")
    of, low, high = SMOOTH[function]
    unit = np.concatenate(
        [
            qmc.LatinHypercube(len(low), seed=run).random(int(rows)),
            np.random.default_rng(100 + run).random((TEST_ROWS, len(low))),
        ]
    )
    x = np.array(low) + unit * (np.array(high) - np.array(low))
    y = of(x)
    return x, y / y[int(rows) :].std(), int(rows)
