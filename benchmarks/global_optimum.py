"""How fast is the lowest value of a fitted ladder found and proven, and do SciPy's searches find anything lower?

Ladders of order 6 fitted by exact block solves to 2,000 points of borehole (8 inputs), Hartmann-6 and Rosenbrock-10 on
their usual boxes, scaled to [-1, 1]. The gap is given as a part of the size of the value, and of the spread of the
function over the box. One run, one thread.

    python benchmarks/global_optimum.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from record import record
from scipy.optimize import differential_evolution, shgo

from polyladder import LadderPolynomial, LPNNRegressor, minimize

Array = np.ndarray

HARTMANN_A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def borehole(u: Array) -> Array:
    """Flow of water through a borehole, inputs in [0, 1]."""
    low = np.array([0.05, 100, 63070, 990, 63.1, 700, 1120, 9855])
    high = np.array([0.15, 50000, 115600, 1110, 116, 820, 1680, 12045])
    rw, r, tu, hu, tl, hl, length, kw = (low + u * (high - low)).T
    ratio = np.log(r / rw)
    return 2 * np.pi * tu * (hu - hl) / (ratio * (1 + 2 * length * tu / (ratio * rw**2 * kw) + tu / tl))


def hartmann(u: Array) -> Array:
    """Hartmann's function of six inputs in [0, 1]."""
    inner = (HARTMANN_A * (u[:, None] - HARTMANN_P) ** 2).sum(-1)
    return -(np.array([1.0, 1.2, 3.0, 3.2]) * np.exp(-inner)).sum(-1)


def rosenbrock(u: Array) -> Array:
    """Rosenbrock's valley in ten dimensions, inputs in [0, 1] for [-2, 2]."""
    x = 4 * u - 2
    return (100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(-1)


def fitted(function: Callable[[Array], Array], d: int) -> tuple[LadderPolynomial, float]:
    """One ladder over [-1, 1]^d, and its R^2 on other points."""
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (2000, d)), rng.uniform(-1, 1, (1000, d))
    model = LPNNRegressor(order=6 if d < 10 else 4, n_estimators=1, clip=False, guard=False, random_state=0)
    model.fit(X, function((X + 1) / 2))
    return model.polynomial_in_original_units(), model.score(new, function((new + 1) / 2))


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("| function | R2 | found | bound | gap / value | gap / spread | boxes | s | evolution, s | SHGO, s |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    measured = {}
    for name, function, d in (
        ("borehole", borehole, 8),
        ("Hartmann-6", hartmann, 6),
        ("Rosenbrock-10", rosenbrock, 10),
    ):
        p, score = fitted(function, d)
        found = minimize(p, -1.0, 1.0, tolerance=0.01, max_seconds=60.0)
        rivals = []
        for search in (evolve, simplicial):
            began = time.perf_counter()
            value = search(lambda x, p=p: float(p(torch.from_numpy(np.atleast_2d(x)))[0, 0]), d)
            rivals.append((value, time.perf_counter() - began))
            assert value >= found.bound, (name, value, found.bound)
        sample = p(2 * torch.rand(10_000, d, dtype=torch.float64) - 1)
        spread = float(sample.max() - sample.min())
        measured[name] = {
            "R2": score,
            "found": found.value,
            "bound": found.bound,
            "gap_of_value": found.gap / abs(found.value),
            "gap_of_spread": found.gap / spread,
            "boxes": found.boxes,
            "seconds": found.seconds,
            "differential_evolution": rivals[0],
            "SHGO": rivals[1],
        }
        said = " | ".join(f"{value:.5g}, {seconds:.1f}" for value, seconds in rivals)
        print(
            f"| {name} | {score:.4f} | {found.value:.5g} | {found.bound:.5g} | {found.gap / abs(found.value):.2%} "
            f"| {found.gap / spread:.3%} | {found.boxes:,} | {found.seconds:.1f} | {said} |",
            flush=True,
        )
    record("global_optimum", measured, ("torch", "scipy"))


def evolve(function: Callable[[Array], float], d: int) -> float:
    """The lowest value that differential evolution finds, with SciPy's defaults."""
    return float(differential_evolution(function, [(-1, 1)] * d, seed=0, maxiter=200).fun)


def simplicial(function: Callable[[Array], float], d: int) -> float:
    """The lowest value that simplicial homology optimization finds, Sobol points, 64 of them."""
    return float(shgo(function, [(-1, 1)] * d, n=64, sampling_method="sobol").fun)


if __name__ == "__main__":
    main()
