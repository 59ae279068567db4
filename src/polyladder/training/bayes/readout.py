"""Draws of a ladder's readout, its layers fixed, under a noise that is learned from rows which its teacher left out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.models.batched import Seeds
from polyladder.training.bayes.gibbs import Priors, drawn_readout
from polyladder.training.bayes.noise import Noise, log_tilt
from polyladder.training.bayes.streams import Streams
from polyladder.training.solves.blocks import readout_equations


@dataclass(frozen=True, eq=False)
class UnseenErrors:
    """Errors at rows that a model had not seen, and what their size may depend on.

    Attributes:
        errors: target less prediction. Shape (r, m).
        noise_features: see `polyladder.sample_gibbs`. Shape (r, q).
        weight: of the rows. Shape (r,).
    """

    errors: Tensor
    noise_features: Tensor
    weight: Tensor


@dataclass(frozen=True, eq=False)
class ReadoutRows:
    """What a readout reads, and what it should say.

    Attributes:
        last: the last states of the layers. Shape (n, k).
        y: targets. Shape (n, m).
        noise_features: as of `UnseenErrors`. Shape (n, q).
        weight: of the rows. Shape (n,).
    """

    last: Tensor
    y: Tensor
    noise_features: Tensor
    weight: Tensor


@dataclass(frozen=True, eq=False)
class ReadoutDraws:
    """Draws of a readout, its offset and the noise.

    Attributes:
        readout: shape (draws, chains, m, k + 1), the offset last.
        noise, degrees: as of `polyladder.GibbsDraws`. Shapes (draws, chains, m).
        slopes: of the noise's log precision. Shape (draws, chains, m, q).
    """

    readout: Tensor
    noise: Tensor
    degrees: Tensor
    slopes: Tensor


@torch.no_grad()
def sample_readout(
    states: ReadoutRows,
    left_out: UnseenErrors,
    start: Tensor,
    *,
    degrees: tuple[float, ...],
    chains: int,
    warmup: int,
    draws: int,
    seed: Seeds,
    priors: Priors | None = None,
) -> ReadoutDraws:
    """Draw the readout from its exact conditional, given layers and noise.

    The layers were fitted to the targets, so errors at these are too small to learn the noise from. Its law is drawn
    given the errors at rows left out, and these alone: nothing of the readout flows back into it.

    Args:
        states: of all rows.
        left_out: errors that the noise is learned from.
        start: the readout that chains start from, the offset last. Shape (m, k + 1).
        degrees: degrees of freedom to choose among; infinity is Gaussian.
        chains: how many.
        warmup: sweeps that are dropped.
        draws: sweeps that are kept.
        seed: of the chains, see `polyladder.sample_gibbs`.
        priors: see `Priors`.
    """
    priors = Priors() if priors is None else priors
    streams = Streams(seed, (chains,), states.last.device)
    errors, seen = left_out.errors.mT.unsqueeze(0), left_out.weight.unsqueeze(0)
    first = (seen.sum() / (seen.unsqueeze(1) * errors.square()).sum(-1).clamp_min(priors.noise.rate)).expand(chains, -1)
    noise = Noise(
        errors,
        errors.new_tensor(degrees),
        priors.noise,
        first,
        left_out.noise_features.mT.contiguous(),
        priors.slopes,
    )
    none = torch.zeros_like(errors).expand(chains, -1, -1)
    h = torch.cat([states.last, states.last.new_ones(len(states.last), 1)], 1).mT.contiguous()
    y, weight, phi = states.y.mT.unsqueeze(0), states.weight.reshape(1, 1, -1), states.noise_features.mT
    readout, kept = start.expand(chains, -1, -1), []
    for number in range(warmup + draws):
        noise.renew(none, seen, streams)
        scale, nu, slopes = noise.kept()
        root = (log_tilt(slopes @ phi) / 2).exp() / scale.unsqueeze(-1)
        relative = row_precisions((root * (y - readout @ h)).square(), nu, weight, noise.grid, streams)
        accuracy = weight * relative * root.square()
        inner = readout[..., :-1].flatten(1)
        shape = torch.full_like(inner[:, :1], priors.weights.shape + inner.shape[1] / 2)
        precision = streams.gamma(shape, priors.weights.rate + inner.square().sum(1, keepdim=True) / 2)
        one = y.new_ones(1)
        equations = [
            readout_equations(h.expand(chains, -1, -1), y[:, o : o + 1].expand(chains, -1, -1), accuracy[:, o], one)
            for o in range(y.shape[1])
        ]
        readout = drawn_readout(equations, precision, priors.offset, streams)
        if number >= warmup:
            kept.append((readout, scale, nu, slopes))
    return ReadoutDraws(*(torch.stack(each) for each in zip(*kept, strict=True)))


def row_precisions(squares: Tensor, degrees: Tensor, weight: Tensor, grid: Tensor, streams: Streams) -> Tensor:
    """The weights of rows that make Gaussian noise Student's, drawn given squares in units of the noise. (B, m, n)."""
    if not bool(grid.isfinite().any()):
        return torch.ones_like(squares)
    nu = degrees.unsqueeze(-1)
    finite = torch.where(nu.isfinite(), nu, 1.0)
    drawn = streams.gamma((finite + weight).expand_as(squares) / 2, (finite + weight * squares) / 2)
    return torch.where(nu.isfinite(), drawn, 1.0)
