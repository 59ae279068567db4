"""The joint distribution that the Gibbs sampler should leave alone, drawn from directly; a posterior by quadrature."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.polynomial.hermite_e import hermegauss
from torch import Tensor

from polyladder import LadderPolynomial
from polyladder.training.bayes.gibbs import Priors
from polyladder.training.bayes.noise import GammaPrior


@dataclass
class Joint:
    """Independent draws: blocks' precisions (B, 1 or columns), weights, noise precision, degrees, noise slopes."""

    precision: list[Tensor]
    weights: LadderPolynomial
    noise: Tensor
    degrees: Tensor
    slopes: Tensor


def from_the_prior(
    count: int,
    d: int,
    hidden: tuple[int, ...],
    m: int,
    priors: Priors,
    grid: Tensor,
    relevance: bool,
    q: int,
    seed: int,
) -> Joint:
    rng = np.random.default_rng(seed)
    inputs = (d, *hidden)

    def gamma(prior: GammaPrior, *shape: int) -> Tensor:
        return torch.from_numpy(rng.gamma(prior.shape, 1 / prior.rate, size=shape))

    def block(k: int, q: int, by_column: bool) -> tuple[Tensor, Tensor]:
        alpha = gamma(priors.weights, count, q if by_column else 1)
        return alpha, torch.from_numpy(rng.standard_normal((count, k, q))) / alpha.sqrt().unsqueeze(1)

    layers = [block(k, inputs[l] + 1, relevance and l == 0) for l, k in enumerate(hidden)]
    gates = [block(k, d + 1, relevance) for k in hidden]
    readout = block(m, inputs[-1], False)
    weights = LadderPolynomial(
        W=tuple(w[..., :-1] for _, w in layers),
        b=tuple(w[..., -1] for _, w in layers),
        V=tuple(v[..., :-1] for _, v in gates),
        c=tuple(v[..., -1] for _, v in gates),
        readout=readout[1],
        offset=torch.from_numpy(rng.standard_normal((count, m))) * math.sqrt(priors.offset),
    )
    degrees = grid[torch.from_numpy(rng.integers(0, len(grid), (count, m)))]
    precision = [alpha for alpha, _ in (*layers, *gates, readout)]
    slopes = torch.from_numpy(rng.standard_normal((count, m, q))) / gamma(priors.slopes, count, m, 1).sqrt()
    return Joint(precision, weights, gamma(priors.noise, count, m), degrees, slopes)


def student_targets(f: Tensor, noise: Tensor, degrees: Tensor, rng: np.random.Generator) -> Tensor:
    """Targets around outputs f (B, m, n) with precision ``noise`` (B, m, n or 1) and degrees of freedom (B, m)."""
    normal = torch.from_numpy(rng.standard_normal(f.shape)) / noise.sqrt()
    nu = torch.where(degrees.isfinite(), degrees, 1.0).unsqueeze(-1).expand_as(f)
    chi = torch.from_numpy(rng.chisquare(nu.numpy())) / nu
    return f + torch.where(degrees.isfinite().unsqueeze(-1), normal / chi.sqrt(), normal)


def quadrature_mean(x: Tensor, y: Tensor, at: Tensor, variance: float, noise: float, nodes: int = 24) -> Tensor:
    """Posterior mean of f = r (w x + b)(v x + c) + o at rows ``at``, all six weights N(0, variance), known noise.

    r and o enter linearly and are integrated in closed form; the other four by Gauss-Hermite quadrature.
    """
    points, weights = hermegauss(nodes)
    grid = torch.tensor(list(itertools.product(points, repeat=4)), dtype=torch.float64) * math.sqrt(variance)
    mass = torch.tensor([math.prod(p) for p in itertools.product(weights, repeat=4)], dtype=torch.float64)
    w, b, v, c = grid.T.unsqueeze(-1)

    def features(rows: Tensor) -> Tensor:
        unit = (w * rows + b) * (v * rows + c)
        return torch.stack([unit, torch.ones_like(unit)], -1)

    phi = features(x)
    gram = phi.mT @ phi / noise + torch.eye(2, dtype=torch.float64) / variance
    moment = (phi * y[:, None]).sum(1) / noise
    mean = torch.linalg.solve(gram, moment)
    evidence = (moment * mean).sum(-1) / 2 - torch.logdet(gram) / 2 + mass.log()
    return evidence.softmax(0) @ (features(at) @ mean.unsqueeze(-1)).squeeze(-1)
