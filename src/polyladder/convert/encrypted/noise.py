"""The error of encrypted arithmetic: the noise of CKKS, operation by operation.

Every number is at most 1 in size. The bounds on single operations are those of Cheon, Kim, Kim and Song (Asiacrypt
2017) for the canonical embedding, at six standard deviations or more: together they fail with a probability below 1e-8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from polyladder.convert.encrypted.normalized import NormalLadder, NormalModel, Sum
from polyladder.convert.encrypted.parameters import Parameters
from polyladder.convert.exported.ranges import Array
from polyladder.polynomial.ball import product_error, sum_error

DEVIATION = 3.2
"""Standard deviation of the errors that encryption adds."""


@dataclass(frozen=True)
class CiphertextNoise:
    """Bounds, as integers before division by the scale.

    Attributes:
        fresh: of a new ciphertext: its error and the rounding of its values.
        rescaled: of dropping a prime.
        switched: of relinearization, already divided by the special prime.
        scale: 2^bits.
    """

    fresh: float
    rescaled: float
    switched: float
    scale: float


def noise_of(parameters: Parameters) -> CiphertextNoise:
    """The bounds for a ring and a chain of primes; secret keys are ternary, two thirds of their entries not zero."""
    n, secret = parameters.degree, 2 * parameters.degree / 3
    fresh = 6 * DEVIATION * math.sqrt(n) + 6 * math.sqrt(n / 12)
    rescaled = math.sqrt(n / 3) * (3 + 8 * math.sqrt(secret))
    # Digits lie between 0 and a prime: a mean of half of it, whose transform is largest at the first slot, and a rest.
    digit = n / math.pi + 6 * math.sqrt(n / 12)
    # Twice: a digit's prime may be twice as large as the special prime that the sum is divided by.
    switched = 2 * (parameters.levels + 1) * digit * 6 * DEVIATION * math.sqrt(n) + rescaled
    return CiphertextNoise(fresh, rescaled, switched, parameters.scale)


def summed(part: Sum, error: Array, noise: CiphertextNoise) -> Array:
    """Error of matrix x + vector after its rescaling: of x, of rounded weights, of the rescaling. Shape (k,)."""
    # Primes differ from 2^bits by less than 1 in 1000, and so do the scales that weights are rounded to.
    rounding = 1.01 / noise.scale
    off = np.full_like(part.matrix, rounding)
    inherited = sum_error(np.abs(part.matrix) + off, off, np.ones_like(error), error)
    return np.asarray(inherited + rounding + 1.01 * noise.rescaled / noise.scale)


def ladder_error(ladder: NormalLadder, fresh: Array, noise: CiphertextNoise) -> Array:
    """Error of a ladder's sums, before they are multiplied by their sizes. Shape (m,)."""
    error = fresh
    for inner, gate in ladder.rungs:
        u, g = summed(inner, error, noise), summed(gate, fresh, noise)
        product = product_error(np.ones_like(u), u, np.ones_like(g), g)
        error = product + 1.01 * (noise.switched / noise.scale**2 + noise.rescaled / noise.scale)
    found = []
    for last, gate in ladder.last:
        if last is None:
            rounding = gate.matrix.shape[1] * 1.01 / noise.scale
            found.append(float((np.abs(gate.matrix) @ fresh).sum()) + rounding)
            continue
        size = np.abs(last.matrix).sum(1) + np.abs(last.vector)
        u, g = summed(last, error, noise), summed(gate, fresh, noise)
        found.append(float(product_error(size, u, np.ones_like(g), g).sum()))
    return np.array(found)


def error_bound(model: NormalModel, parameters: Parameters) -> Array:
    """An upper bound on the difference between decrypted and exact outputs. Shape (m,)."""
    noise = noise_of(parameters)
    fresh = np.full(len(model.scale), noise.fresh / noise.scale)
    total = sum(ladder_error(ladder, fresh, noise) for ladder in model.ladders)
    # The last term is for the rounding of float64: of inputs by the client, and of scales by both sides.
    return np.asarray((total * (1 + 1e-9) + 1e-12 * (model.depth + 1)) * model.sizes)
