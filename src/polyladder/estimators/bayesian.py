"""`BayesianLPNNRegressor` and `BayesianLPNNClassifier`: posteriors over ladders behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.data.features import KINDS
from polyladder.estimators.base import (
    GUARD,
    Rows,
    TableClassifier,
    TableEstimator,
    TableRegressor,
    check_choice,
    check_number,
    evaluate,
    seeds_from,
)
from polyladder.estimators.progress import Progress
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.widen import widen
from polyladder.training.alternating import fit_alternating, random_start
from polyladder.training.diagnostics import effective_sample_size, split_rhat
from polyladder.training.gibbs import sample_gibbs
from polyladder.training.growth import Growth
from polyladder.training.mixture import StudentMixture, waic
from polyladder.training.noise import log_tilt, noise_columns
from polyladder.training.probit import class_probabilities

Array = np.ndarray[Any, np.dtype[np.float64]]

MANY_ROWS = 4000
"""From so many rows on the defaults are larger ladders, and fewer sweeps of them."""

START_SWEEPS = 8
"""Sweeps of block solves before the first draw."""

MEAN_DRAWS = 50
"""Draws, evenly spread over all of them, whose mean ``polynomial_`` is."""

DIAGNOSED_ROWS = 200
"""Training rows, evenly spread, at whose predictions the chains are compared."""

SUREST = 6.0
"""How far, in units of the latent noise, a draw's outputs may lie on one side: a chance of one in a billion. In an
empty corner they would grow without bound, and with them the price of being wrong."""


@dataclass(frozen=True)
class Posterior:
    """Draws of everything that is not known, all chains together; a chain's draws follow each other.

    Attributes:
        weights: ladders over the transformed features, targets standardized. Batch shape (draws,).
        noise: scale of the noise at a row of mean features, in units of the standardized target. Shape (draws, m).
        degrees: degrees of freedom of the noise; infinity is Gaussian. Shape (draws, m).
        slopes: of the noise's log precision on the transformed features and their squares
            (`polyladder.training.noise.noise_columns`). Shape (draws, m, 2 d), or (draws, m, 0) where it is the same
            everywhere.
        precision: prior precision of each block: layers, gates, readout. Shapes (draws, 1), or (draws, columns) with
            ``relevance``; empty for variational inference.
        chains: how many chains there were.
    """

    weights: LadderPolynomial
    noise: Tensor
    degrees: Tensor
    slopes: Tensor
    precision: tuple[Tensor, ...]
    chains: int

    def noise_scale(self, z: Tensor) -> Tensor:
        """Scale of the noise at transformed rows z (n, d).

        Shape (draws, n, m), or (draws, 1, m) where it is the same everywhere.
        """
        if not self.slopes.shape[-1]:
            return self.noise.unsqueeze(1)
        return self.noise.unsqueeze(1) * (-log_tilt(noise_columns(z) @ self.slopes.mT) / 2).exp()

    def mixture(self, z: Tensor) -> StudentMixture:
        """The distribution of a new standardized target at transformed rows z (n, d)."""
        return StudentMixture.equal(evaluate(self.weights, z), self.noise_scale(z), self.degrees.unsqueeze(1))


class Diagnostics(NamedTuple):
    """How well the chains mixed, judged at predictions of up to 200 training rows; weights are not identified.

    Attributes:
        rhat: split R-hat of each. Shape (rows, m).
        effective_draws: effective sample size of each. Shape (rows, m).
        draws: how many draws there are.
    """

    rhat: Array
    effective_draws: Array
    draws: int


class Uncertainty(NamedTuple):
    """Where the uncertainty of each prediction comes from.

    Attributes:
        weights: what more data would remove.
        noise: what would remain.
    """

    weights: Array
    noise: Array


class BayesianEstimator(TableEstimator):
    """What regression and classification share: from rows to a posterior."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw from the posterior, given a table.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,), or (n, m) for regression on several targets
        sample_weight : array-like of shape (n,), default=None
            Whole numbers, up to a mean of 10, count as repetitions of the rows. Of all other weights only the ratios
            matter.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = in_order(repeated(self._prepare(X, y, sample_weight)))
        seed = seeds_from(self.random_state, 1)[0]
        order = self._choose_order(rows, seed) if self.order == "auto" else int(self.order)
        warmup, draws = self._lengths(rows)
        self.posterior_ = self._posterior(rows, order, int(self.chains), warmup, draws, seed)
        self.order_ = order
        self.diagnostics_ = self._diagnose(rows)
        self.__dict__.pop("polynomial_", None)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "order", int, 2, "auto")
        check_number(self, "width", int, 1, "auto")
        check_number(self, "chains", int, 1)
        check_number(self, "warmup", int, 0, "auto")
        check_number(self, "draws", int, 4, "auto")
        check_choice(self, "features", KINDS)
        check_choice(self, "missing", ("error", "impute"))

    def _lengths(self, rows: Rows) -> tuple[int, int]:
        usual = 50 if len(rows.z) < MANY_ROWS else 25
        return tuple(usual if n == "auto" else int(n) for n in (self.warmup, self.draws))  # type: ignore[return-value]

    def _hidden(self, rows: Rows, order: int) -> tuple[int, ...]:
        width = (8 if len(rows.z) < MANY_ROWS else 12) if self.width == "auto" else int(self.width)
        return (width,) * (order - 1)

    def _starts(self, rows: Rows, order: int, chains: int, seed: int) -> LadderPolynomial:
        """Ladders from random weights and a few sweeps of block solves, one a chain."""
        seeds = [seed + i for i in range(chains)]
        start = random_start(rows.z.shape[1], self._hidden(rows, order), rows.outputs, seeds, chains)
        y, loss = self._alternating_target(rows)
        return fit_alternating(start, rows.z, y, loss=loss, weight=rows.weight, sweeps=START_SWEEPS).polynomial

    def _posterior(self, rows: Rows, order: int, chains: int, warmup: int, draws: int, seed: int) -> Posterior:
        start = self._starts(rows, order, chains, seed)
        progress = Progress(bool(self.verbose), f"{type(self).__name__} order {order}")
        with progress.of(warmup + draws):
            found = sample_gibbs(
                start,
                rows.z,
                rows.y if rows.outputs > 1 or rows.y.is_floating_point() else 2 * rows.y.double() - 1,
                **self._likelihood(rows),
                weight=rows.weight,
                relevance=bool(self.relevance),
                warmup=warmup,
                draws=draws,
                seed=seed,
                progress=lambda _, noise: progress.step(1, noise),
            )
        return Posterior(
            found.weights.map(chain_by_chain),
            chain_by_chain(found.noise),
            chain_by_chain(found.degrees),
            chain_by_chain(found.slopes),
            tuple(chain_by_chain(t) for t in found.precision),
            chains,
        )

    def _choose_order(self, rows: Rows, seed: int) -> int:
        """Walk up the orders until WAIC, the expected log density of a new row, has not risen for one of them."""
        tried: list[int] = []
        scores: list[float] = []
        warmup, draws = self._lengths(rows)
        for order in range(2, 9):
            found = self._posterior(rows, order, 2, warmup // 2, max(4, draws // 2), seed)
            scores.append(float(waic(self._log_densities(found, rows)).mean()))
            tried.append(order)
            if scores[-1] < max(scores):
                break
        self.growth_ = Growth(tuple(tried), tuple(-s for s in scores), 0.0)
        return tried[int(np.argmax(scores))]

    def _diagnose(self, rows: Rows) -> Diagnostics:
        posterior = self.posterior_
        positions = torch.linspace(0, len(rows.z) - 1, min(DIAGNOSED_ROWS, len(rows.z))).long()
        f = evaluate(posterior.weights, rows.z[positions])
        each = f.reshape(posterior.chains, -1, *f.shape[1:])
        return Diagnostics(split_rhat(each).numpy(), effective_sample_size(each).numpy(), len(f))

    @cached_property
    def polynomial_(self) -> LadderPolynomial:
        """The posterior mean function as one wide ladder: the mean of 50 draws, or of all if there are fewer."""
        if not hasattr(self, "posterior_"):
            raise AttributeError(f"This {type(self).__name__} has no attribute 'polynomial_' before it is fitted.")
        count = len(self.posterior_.weights)
        some = torch.linspace(0, count - 1, min(MEAN_DRAWS, count)).long()
        return self._in_target_units(widen(self.posterior_.weights[some]))

    def _alternating_target(self, rows: Rows) -> tuple[Tensor, Any]:
        raise NotImplementedError

    def _likelihood(self, rows: Rows) -> dict[str, Any]:
        raise NotImplementedError

    def _log_densities(self, posterior: Posterior, rows: Rows) -> Tensor:
        """Log density of each training row under each draw. Shape (draws, n)."""
        raise NotImplementedError


class BayesianLPNNRegressor(BayesianEstimator, TableRegressor):
    """Regression by a posterior over ladders, with error bars.

    Every block of a ladder is drawn from its exact conditional posterior, one after the other; ridge weights and the
    noise are drawn along. Nothing has to be tuned.

    Parameters
    ----------
    order : int >= 2 or "auto", default=6
        Order of the polynomial: number of layers + 1. "auto" walks up from 2 while WAIC rises; the walk is kept in
        ``growth_``.
    width : int or "auto", default="auto"
        Units a layer. "auto" is 8, from 4,000 rows on 12.
    inference : {"gibbs", "variational"}, default="gibbs"
        "variational" fits independent Gaussian weights by an exact bound and draws from those.
    noise : {"auto", "student", "gaussian"}, default="auto"
        "student" noise, with ``degrees`` of freedom, forgives outliers. "auto" draws the degrees of freedom, Gaussian
        noise among them.
    degrees : float, default=4
        Degrees of freedom of ``noise="student"``, more than 2.
    heteroscedastic : bool, default=True
        Let the logarithm of the noise precision change with the features and their squares, as far as the rows ask.
        False gives all rows the same say in the fit.
    chains : int, default=4
        Independent chains, from different starts.
    warmup, draws : int or "auto", default="auto"
        Sweeps of each chain that are forgotten, and that are kept. "auto" is 50, from 4,000 rows on 25.
    relevance : bool, default=False
        One prior precision for each input column instead of one for each block.
    features : {"standard", "quantile", "yeo-johnson"}, default="standard"
        How numeric columns are scaled.
    clip : bool, default=True
        Hold inputs to their training range; outside of it a polynomial grows without bound.
    missing : {"error", "impute"}, default="error"
        Whether missing numbers are refused, or replaced by the median with an indicator.
    guard : bool, default=True
        Believe, at each row, only draws within the range of the training targets, widened by a tenth on both sides.
    random_state : int, RandomState instance or None, default=None
        Seeds of the chains.
    verbose : int, default=0
        1 shows one moving line.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of the weights, the noise and the precisions.
    polynomial_ : LadderPolynomial
        The posterior mean function over the transformed features, one wide ladder.
    diagnostics_ : Diagnostics
        R-hat and effective sample size of predictions.
    order_ : int
        The order used.
    growth_ : Growth
        With ``order="auto"``: the orders tried and their negative WAIC a row.
    features_ : Features
        The transformer in front of the polynomial.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import BayesianLPNNRegressor
    >>> X, y = make_friedman1(300, noise=1.0, random_state=0)
    >>> model = BayesianLPNNRegressor(order=4, chains=2, random_state=0).fit(X[:200], y[:200])
    >>> low, high = model.predict_interval(X[200:], level=0.9)
    >>> bool(0.8 < ((low < y[200:]) & (y[200:] < high)).mean() < 1)
    True
    """

    def __init__(
        self,
        order: int | Literal["auto"] = 6,
        width: int | Literal["auto"] = "auto",
        inference: Literal["gibbs", "variational"] = "gibbs",
        noise: Literal["auto", "student", "gaussian"] = "auto",
        degrees: float = 4.0,
        heteroscedastic: bool = True,
        chains: int = 4,
        warmup: int | Literal["auto"] = "auto",
        draws: int | Literal["auto"] = "auto",
        relevance: bool = False,
        features: Literal["standard", "quantile", "yeo-johnson"] = "standard",
        clip: bool = True,
        missing: Literal["error", "impute"] = "error",
        guard: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.width = width
        self.inference = inference
        self.noise = noise
        self.degrees = degrees
        self.heteroscedastic = heteroscedastic
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.relevance = relevance
        self.features = features
        self.clip = clip
        self.missing = missing
        self.guard = guard
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "inference", ("gibbs", "variational"))
        check_choice(self, "noise", ("auto", "student", "gaussian"))
        check_number(self, "degrees", float, 2.0, open_low=True)

    def _alternating_target(self, rows: Rows) -> tuple[Tensor, Any]:
        return rows.y, "squared"

    def _likelihood(self, rows: Rows) -> dict[str, Any]:
        options = {"noise_features": noise_columns(rows.z)} if self.heteroscedastic else {}
        if self.noise == "gaussian":
            return {"likelihood": "gaussian", **options}
        return {"likelihood": "student", "degrees": None if self.noise == "auto" else float(self.degrees), **options}

    def _posterior(self, rows: Rows, order: int, chains: int, warmup: int, draws: int, seed: int) -> Posterior:
        if self.inference == "gibbs":
            return super()._posterior(rows, order, chains, warmup, draws, seed)
        from polyladder.training.variational import fit_variational

        start = self._starts(rows, order, chains, seed)
        found = fit_variational(start, rows.z, rows.y, weight=rows.weight, seed=seed)
        weights = found.weights.sample(draws, seed).map(chain_by_chain)
        noise = found.noise.sqrt().reshape(1, chains, -1).expand(draws, -1, rows.outputs)
        scale = chain_by_chain(noise)
        slopes = scale.new_zeros(*scale.shape, 0)
        return Posterior(weights, scale, torch.full_like(scale, torch.inf), slopes, (), chains)

    def _log_densities(self, posterior: Posterior, rows: Rows) -> Tensor:
        return posterior.mixture(rows.z).log_densities(rows.y).sum(-1)

    def _mixture(self, X: Any) -> StudentMixture:
        """The predictive distribution in target units."""
        z = self._transformed(X)  # which asks first whether there is a posterior
        standard = self.posterior_.mixture(z)
        mixture = StudentMixture.equal(
            standard.center * self.target_scale_ + self.target_mean_,
            standard.scale * self.target_scale_,
            standard.degrees,
        )
        if not self.guard:
            return mixture
        margin = GUARD * (self.target_high_ - self.target_low_)
        return mixture.within(self.target_low_ - margin, self.target_high_ + margin)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the target: the median over the draws, which a draw that explodes in an empty corner cannot move.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        return_std : bool, default=False
            Also return the standard deviation of a new observation.
        return_cov : bool, default=False
            Also return its covariance over the outputs.

        Returns
        -------
        y : ndarray of shape (n,) or (n, m)
        std : ndarray of shape (n,) or (n, m)
        cov : ndarray of shape (n, m, m)
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov must not both be True; the covariance holds the variances.")
        mixture = self._mixture(X)
        y = self._shaped(mixture.median())
        if return_cov or return_std:
            covariance = mixture.weights_covariance() + torch.diag_embed(mixture.noise_variance())
            if return_cov:
                return y, covariance.numpy()
            return y, self._shaped(covariance.diagonal(dim1=-2, dim2=-1).sqrt())
        return y

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Standard deviations of what the weights and what the noise contribute to a new observation.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        Uncertainty
            ``weights`` and ``noise``, each of shape (n,) or (n, m); their squares add up to the variance of `predict`.
        """
        mixture = self._mixture(X)
        weights = mixture.weights_covariance().diagonal(dim1=-2, dim2=-1)
        return Uncertainty(self._shaped(weights.sqrt()), self._shaped(mixture.noise_variance().sqrt()))

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """The central interval that holds a new observation with the given probability.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        level : float in (0, 1), default=0.9

        Returns
        -------
        low, high : ndarrays of shape (n,) or (n, m)
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1; got {level!r}.")
        mixture = self._mixture(X)
        low, high = (self._shaped(mixture.quantile(0.5 + side * level / 2)) for side in (-1, 1))
        return low, high

    def log_likelihood(self, X: Any, y: Any) -> Array:
        """Log density of each row's targets under the mixture of all draws, in target units.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, m)

        Returns
        -------
        ndarray of shape (n,)
        """
        mixture = self._mixture(X)
        target = torch.tensor(self._read_target(y, fresh=False)).reshape(mixture.center.shape[1:])
        return np.asarray(mixture.log_density(target).numpy())

    def sample(self, X: Any, n: int = 1) -> Array:
        """New observations at each row: weights and noise from the posterior, by ``random_state``.

        Parameters
        ----------
        X : array-like or data frame of shape (rows, d)
        n : int, default=1

        Returns
        -------
        ndarray of shape (n, rows) or (n, rows, m)
        """
        generator = torch.Generator().manual_seed(seeds_from(self.random_state, 2)[1])
        return self._shaped(self._mixture(X).sample(n, generator))

    def _shaped(self, t: Tensor) -> Array:
        return np.asarray((t[..., 0] if self._flat_target else t).numpy())


class BayesianLPNNClassifier(BayesianEstimator, TableClassifier):
    """Classification by a posterior over ladders: probit, with two classes or several.

    A class is the sign, or the largest, of the ladder's outputs plus standard normal noise. Given the noisy outputs the
    ladder is a regression, whose blocks are drawn exactly.

    Parameters are those of `BayesianLPNNRegressor`, without ``inference``, ``noise``,
    ``degrees``, ``heteroscedastic`` and ``guard``.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    posterior_ : Posterior
        Draws of the weights and the precisions.
    polynomial_ : LadderPolynomial
        The posterior mean of the outputs, one wide ladder.
    diagnostics_ : Diagnostics
        R-hat and effective sample size of outputs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import BayesianLPNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianLPNNClassifier(order=2, chains=2, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        order: int | Literal["auto"] = 3,
        width: int | Literal["auto"] = "auto",
        chains: int = 4,
        warmup: int | Literal["auto"] = "auto",
        draws: int | Literal["auto"] = "auto",
        relevance: bool = False,
        features: Literal["standard", "quantile", "yeo-johnson"] = "standard",
        clip: bool = True,
        missing: Literal["error", "impute"] = "error",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.width = width
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.relevance = relevance
        self.features = features
        self.clip = clip
        self.missing = missing
        self.random_state = random_state
        self.verbose = verbose

    def _alternating_target(self, rows: Rows) -> tuple[Tensor, Any]:
        if rows.outputs == 1:
            return 2.0 * rows.y.double() - 1.0, "logistic"
        return torch.nn.functional.one_hot(rows.y, rows.outputs).double(), "softmax"

    def _likelihood(self, rows: Rows) -> dict[str, Any]:
        return {"likelihood": "probit"}

    def _log_densities(self, posterior: Posterior, rows: Rows) -> Tensor:
        each = class_probabilities(evaluate(posterior.weights, rows.z))
        return each.gather(-1, rows.y.reshape(1, -1, 1).expand(len(each), -1, 1)).squeeze(-1).log()

    def _draws(self, X: Any) -> Tensor:
        """Outputs of every draw, none of them surer than `SUREST`. Shape (draws, n, m)."""
        z = self._transformed(X)
        f = evaluate(self.posterior_.weights, z)
        if f.shape[-1] == 1:
            return f.clamp(-SUREST, SUREST)
        return (f - f.amax(-1, keepdim=True)).clamp_min(-SUREST)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, the mean over the draws. Shape (n, classes)."""
        return np.asarray(class_probabilities(self._draws(X)).mean(0).numpy())

    def decision_function(self, X: Any) -> Array:
        """What Phi maps to the probability of the second class (n,), or log probabilities (n, classes)."""
        check_is_fitted(self)
        p = torch.from_numpy(self.predict_proba(X))
        if len(self.classes_) > 2:
            return np.asarray(p.log().numpy())
        # From the smaller of the two, which is the more accurate one.
        score = torch.where(p[:, 1] < 0.5, torch.special.ndtri(p[:, 1]), -torch.special.ndtri(p[:, 0]))
        return np.asarray(score.numpy())

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Entropy of the class, in nats, split in two.

        ``noise`` is the mean entropy of a single draw, ``weights`` what the draws' disagreement adds to it: the
        information that the class of this row would give about the weights.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        Uncertainty
            Both of shape (n,).
        """
        each = class_probabilities(self._draws(X))
        noise = torch.special.entr(each).sum(-1).mean(0)
        total = torch.special.entr(each.mean(0)).sum(-1)
        return Uncertainty((total - noise).clamp_min(0).numpy(), noise.numpy())

    def log_likelihood(self, X: Any, y: Any) -> Array:
        """Log probability of each row's class. Shape (n,)."""
        p = self.predict_proba(X)
        return np.log(p[np.arange(len(p)), self._read_target(y, fresh=False)])

    def sample(self, X: Any, n: int = 1) -> np.ndarray[Any, Any]:
        """Classes of each row, each from a draw of its own, by ``random_state``. Shape (n, rows)."""
        each = class_probabilities(self._draws(X))
        generator = torch.Generator().manual_seed(seeds_from(self.random_state, 2)[1])
        rows = each.shape[1]
        which = torch.randint(len(each), (n, rows), generator=generator)
        p = each[which, torch.arange(rows)].reshape(n * rows, -1)
        return self.classes_[torch.multinomial(p, 1, generator=generator).reshape(n, rows).numpy()]


def chain_by_chain(t: Tensor) -> Tensor:
    """From (draws, chains, ...) to (chains * draws, ...): a chain's draws follow each other."""
    return t.transpose(0, 1).flatten(0, 1)


def repeated(rows: Rows) -> Rows:
    """Rows of whole weights, repeated as often as those say; others as they are.

    Every repetition has latent variables of its own, so a weight alone could not stand for it.
    """
    if rows.weight is None or not rows.repeated:
        return rows
    positions = torch.arange(len(rows.z)).repeat_interleave(rows.weight.long())
    return Rows(rows.z[positions], rows.y[positions], None, rows.outputs)


def in_order(rows: Rows) -> Rows:
    """The rows sorted and rounded to single precision, so that a fit does not depend on their order.

    Latent variables are drawn row by row, and sweeps on few rows amplify differences in the last digit, such as those
    between the mean of repeated and of weighted rows, until the chains have nothing in common.
    """
    z = rows.z.float().double()
    y = rows.y.float().double() if rows.y.is_floating_point() else rows.y
    keys = torch.cat([z, y.reshape(len(z), -1).double()], 1)
    order = torch.from_numpy(np.lexsort(keys.T.numpy()))
    weight = None if rows.weight is None else rows.weight[order]
    return Rows(z[order], y[order], weight, rows.outputs)
