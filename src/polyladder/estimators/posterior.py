"""Draws of everything that is not known, and what they say about their own quality and about predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights
from polyladder.estimators.rows import TrainingRows
from polyladder.fitted.answers import Draws
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.predictive.mixture import StudentMixture
from polyladder.training.bayes.gibbs import GibbsDraws

Array = np.ndarray[Any, np.dtype[np.float64]]

AGREEING = 1.1
"""Chains whose split R-hat at a prediction is above this disagree about it."""

FEW = 0.05
"""Share of the predictions at which chains may disagree and still count as settled; chance alone makes some."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of everything that is not known, all chains together; a chain's draws follow each other.

    Attributes:
        weights: ladders over the transformed features, targets standardized. Batch shape (draws,).
        noise: scale of the noise at a row of mean features, in units of the standardized target. Shape (draws, m).
        degrees: degrees of freedom of the noise; infinity is Gaussian. Shape (draws, m).
        slopes: of the noise's log precision on the transformed features and their squares
            (`polyladder.training.bayes.noise.noise_columns`). Shape (draws, m, 2 d), or (draws, m, 0) where it is the
            same everywhere.
        precision: prior precision of each block: layers, gates, readout; the same in all draws of a start where
            inference is not by chains. Shapes (draws, 1), or (draws, columns) with ``relevance``. Infinite for draws of
            a selected ladder, whose layers are fixed.
        chains: how many chains there were.
    """

    weights: LadderPolynomial
    noise: Tensor
    degrees: Tensor
    slopes: Tensor
    precision: tuple[Tensor, ...]
    chains: int

    def __repr__(self) -> str:
        return f"Posterior({len(self.weights)} draws from {self.chains} chains of {self.weights!r})"

    @property
    def answer(self) -> Draws:
        """What becomes of the outputs of the draws, in standardized units and without a guard."""
        return Draws(None, self.noise.numpy(), self.degrees.numpy(), self.slopes.numpy())

    def mixture(self, z: Tensor) -> StudentMixture:
        """The distribution of a new standardized target at transformed rows z (n, d)."""
        return self.answer.distribution(evaluate(self.weights, z), z)


class Diagnostics(NamedTuple):
    """How well the chains mixed, judged at predictions of up to 200 training rows; weights are not identified.

    Attributes:
        rhat: split R-hat of each. Shape (rows, m); NaN where all draws say the same.
        effective_draws: effective sample size of each. Shape (rows, m).
        draws: how many draws there are.
    """

    rhat: Array
    effective_draws: Array
    draws: int

    @property
    def disagreeing(self) -> float:
        """The share of the predictions whose R-hat is above `AGREEING`."""
        return float((self.rhat > AGREEING).mean())

    @property
    def settled(self) -> bool:
        """Whether the chains agree at all but a few of the predictions."""
        return self.disagreeing <= FEW

    @property
    def summary(self) -> str:
        """The largest R-hat and the fewest effective draws, with their medians, in words."""
        told = self.rhat[~np.isnan(self.rhat)]
        if not told.size:
            return f"all {self.draws} draws predict the same"
        sizes = self.effective_draws[~np.isnan(self.rhat)]
        return (
            f"R-hat is up to {told.max():.2f} (median {np.median(told):.2f}) and above {AGREEING:g} at "
            f"{self.disagreeing:.0%} of {self.rhat.size} predictions; as few as {sizes.min():.0f} of {self.draws} "
            f"draws are effective (median {np.median(sizes):.0f})"
        )

    def __repr__(self) -> str:
        return f"Diagnostics({self.summary})"


class Uncertainty(NamedTuple):
    """Where the uncertainty of each prediction comes from.

    Attributes:
        weights: what more data would remove.
        noise: what would remain.
    """

    weights: Array
    noise: Array


def posterior_of(found: GibbsDraws, chains: int) -> Posterior:
    """The draws of all chains, those of one chain after another."""
    return Posterior(
        found.weights.map(chain_by_chain),
        chain_by_chain(found.noise),
        chain_by_chain(found.degrees),
        chain_by_chain(found.slopes),
        tuple(chain_by_chain(t) for t in found.precision),
        chains,
    )


def posterior_of_weights(
    weights: GaussianWeights, noise: Tensor, prior: tuple[Tensor, ...], draws: int, seed: int
) -> Posterior:
    """Draws of independent Gaussian weights, as many of each start, as if every start were a chain.

    Args:
        weights: batch shape (chains,).
        noise: variance of Gaussian noise. Shape (chains, m).
        prior: variances. Shapes (chains, 1) or (chains, columns).
        draws: of each start.
        seed: of the draws.
    """
    drawn = weights.sample(draws, seed).map(chain_by_chain)
    scale = chain_by_chain(noise.sqrt().expand(draws, *noise.shape))
    slopes = scale.new_zeros(*scale.shape, 0)
    precision = tuple(chain_by_chain((1 / each).expand(draws, *each.shape)) for each in prior)
    return Posterior(drawn, scale, torch.full_like(scale, torch.inf), slopes, precision, len(noise))


def chain_by_chain(t: Tensor) -> Tensor:
    """From (draws, chains, ...) to (chains * draws, ...): a chain's draws follow each other."""
    return t.transpose(0, 1).flatten(0, 1)


def repeated(rows: TrainingRows) -> TrainingRows:
    """Rows of whole weights, repeated as often as those say; others as they are.

    Every repetition has latent variables of its own, so a weight alone could not stand for it.
    """
    if rows.weight is None or not rows.repeated:
        return rows
    positions = torch.arange(len(rows.z)).repeat_interleave(rows.weight.long())
    return replace(rows.take(positions), weight=None)


def in_order(rows: TrainingRows) -> TrainingRows:
    """The rows sorted and rounded to single precision, so that a fit does not depend on their order.

    Latent variables are drawn row by row, and sweeps on few rows amplify differences in the last digit, such as those
    between the mean of repeated and of weighted rows, until the chains have nothing in common.
    """
    z = rows.z.float().double()
    y = rows.y.float().double() if rows.y.is_floating_point() else rows.y
    keys = torch.cat([z, y.reshape(len(z), -1).double()], 1)
    order = torch.from_numpy(np.lexsort(keys.T.numpy()))
    weight = None if rows.weight is None else rows.weight[order]
    return replace(rows, z=z[order], y=y[order], weight=weight)
