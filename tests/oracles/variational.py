"""The variational bound by sampling: log-density of data and weights under sampled weights, nothing in closed form."""

from collections.abc import Sequence

import torch
from torch.distributions import Normal

from polyladder import GaussianWeights, LadderPolynomial
from polyladder.training.bayes.variational import VariationalFit


def log_prior_ratio(weights: GaussianWeights, prior: Sequence[torch.Tensor], draws: LadderPolynomial) -> torch.Tensor:
    """log p(w) - log q(w) at every draw. Shape (draws, *batch_shape).

    ``prior`` holds a variance for each block (layers, gates, readout) or one for each of its columns, intercept last.
    """
    depth = len(weights.mean.W)
    names = [(f"W.{l}", f"b.{l}") for l in range(depth)] + [(f"V.{l}", f"c.{l}") for l in range(depth)]
    total: torch.Tensor | float = 0.0
    for (matrix, intercept), variance in zip([*names, ("readout", "offset")], prior, strict=True):

        def joined(p: LadderPolynomial, names: tuple[str, str] = (matrix, intercept)) -> torch.Tensor:
            tensors = p.tensors()
            return torch.cat([tensors[names[0]], tensors[names[1]].unsqueeze(-1)], -1)

        w = joined(draws)
        ours = Normal(joined(weights.mean), joined(weights.variance).sqrt()).log_prob(w)
        theirs = Normal(torch.zeros_like(w), variance.unsqueeze(-2).sqrt()).log_prob(w)
        total = total + (theirs - ours).sum((-2, -1))
    assert isinstance(total, torch.Tensor)
    return total


def sampled_bound(
    fit: VariationalFit, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor, draws: int, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Monte Carlo estimate of the bound and its standard error. Shapes batch_shape."""
    sample = fit.weights.sample(draws, seed=seed)
    fits = Normal(sample(x), fit.noise.unsqueeze(-2).sqrt()).log_prob(y).sum(-1)
    values = (fits * weight).sum(-1) + log_prior_ratio(fit.weights, fit.prior, sample)
    return values.mean(0), values.std(0) / draws**0.5
