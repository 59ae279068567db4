"""Figure 2: the output of a ladder with Gaussian weights, sampled, beside the Gaussian of the same moments."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from polyladder import GaussianWeights, LadderPolynomial, merge, output_moments
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Array, Result
from polyladder_lab.experiments.runners.networks import trained_ladder

BINS = 60
"""Bars of a histogram, over five standard deviations to both sides."""

AT_ONCE = 500
"""Ladders sampled at a time."""


def run_sampling(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement a trained ladder's error and the distances of its sampled outputs from Gaussians."""
    return [[sampling(measurement)] for measurement in group]


def sampling(measurement: Measurement) -> Result:
    """Train a ladder, take its weights for means, and sample around them."""
    single, held_out, result = trained_ladder(measurement)
    ladder = merge(single.double())
    inputs = np.sort(
        np.random.RandomState(measurement.seed).choice(len(held_out), measurement.options["inputs"], replace=False)
    )
    x = held_out[torch.from_numpy(inputs)].double()
    found = []
    for variance in measurement.options["variances"]:
        weights = GaussianWeights(mean=ladder, variance=float(variance))
        moments = output_moments(weights, x)
        samples = sampled(weights, x, measurement.options["samples"], measurement.seed)
        for i, row in enumerate(inputs):
            mean, deviation = float(moments.mean[i, 0]), float(moments.standard_deviation[i, 0])
            found.append({"input": int(row), "variance": variance, **distance(samples[:, i], mean, deviation)})
    return Result(result.value, {"distributions": found})


def sampled(weights: GaussianWeights, x: torch.Tensor, count: int, seed: int) -> Array:
    """Outputs of ladders whose weights are drawn. Shape (count, n)."""
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for first in range(0, count, AT_ONCE):
        ladders: LadderPolynomial = weights.sample(min(AT_ONCE, count - first), generator)
        parts.append(ladders(x)[..., 0])
    return np.asarray(torch.cat(parts).numpy())


def distance(samples: Array, mean: float, deviation: float) -> dict[str, object]:
    """How far samples are from a Gaussian, and their histogram in its standard deviations."""
    from scipy.stats import kstest, kurtosis, skew

    z = (samples - mean) / deviation
    counts, _ = np.histogram(z, BINS, (-5.0, 5.0))
    return {
        "mean": mean,
        "deviation": deviation,
        "sampled_mean": float(samples.mean()),
        "sampled_deviation": float(samples.std(ddof=1)),
        "ks": float(kstest(z, "norm").statistic),
        "skewness": float(skew(z)),
        "kurtosis": float(kurtosis(z)),
        "outside": int(len(z) - counts.sum()),
        "histogram": counts.tolist(),
        "standard_error_of_mean": deviation / math.sqrt(len(z)),
    }
