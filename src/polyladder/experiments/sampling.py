"""Figure 2: the output of a ladder with Gaussian weights, sampled, beside the Gaussian of the same moments."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from polyladder.analysis.moments import GaussianWeights, output_moments
from polyladder.experiments.networks import predicted, prepared_tables, trained
from polyladder.experiments.plan import Task
from polyladder.experiments.scores import Result, score
from polyladder.experiments.sources import Array, fits_of
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.polynomial.ladder import LadderPolynomial

BINS = 60
"""Bars of a histogram, over five standard deviations to both sides."""

AT_ONCE = 500
"""Ladders sampled at a time."""


def run_sampling(group: Sequence[Task]) -> list[list[Result]]:
    """For each task a trained ladder's error and the distances of its sampled outputs from Gaussians."""
    return [[sampling(task)] for task in group]


def sampling(task: Task) -> Result:
    """Train a ladder, take its weights for means, and sample around them."""
    fit = fits_of(task)[0]
    tables = prepared_tables([fit], task.options)
    net, _ = trained([task], [fit.name], tables)
    table = tables[fit.name]
    held_out = table.x[table.count :]
    result = score(task.metric, predicted(net[0], held_out, table), fit.target[fit.test])
    single = net[0]
    assert isinstance(single, LPNN)
    ladder = merge(single.double())
    inputs = np.sort(np.random.RandomState(task.seed).choice(len(held_out), task.options["inputs"], replace=False))
    x = held_out[torch.from_numpy(inputs)].double()
    found = []
    for variance in task.options["variances"]:
        weights = GaussianWeights(mean=ladder, variance=float(variance))
        moments = output_moments(weights, x)
        samples = sampled(weights, x, task.options["samples"], task.seed)
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
