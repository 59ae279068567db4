"""Convergence of Markov chains: rank-normalized split R-hat, effective sample size, and the way to ArviZ.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved R-hat
for assessing convergence of MCMC" (Bayesian Analysis 16, 2021), with the definitions that ArviZ and Stan use.

The weights of a ladder are not identified: a unit can be rescaled against its reader, and units can be permuted. Give
these functions what is identified: predictions, the noise variance, the log-density.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import check_tensor


def split_rhat(draws: Tensor) -> Tensor:
    """Rank-normalized split R-hat: the larger of its bulk and its folded (tail) version.

    Near 1 when all halves of all chains agree; above 1.01 the chains should be run for longer.

    Args:
        draws: Shape (chains, draws, ...), at least four draws per chain. One chain is allowed: it is split in two.

    Returns:
        Shape (...). NaN where a draw is not finite or where all draws are equal.
    """
    halves = split(checked(draws))
    value = torch.maximum(plain_rhat(rank_normalized(halves)), plain_rhat(rank_normalized(fold(halves))))
    return masked(value, draws)


def effective_sample_size(draws: Tensor) -> Tensor:
    """Bulk effective sample size: how many independent draws would give the same precision of the (ranked) mean.

    Autocorrelations of the rank-normalized halves of all chains are summed along Geyer's initial monotone sequence.

    Args:
        draws: Shape (chains, draws, ...), at least four draws per chain.

    Returns:
        Shape (...), at most N log10(N) for N draws in all (antithetic chains can exceed N); N where all draws are
        equal, NaN where one is not finite.
    """
    halves = rank_normalized(split(checked(draws)))
    chains, n = halves.shape[:2]
    total = chains * n
    covariance = autocovariance(halves)  # (chains, n, ...)
    within = covariance[:, 0].mean(0) * n / (n - 1)
    pooled_variance = within * (n - 1) / n
    if chains > 1:
        pooled_variance = pooled_variance + halves.mean(1).var(0)
    # Correlation at every lag, of all chains together: what the spread between chains adds does not decay with the lag.
    rho = 1 - (within - covariance.mean(0)) / pooled_variance
    rho[0] = 1.0
    tau = initial_monotone_sum(rho)
    size = total / tau.clamp_min(1 / math.log10(total))
    constant = pooled(halves == halves[:1, :1]).all(0)
    return masked(torch.where(constant, torch.full_like(size, float(total)), size), draws)


def to_arviz(posterior: Mapping[str, Tensor], **groups: Mapping[str, Tensor]) -> Any:
    """Hand draws over to ArviZ, for its plots, tables, LOO and comparisons.

    Args:
        posterior: named draws. Shapes (chains, draws, ...).
        groups: further groups of named arrays, such as ``log_likelihood`` (chains, draws, n), ``posterior_predictive``
            (chains, draws, n) or ``observed_data`` (n,).

    Returns:
        An ``arviz.InferenceData``.
    """
    try:
        import arviz
    except ImportError as error:
        raise ImportError("to_arviz needs ArviZ; install it with pip install 'polyladder[bayes]'.") from error
    arrays: dict[str, Any] = {
        group: {name: t.detach().cpu().numpy() for name, t in named.items()}
        for group, named in {"posterior": posterior, **groups}.items()
    }
    return arviz.from_dict(**arrays)


def checked(draws: Tensor) -> Tensor:
    """The draws in float64, if their shape is one of chains."""
    check_tensor("draws", draws)
    if draws.dim() < 2 or draws.shape[0] < 1 or draws.shape[1] < 4:
        raise ValueError(
            f"draws must have shape (chains, draws, ...) with at least 4 draws; got shape {tuple(draws.shape)}."
        )
    return draws.detach().to(torch.float64)


def masked(value: Tensor, draws: Tensor) -> Tensor:
    """NaN wherever a draw was not finite."""
    finite = draws.isfinite().flatten(0, 1).all(0)
    return torch.where(finite, value, torch.full_like(value, torch.nan))


def split(draws: Tensor) -> Tensor:
    """Each chain as two, the middle draw of an odd number left out. Shape (2 chains, draws // 2, ...)."""
    half = draws.shape[1] // 2
    return torch.cat([draws[:, :half], draws[:, -half:]])


def fold(halves: Tensor) -> Tensor:
    """Distance of every draw from the median of all: large in both tails. Shape as given."""
    ordered = pooled(halves).sort(0).values
    middle = len(ordered) // 2  # An even number of draws: the median lies between two.
    return (halves - (ordered[middle - 1] + ordered[middle]) / 2).abs()


def pooled(halves: Tensor) -> Tensor:
    """The draws of all chains one after another. Shape (chains * draws, ...)."""
    return halves.flatten(0, 1)


def rank_normalized(halves: Tensor) -> Tensor:
    """Normal scores of the ranks among the draws of all chains, ties given their mean rank. Shape as given."""
    n = halves.shape[0] * halves.shape[1]
    values = halves.reshape(n, -1).mT.contiguous()
    ordered = values.sort(-1).values
    # The mean rank of a tie is the mean of its first and last position.
    first = torch.searchsorted(ordered, values, right=False)
    last = torch.searchsorted(ordered, values, right=True)
    rank = (first + 1 + last).to(torch.float64) / 2
    scores: Tensor = torch.special.ndtri((rank - 0.375) / (n + 0.25))
    return scores.mT.reshape(halves.shape)


def plain_rhat(halves: Tensor) -> Tensor:
    """Gelman and Rubin's ratio of the pooled to the within-chain standard deviation. Shape (...)."""
    n = halves.shape[1]
    within = halves.var(1).mean(0)
    between = halves.mean(1).var(0)
    return ((between + within * (n - 1) / n) / within).sqrt()


def autocovariance(halves: Tensor) -> Tensor:
    """Of every chain at every lag, divided by n at each (which damps long lags). Shape as given."""
    n = halves.shape[1]
    centered = halves - halves.mean(1, keepdim=True)
    # Zero padding to twice the length makes the circular correlation of the Fourier transform a plain one.
    spectrum = torch.fft.rfft(centered, 2 * n, dim=1)
    return torch.fft.irfft(spectrum.abs().square(), 2 * n, dim=1)[:, :n] / n


def initial_monotone_sum(rho: Tensor) -> Tensor:
    """Autocorrelation time by Geyer's initial monotone sequence.

    Sums of neighboring lags (2 t, 2 t + 1) are positive and fall for a reversible chain. Estimates of them are taken
    up to the first that is not positive, and none may exceed the one before it.

    Args:
        rho: autocorrelations from lag 0 on. Shape (lags, ...).
    """
    # As in Stan and ArviZ, the last lags, averages of few products, are not used.
    count = max(0, (rho.shape[0] - 3) // 2)
    even, odd = rho[0 : 2 * count + 2 : 2], rho[1 : 2 * count + 1 : 2]
    pairs = even[:count] + odd
    positive = (pairs > 0).to(rho.dtype).cumprod(0)
    # The first half of the pair after the sequence still counts once where it is positive: without it, chains of
    # negative autocorrelation would end a term too early.
    after = even.gather(0, positive.sum(0, keepdim=True).long()).squeeze(0).clamp_min(0)
    if not count:
        return after - 1
    return -1 + 2 * (pairs.cummin(0).values * positive).sum(0) + after
