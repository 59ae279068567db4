"""A log scale that is a polynomial of second degree in the inputs: found on folds, and kept as few directions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.errors.log_scale import log_densities, log_scale_coefficients
from polyladder.training.kernels.relevance import Array
from polyladder.training.simplex import best_shares

LANDMARKS = 100
"""Rows through which the directions of the kernels lie, at most. More would cost more and hardly say more."""

RIDGES = {1: (0.1, 1.0, 10.0), 2: (0.3, 3.0, 30.0)}
"""Ridge weights of kernels of the first and the second degree; all of them are tried."""

FOLDS = 5
"""Parts of the rows that are left out in turn."""

LEAST_ROWS = 40
"""With fewer rows the scale is the same everywhere: they say too little about where errors are large."""

DEGREES = 6.0
"""Degrees of freedom of the errors while their scale is looked for: gross ones pull little."""

LEAST_WEIGHT = 0.02
"""Candidates of a smaller weight are left out of the sum."""

DROPPED = 0.02
"""Standard deviation of what the log scale may lose with directions that are left out: 2 % of a scale."""


@dataclass(frozen=True, eq=False)
class QuadraticScale:
    """z' D' diag(bends) D z + slopes z + offset.

    Attributes:
        directions: D. Shape (k, d).
        bends: shape (k,).
        slopes: shape (d,).
        offset: a number.
    """

    directions: Array
    bends: Array
    slopes: Array
    offset: float

    def __call__(self, z: Array) -> Array:
        """Values at rows z (n, d). Shape (n,)."""
        return np.asarray((z @ self.directions.T) ** 2 @ self.bends + z @ self.slopes + self.offset)

    def times(self, factor: float, added: float) -> QuadraticScale:
        """A multiple of it, plus a constant."""
        return QuadraticScale(self.directions, factor * self.bends, factor * self.slopes, factor * self.offset + added)

    def ladder(self) -> LadderPolynomial:
        """The same as a ladder of one layer: a unit for each direction, one for the slopes."""
        k, d = self.directions.shape
        linear = np.concatenate([np.zeros((k, d)), self.slopes[None]])
        squares = np.concatenate([self.directions, np.zeros((1, d))])
        last = np.r_[np.zeros(k), 1.0]
        parts = (squares + linear, np.zeros(k + 1), squares, last)
        W, b, V, c = (torch.from_numpy(part.copy()) for part in parts)
        readout, offset = (torch.from_numpy(part) for part in (np.r_[self.bends, 1.0][None], np.array([self.offset])))
        return LadderPolynomial((W,), (b,), (V,), (c,), readout, offset)


@dataclass(frozen=True, eq=False)
class FoundScale:
    """What was found.

    Attributes:
        scale: the log scale of errors.
        left_out: the same at every row, by fits that did not see its error. Shape (n,).
    """

    scale: QuadraticScale
    left_out: Array


def quadratic_scale(z: Array, errors: Array, weight: Array, seed: int) -> FoundScale:
    """The weighted mean of a constant and kernels of degrees 1 and 2 that makes errors likeliest on rows left out.

    Args:
        z: inputs. Shape (n, d).
        errors: not all zero. Shape (n,).
        weight: of the rows. Shape (n,).
        seed: of folds and landmarks.
    """
    rng = np.random.default_rng(seed)
    n, d = z.shape
    order = rng.permutation(n)
    constant = log_scale_coefficients(np.zeros((n, 0)), errors, weight, 1.0, DEGREES)[-1]
    flat = QuadraticScale(np.zeros((0, d)), np.zeros(0), np.zeros(d), float(constant))
    if n < LEAST_ROWS or d == 0:
        return FoundScale(flat, np.full(n, constant))
    landmarks = z[order[:LANDMARKS]]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % FOLDS
    left_out, coefficients = [np.full(n, constant)], [np.zeros(2 * len(landmarks) + 1)]
    coefficients[0][-1] = constant
    for degree, features, back in kernels(z, landmarks):
        for ridge in RIDGES[degree]:
            own, outside = on_folds(features, errors, weight, ridge, fold)
            left_out.append(outside)
            placed = np.zeros(2 * len(landmarks) + 1)
            placed[(degree - 1) * len(landmarks) : degree * len(landmarks)] = back @ own[:-1]
            placed[-1] = own[-1]
            coefficients.append(placed)
    shares = shares_of(np.stack(left_out), errors, weight)
    total = shares @ np.stack(coefficients)
    return FoundScale(few_directions(z, landmarks, total, weight), shares @ np.stack(left_out))


def kernels(z: Array, landmarks: Array) -> Iterator[tuple[int, Array, Array]]:
    """Features of both degrees, in which a ridge is that of the kernel, and the way back to weights of landmarks."""
    d = z.shape[1]
    for degree in (1, 2):

        def kernel(x: Array, degree: int = degree) -> Array:
            along = x @ landmarks.T / d
            return along if degree == 1 else (1 + along) ** 2

        values, vectors = np.linalg.eigh(kernel(landmarks))
        kept = values > 1e-8 * values[-1]
        back = vectors[:, kept] / np.sqrt(values[kept])
        yield degree, kernel(z) @ back, back


def on_folds(
    features: Array, errors: Array, weight: Array, ridge: float, fold: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Coefficients of all rows, and the log scale of every row by those of the other folds."""
    outside = np.empty(len(errors))
    for k in range(FOLDS):
        inside, out = fold != k, fold == k
        own = log_scale_coefficients(features[inside], errors[inside], weight[inside], ridge, DEGREES)
        outside[out] = features[out] @ own[:-1] + own[-1]
    return log_scale_coefficients(features, errors, weight, ridge, DEGREES), outside


def shares_of(left_out: Array, errors: Array, weight: Array) -> Array:
    """Shares of log scales (candidates, n) whose sum makes errors likeliest, by exponentiated gradients; they sum to 1.

    Candidates of hardly any share are left out.
    """

    def value(shares: Array) -> tuple[float, Array]:
        g = shares @ left_out
        square = (errors * np.exp(-g)) ** 2
        pull = 1 - (DEGREES + 1) * square / (DEGREES + square)
        return float(-weight @ log_densities(errors, g, DEGREES) / weight.sum()), left_out @ (
            weight * pull
        ) / weight.sum()

    shares = best_shares(value, np.full(len(left_out), 1 / len(left_out)))
    shares = np.where(shares >= LEAST_WEIGHT, shares, 0.0)
    return best_shares(value, shares / shares.sum())


def few_directions(z: Array, landmarks: Array, coefficients: Array, weight: Array) -> QuadraticScale:
    """Sums over landmarks p of a (z p / d) and of a (1 + z p / d)^2, plus an offset, along the axes of the quadratic.

    Axes along which it hardly changes, where the rows are, are left out; their mean stays.

    Args:
        z: the rows. Shape (n, d).
        landmarks: shape (m, d).
        coefficients: of both sums, the offset last. Shape (2 m + 1,).
        weight: of the rows. Shape (n,).
    """
    m, d = landmarks.shape
    first, second = coefficients[:m], coefficients[m : 2 * m]
    slopes = (first + 2 * second) @ landmarks / d
    offset = float(coefficients[-1] + second.sum())
    basis, triangle = np.linalg.qr(landmarks.T)
    inner = (triangle * (second / d**2)) @ triangle.T
    bends, vectors = np.linalg.eigh((inner + inner.T) / 2)
    directions = (basis @ vectors).T
    share = weight / weight.sum()
    squares = bends * (z @ directions.T) ** 2
    mean = share @ squares
    loss = np.sqrt(share @ (squares - mean) ** 2)
    order = loss.argsort()
    dropped = order[np.cumsum(loss[order]) <= DROPPED]
    kept = np.setdiff1d(np.arange(len(bends)), dropped)
    return QuadraticScale(directions[kept], bends[kept], slopes, offset + float(mean[dropped].sum()))
