"""`BayesianLPNNRegressor` and `BayesianLPNNClassifier`: posteriors over ladders behind scikit-learn's interface."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.draft import draft_of
from polyladder.estimators.fitted_model import guard_of, span_of
from polyladder.estimators.idle_parameters import defaults
from polyladder.estimators.parameters import check_choice, check_number, refuse, seeds_from
from polyladder.estimators.partitioned import SAMPLE_ROWS, CodeRows, read_parts
from polyladder.estimators.posterior import (
    Array,
    Diagnostics,
    Posterior,
    Uncertainty,
    in_order,
    posterior_of,
    posterior_of_weights,
    repeated,
)
from polyladder.estimators.posterior_size import (
    MOST_SECONDS,
    PosteriorSize,
    posterior_size,
    rows_in_time,
    too_wide,
    usual_sweeps,
)
from polyladder.estimators.posterior_start import SelectedStart, selected_start, with_selected
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import (
    ClassPrediction,
    NumberPrediction,
    Prepared,
    TableEstimator,
    coded_rows,
)
from polyladder.fitted.answers import Draws, Probit
from polyladder.fitted.features import Features
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.predictive.diagnostics import effective_sample_size, split_rhat
from polyladder.predictive.mixture import StudentMixture, waic
from polyladder.predictive.mixture_predictive import MixturePredictive
from polyladder.tables.dask_partitions import DaskPartitions, is_dask
from polyladder.tables.partitions import Coded, LocalPartitions, Partitions
from polyladder.tables.table import Table
from polyladder.training.bayes.gibbs import DEGREES, sample_gibbs
from polyladder.training.bayes.moments import fit_moments
from polyladder.training.bayes.noise import noise_columns
from polyladder.training.bayes.probit import class_probabilities
from polyladder.training.bayes.variational import fit_variational
from polyladder.training.partitions.gibbs import sample_partitions
from polyladder.training.solves.alternating import fit_alternating, random_start
from polyladder.training.solves.growth import Growth
from polyladder.training.threads import limited, rows_on_one_thread, threads_for

STUDENT_DEGREES = 4.0
"""Default degrees of freedom of ``noise="student"``."""

HIGHEST_ORDER = 8
"""Highest order that ``order="auto"`` tries."""

START_SWEEPS = 8
"""Sweeps of block solves before the first draw."""

MOMENT_SWEEPS = 10
"""Sweeps over the variational bound from which ``inference="moments"`` starts on numbers: from variances of the right
size it takes far fewer steps, and keeps a mean that fits."""

MOMENT_STEPS = 100
"""Most steps of ``inference="moments"``. A quarter of them where rows are many: each reads all rows."""

MOMENT_ROWS = 10_000
"""Most rows that the steps of ``inference="moments"`` read: of more, a random choice, which weighs as much as all."""

DIAGNOSED_ROWS = 200
"""Training rows, evenly spread, at whose predictions the chains are compared."""

UNSETTLED = "The chains have not settled"
"""First words of the warning that chains disagree about predictions."""

PERCENT = 2
"""Decimals of the probabilities by which chains of classes are compared. Coarse ones agree where chains are sure."""


class Sampling(NamedTuple):
    """How a posterior is drawn.

    Attributes:
        order: of the ladders.
        chains: how many, from different starts.
        warmup: sweeps of each chain that are forgotten.
        draws: sweeps of each chain that are kept.
        seed: of the chains.
    """

    order: int
    chains: int
    warmup: int
    draws: int
    seed: int


def by_moments(
    start: LadderPolynomial | GaussianWeights,
    rows: TrainingRows,
    plan: Sampling,
    likelihood: Literal["gaussian", "probit"],
    relevance: bool,
) -> Posterior:
    """Draws of the weights that `fit_moments` finds, by a bounded number of steps on a bounded number of rows."""
    count, weight = len(rows.z), rows.weight
    some = None
    if count > MOMENT_ROWS:
        some = torch.randperm(count, generator=torch.Generator().manual_seed(plan.seed))[:MOMENT_ROWS].sort().values
        weight = rows.z.new_ones(count) if weight is None else weight
        weight = weight * (weight.sum() / weight[some].sum())
    fit = fit_moments(
        start,
        rows.z,
        rows.y,
        likelihood=likelihood,
        rows=some,
        sample_weight=weight,
        relevance=relevance,
        steps=MOMENT_STEPS // 4 if rows.many else MOMENT_STEPS,
    )
    return posterior_of_weights(fit.weights, fit.noise, fit.prior, plan.draws, plan.seed)


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
        if is_dask(X):
            return self._fit_parts(DaskPartitions(X, y, sample_weight))
        with draft_of(self) as draft:
            draft._check_parameters()
            seed = seeds_from(draft.random_state, 1)[0]
            start = draft._select(X, y, sample_weight, seed)
            prepared = draft._prepare(X, y, sample_weight) if start is None else start[0]
            rows = in_order(repeated(prepared.rows))
            rows = draft._rows_in_time(rows, seed)
            plan = draft._draw(prepared, rows, seed, None)
            if start is not None:
                draft._take_over(start[1], seed)
        self._warn_of_chains(plan)
        return self

    def fit_batches(self, batches: Any) -> Self:
        """Draw from the posterior, given rows that come in batches, of which memory holds one at a time.

        Chains start from block solves on a random sample of 100,000 rows, which also chooses the order where that is
        "auto". Then every sweep, of the warmup too, reads all batches 2 order - 1 times. Noise is Gaussian and the same
        everywhere, or there are two classes.

        Parameters
        ----------
        batches : iterable
            Gives the same tuples (X, y) or (X, y, weight) whenever it is iterated over; X as in `fit`.

        Returns
        -------
        self
        """
        return self._fit_parts(LocalPartitions(batches))

    def _fit_parts(self, parts: Partitions) -> Self:
        """Draw from the posterior of rows in parts."""
        with draft_of(self) as draft:
            draft._check_parameters()
            draft._part_likelihood()
            prepared, _ = read_parts(draft, parts, SAMPLE_ROWS, lambda words: None)
            rows, features = prepared.rows, prepared.features
            assert isinstance(features, Features)
            if rows.loss.answer == "classes" and rows.outputs > 1:
                raise ValueError(f"y must have two classes where rows lie in parts; got {rows.outputs}.")
            seed = seeds_from(draft.random_state, 1)[0]
            plan = draft._draw(prepared, rows, seed, Coded(parts, CodeRows(features, prepared.target)))
        self._warn_of_chains(plan)
        return self

    def _draw(self, prepared: Prepared, rows: TrainingRows, seed: int, parts: Coded | None) -> Sampling:
        """Draw from the posterior, of all rows in parts where these are given; return how that was done.

        Args:
            prepared: the training table.
            rows: of it, or of a sample of the parts.
            seed: of the chains.
            parts: all rows, coded.
        """
        order = self._choose_order(rows, seed) if self.order == "auto" else int(self.order)
        plan = Sampling(order, int(self.chains), *self._lengths(rows, order), seed)
        warning = too_wide(rows, order) if self.width == "auto" and parts is None else None
        if warning is not None:
            warnings.warn(warning, stacklevel=3)
        self._adopt(prepared)
        self.posterior_ = self._posterior(rows, plan, parts)
        self.order_ = order
        self.diagnostics_ = self._diagnose(rows)
        return plan

    def _select(self, X: Any, y: Any, sample_weight: Any, seed: int) -> tuple[Prepared, SelectedStart] | None:
        """What a selection hands over, with rows for the sampled ladders; None where nothing is selected."""
        return None

    def _take_over(self, start: SelectedStart, seed: int) -> None:
        """Put draws of a selected ladder beside those of the sampled ones."""
        raise NotImplementedError

    def _part_likelihood(self) -> Literal["gaussian", "probit"]:
        """The likelihood of rows in parts."""
        return "probit"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "order", int, 2, "auto")
        check_number(self, "width", int, 1, "auto")
        check_number(self, "chains", int, 1)
        check_number(self, "warmup", int, 0, "auto")
        check_number(self, "draws", int, 4, "auto")
        if self.relevance not in (True, False, "auto"):
            refuse(self, "relevance", "a bool or 'auto'")
        if self.inference != "gibbs" and self.warmup != "auto":
            refuse(self, "warmup", f"left at 'auto' for inference={self.inference!r}, which draws no chain")

    def _lengths(self, rows: TrainingRows, order: int) -> tuple[int, int]:
        usual = usual_sweeps(rows, order, int(self.chains))
        return tuple(usual if n == "auto" else int(n) for n in (self.warmup, self.draws))  # type: ignore[return-value]

    def _rows_in_time(self, rows: TrainingRows, seed: int) -> TrainingRows:
        """The rows, or as many of them, drawn at random, as the usual draws can read in time; a warning says so."""
        order = HIGHEST_ORDER if self.order == "auto" else int(self.order)
        count, most = len(rows.z), rows_in_time(rows, order, int(self.chains))
        if self.width != "auto" or count == most:
            return rows
        warnings.warn(
            f"The posterior is drawn from {most:,} of {count:,} rows: all of them would take more than "
            f"{MOST_SECONDS / 60:.0f} minutes. Give a width to have all rows used.",
            stacklevel=3,
        )
        some = torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:most]
        return rows.take(some.sort().values)

    def _size(self, rows: TrainingRows, order: int) -> PosteriorSize:
        width = None if self.width == "auto" else int(self.width)
        relevance = None if self.relevance == "auto" else bool(self.relevance)
        return posterior_size(rows, order, width, relevance, int(self.chains) * sum(self._lengths(rows, order)))

    def _starts(self, rows: TrainingRows, plan: Sampling) -> LadderPolynomial:
        """Ladders from random weights and a few sweeps of block solves, one per chain."""
        hidden = (self._size(rows, plan.order).width,) * (plan.order - 1)
        seeds = [plan.seed + i for i in range(plan.chains)]
        start = random_start(rows.z.shape[1], hidden, rows.outputs, seeds, plan.chains)
        options: dict[str, Any] = {"loss": rows.loss, "sample_weight": rows.weight, "sweeps": START_SWEEPS}
        return fit_alternating(start, rows.z, rows.y, **options).polynomial

    def _posterior(self, rows: TrainingRows, plan: Sampling, parts: Coded | None = None) -> Posterior:
        """Draws of ladders of one order, given the rows, or all parts that they are a sample of."""
        progress = Progress(bool(self.verbose), f"{type(self).__name__} order {plan.order}")
        options: dict[str, Any] = {"warmup": plan.warmup, "draws": plan.draws, "seed": plan.seed}
        options |= {"relevance": self._size(rows, plan.order).relevance}
        options |= {"progress": lambda _, noise: progress.step(1, noise)}
        with progress.of(plan.warmup + plan.draws), limited(threads_for(len(rows.z))):
            start = self._starts(rows, plan)
            if parts is None:
                options |= {"sample_weight": rows.weight, **self._likelihood(rows)}
                found = sample_gibbs(start, rows.z, rows.y, **options)
            else:
                found = sample_partitions(start, parts, likelihood=self._part_likelihood(), **options)
        return posterior_of(found, plan.chains)

    def _choose_order(self, rows: TrainingRows, seed: int) -> int:
        """Walk up the orders until WAIC, the expected log density of a new row, has not risen for one of them."""
        tried: list[int] = []
        scores: list[float] = []
        for order in range(2, HIGHEST_ORDER + 1):
            warmup, draws = self._lengths(rows, order)
            found = self._posterior(rows, Sampling(order, 2, warmup // 2, max(4, draws // 2), seed))
            scores.append(float(waic(self._log_densities(found, rows)).mean()))
            tried.append(order)
            if scores[-1] < max(scores):
                break
        self.growth_ = Growth(tuple(tried), tuple(-s for s in scores), 0.0)
        return tried[int(np.argmax(scores))]

    def _diagnose(self, rows: TrainingRows) -> Diagnostics:
        posterior = self.posterior_
        positions = torch.linspace(0, len(rows.z) - 1, min(DIAGNOSED_ROWS, len(rows.z))).long()
        f = self._judged(evaluate(posterior.weights, rows.z[positions]))
        each = f.reshape(posterior.chains, -1, *f.shape[1:])
        return Diagnostics(split_rhat(each).numpy(), effective_sample_size(each).numpy(), len(f))

    def _judged(self, f: Tensor) -> Tensor:
        """What chains are compared by, from the outputs of their draws. Shape (draws, n, m)."""
        return f

    def _warn_of_chains(self, plan: Sampling) -> None:
        """Say that the chains disagree, if they do."""
        if not self.diagnostics_.settled:
            words = f"{UNSETTLED}: {self.diagnostics_.summary}. {self._way_out(plan)}"
            warnings.warn(words, ConvergenceWarning, stacklevel=3)

    def _way_out(self, plan: Sampling) -> str:
        """What to do about chains that disagree."""
        if self.inference != "gibbs":
            return "The starts ended in different places. Take a lower order, or long chains of inference='gibbs'."
        return f"Run them for longer, such as warmup={4 * plan.warmup}, draws={4 * plan.draws}, or take a lower order."

    @property
    def polynomial_(self) -> LadderPolynomial:
        """The posterior mean function as one wide ladder: the mean of 50 draws, or of all if there are fewer."""
        if not self.is_fitted:
            raise AttributeError(f"This {type(self).__name__} has no attribute 'polynomial_' before it is fitted.")
        return self.model_.polynomial

    def _learned(self) -> object:
        return self.posterior_

    def _ladders(self) -> LadderPolynomial:
        return self.target_.in_units(self.posterior_.weights)

    @property
    def walked(self) -> Growth | None:
        """``growth_``, or None where the order was given."""
        try:
            return self.growth_
        except AttributeError:
            return None

    def _facts(self) -> dict[str, Any]:
        path = [] if self.walked is None else list(zip(self.walked.orders, self.walked.errors, strict=True))
        return {**super()._facts(), "chains": self.posterior_.chains, "order_path": path}

    def _likelihood(self, rows: TrainingRows) -> dict[str, Any]:
        raise NotImplementedError

    def _log_densities(self, posterior: Posterior, rows: TrainingRows) -> Tensor:
        """Log density of each training row under each draw. Shape (draws, n)."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class BayesianLPNNRegressor(NumberPrediction, BayesianEstimator):
    """Regression by a posterior over ladders, with error bars.

    Every block of a ladder is drawn from its exact conditional posterior, one after the other; ridge weights and the
    noise are drawn along. By default a model is selected first, as `LPNNRegressor` does it, and half of the draws are
    of one ladder that says what was selected (``selection``). Nothing has to be tuned.

    Parameters
    ----------
    order : int >= 2 or "auto", default=6
        Order of the polynomial: number of layers + 1. "auto" walks up from 2 while WAIC rises; the walk is kept in
        ``growth_``.
    width : int or "auto", default="auto"
        Units per layer. "auto" is 8, from 4,000 rows on 12; fewer, but at least 2, where there would be more than 2.2
        weights per row. Where the draws of so wide a ladder would take more than about five minutes on one core, they
        are made from fewer rows, but at least 10,000, and a warning says so.
    inference : {"gibbs", "variational", "moments"}, default="gibbs"
        The other two fit independent Gaussian weights and draw from those: "variational" by an exact bound of the
        evidence, "moments" by the density of the targets under the exact mean and variance of the output, so that error
        bars widen where targets scatter. Both know one kind of noise, Gaussian and the same everywhere, and have no
        warmup: ``noise="student"``, ``heteroscedastic=True`` and a number for ``warmup`` are refused.
    noise : {"auto", "student", "gaussian"}, default="auto"
        "student" noise, with ``degrees`` of freedom, forgives outliers. "auto" draws the degrees of freedom, Gaussian
        noise among them; Gaussian noise alone with the other two inferences.
    degrees : float, default=4
        Degrees of freedom of ``noise="student"``, more than 2.
    heteroscedastic : bool or "auto", default="auto"
        Let the logarithm of the noise precision change with the features and their squares, as far as the rows ask.
        False uses one noise level for all rows. "auto" is True for "gibbs" alone.
    chains : int, default=4
        Independent chains, from different starts.
    warmup, draws : int or "auto", default="auto"
        Sweeps of each chain that are forgotten, and that are kept. "auto" is 50, from 4,000 rows on 25, and fewer on
        tables so wide that the draws would take more than about five minutes on one core.
    relevance : bool or "auto", default="auto"
        One prior precision for each input column instead of one for each block; with the other two inferences also for
        each unit that a block reads. "auto" is True where rows are so few that the usual width does not fit.
    features : {"standard", "quantile", "yeo-johnson"} or Features, default="standard"
        How numeric columns are scaled; a selection chooses that itself.
    clip : bool, default=True
        Hold inputs to their training range; outside of it a polynomial grows without bound.
    missing : {"impute", "error"}, default="impute"
        Whether missing numbers are replaced by the median, with an indicator, or refused.
    guard : bool, default=True
        Believe, at each row, only draws within the range of the training targets, widened by a tenth on both sides.
    random_state : int, RandomState instance or None, default=None
        Seeds of the chains.
    verbose : int, default=0
        1 shows one moving line.
    selection : bool or "auto", default="auto"
        Whether a fit begins with a selection. Half of the draws are then of one ladder that was taught what was
        selected: its layers are fixed, its readout is drawn exactly, and its noise is that of predictions of rows left
        out. The other half are of sampled ladders, over the scaled columns without ramps. Where no ladder of 20,000
        weights or fewer loses at most 5 % of the selected model's error, or fewer than 50 rows differ, all draws are of
        sampled ladders. "auto" is True where ``order``, ``width``, ``features`` and ``inference`` have their defaults.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of the weights, the noise and the precisions. With a selection the sampled ladders come first.
    polynomial_ : LadderPolynomial
        The posterior mean function over the transformed features, one wide ladder.
    diagnostics_ : Diagnostics
        R-hat and effective sample size of predictions of the sampled ladders; shows itself as a summary. Where R-hat is
        above 1.1 at more than 5 % of them, `fit` warns (``ConvergenceWarning``).
    order_ : int
        The order used; the higher one of the two kinds of ladders.
    growth_ : Growth
        With ``order="auto"``: the orders tried and their negative WAIC per row.
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

    order: int | Literal["auto"] = 6
    width: int | Literal["auto"] = "auto"
    inference: Literal["gibbs", "variational", "moments"] = "gibbs"
    noise: Literal["auto", "student", "gaussian"] = "auto"
    degrees: float = STUDENT_DEGREES
    heteroscedastic: bool | Literal["auto"] = "auto"
    chains: int = 4
    warmup: int | Literal["auto"] = "auto"
    draws: int | Literal["auto"] = "auto"
    relevance: bool | Literal["auto"] = "auto"
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    guard: bool = True
    random_state: Any = None
    verbose: int = 0
    selection: bool | Literal["auto"] = "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "inference", ("gibbs", "variational", "moments"))
        check_choice(self, "noise", ("auto", "student", "gaussian"))
        check_number(self, "degrees", float, 2.0, open_low=True)
        if self.heteroscedastic not in (True, False, "auto"):
            refuse(self, "heteroscedastic", "a bool or 'auto'")
        if self.selection not in (True, False, "auto"):
            refuse(self, "selection", "a bool or 'auto'")
        if self.selection is True and (self.inference != "gibbs" or isinstance(self.features, Features)):
            refuse(self, "selection", f"False or 'auto' for inference={self.inference!r} and for features of your own")
        if self.inference != "gibbs":
            one_noise = f"for inference={self.inference!r}, which has one Gaussian noise for all rows"
            if self.noise == "student":
                refuse(self, "noise", f"'auto' or 'gaussian' {one_noise}")
            if self.degrees != STUDENT_DEGREES:
                refuse(self, "degrees", f"left at {STUDENT_DEGREES:g} {one_noise}")
            if self.heteroscedastic is True:
                refuse(self, "heteroscedastic", f"False or 'auto' {one_noise}")

    def _part_likelihood(self) -> Literal["gaussian", "probit"]:
        if self.inference != "gibbs":
            refuse(self, "inference", "'gibbs' where rows lie in parts")
        if self.noise == "student":
            refuse(self, "noise", "'auto' or 'gaussian' where rows lie in parts")
        if self.heteroscedastic is True:
            refuse(self, "heteroscedastic", "False or 'auto' where rows lie in parts")
        return "gaussian"

    def _selects(self) -> bool:
        """Whether a fit to dense rows begins with a selection."""
        if self.selection != "auto":
            return bool(self.selection)
        usual, given = defaults(type(self)), self.get_params(deep=False)  # type: ignore[arg-type] # as in idle_parameters
        return all(given[name] == usual[name] for name in ("order", "width", "inference", "features"))

    def _select(self, X: Any, y: Any, sample_weight: Any, seed: int) -> tuple[Prepared, SelectedStart] | None:
        if not self._selects():
            return None
        table, values, weight = self._read_training(X, y, sample_weight)
        assert isinstance(table, Table)
        settings = {"clip": self.clip, "missing": self.missing}
        start = selected_start(table, values, None if weight is None else weight.numpy(), settings, seed)
        if start is None:
            return None
        rows = coded_rows(start.features, start.target, table, values, weight)
        plain = replace(rows, z=rows.z[:, torch.from_numpy(start.columns)])
        return Prepared(plain, start.features, start.target, self.n_features_in_, self.names_in, table), start

    def _take_over(self, start: SelectedStart, seed: int) -> None:
        grid = {"auto": DEGREES, "gaussian": (math.inf,), "student": (float(self.degrees),)}[self.noise]
        self.posterior_ = with_selected(self.posterior_, start, grid, self.heteroscedastic is not False, seed)
        self.order_ = self.posterior_.weights.order

    def _likelihood(self, rows: TrainingRows) -> dict[str, Any]:
        options = {"noise_features": noise_columns(rows.z)} if self.heteroscedastic in (True, "auto") else {}
        if self.noise == "gaussian":
            return {"likelihood": "gaussian", **options}
        return {"likelihood": "student", "degrees": None if self.noise == "auto" else float(self.degrees), **options}

    def _posterior(self, rows: TrainingRows, plan: Sampling, parts: Coded | None = None) -> Posterior:
        if self.inference == "gibbs":
            return super()._posterior(rows, plan, parts)
        with limited(threads_for(len(rows.z))):
            relevance = self._size(rows, plan.order).relevance
            start = self._starts(rows, plan)
            options: dict[str, Any] = {"sample_weight": rows.weight, "relevance": relevance}
            if self.inference == "variational":
                fit = fit_variational(start, rows.z, rows.y, **options)
                return posterior_of_weights(fit.weights, fit.noise, fit.prior, plan.draws, plan.seed)
            rough = fit_variational(start, rows.z, rows.y, sweeps=MOMENT_SWEEPS, **options).weights
            return by_moments(rough, rows, plan, "gaussian", relevance)

    def _log_densities(self, posterior: Posterior, rows: TrainingRows) -> Tensor:
        return posterior.mixture(rows.z).log_densities(rows.y).sum(-1)

    def _answer(self) -> Draws:
        target, answer = self.target_, self.posterior_.answer
        return replace(
            answer,
            guard=guard_of(target, bool(self.guard)),
            scales=answer.scales * target.scale.numpy(),
            flat=target.flat,
            span=span_of(target),
        )

    def predictive(self, X: Any) -> StudentMixture:
        """The predictive distribution at each row, in target units: one component per draw.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        StudentMixture
        """
        return self.model_.distribution(self.read_table(X))

    @rows_on_one_thread
    def predict_distribution(self, X: Any) -> MixturePredictive:
        """The distribution of a new observation at each row: means, quantiles, densities, scores, draws.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        MixturePredictive
        """
        mixture = self.predictive(X)  # which asks first whether anything was fitted
        return MixturePredictive(mixture, self.target_.flat)

    @rows_on_one_thread
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
        said = self.predict_distribution(X)
        y = said.shaped(said.mixture.median())
        if return_std:
            return y, said.std
        return (y, said.covariance) if return_cov else y

    @rows_on_one_thread
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
        mixture, shaped = self.predictive(X), self._answer().shaped
        weights = mixture.weights_covariance().diagonal(dim1=-2, dim2=-1)
        return Uncertainty(shaped(weights.sqrt()), shaped(mixture.noise_variance().sqrt()))

    @rows_on_one_thread
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
        return self.predict_distribution(X).interval(level)

    @rows_on_one_thread
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
        said = self.predict_distribution(X)
        return said.log_likelihood(self._read_target(y).reshape(said.mean.shape))

    @rows_on_one_thread
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
        return self.predict_distribution(X).sample(n, seeds_from(self.random_state, 2)[1])


@dataclass(eq=False, repr=False)
class BayesianLPNNClassifier(ClassPrediction, BayesianEstimator):
    """Classification by a posterior over ladders: probit, with two classes or several.

    A class is the sign, or the largest, of the ladder's outputs plus standard normal noise. Given the noisy outputs the
    ladder is a regression, whose blocks are drawn exactly.

    Parameters are those of `BayesianLPNNRegressor`, without ``noise``, ``degrees``, ``heteroscedastic``, ``guard`` and
    ``selection``. ``inference`` is "gibbs", or for two classes "moments".

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    posterior_ : Posterior
        Draws of the weights and the precisions.
    polynomial_ : LadderPolynomial
        The posterior mean of the outputs, one wide ladder.
    diagnostics_ : Diagnostics
        R-hat and effective sample size of probabilities, in whole percents.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import BayesianLPNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianLPNNClassifier(order=2, chains=2, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.85)
    True
    """

    order: int | Literal["auto"] = 3
    width: int | Literal["auto"] = "auto"
    chains: int = 4
    warmup: int | Literal["auto"] = "auto"
    draws: int | Literal["auto"] = "auto"
    relevance: bool | Literal["auto"] = "auto"
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    random_state: Any = None
    verbose: int = 0
    inference: Literal["gibbs", "moments"] = "gibbs"

    def _check_parameters(self) -> None:
        check_choice(self, "inference", ("gibbs", "moments"))
        super()._check_parameters()

    def _part_likelihood(self) -> Literal["gaussian", "probit"]:
        if self.inference != "gibbs":
            refuse(self, "inference", "'gibbs' where rows lie in parts")
        return super()._part_likelihood()

    def _likelihood(self, rows: TrainingRows) -> dict[str, Any]:
        return {"likelihood": "probit"}

    def _posterior(self, rows: TrainingRows, plan: Sampling, parts: Coded | None = None) -> Posterior:
        if self.inference == "gibbs":
            return super()._posterior(rows, plan, parts)
        if rows.outputs > 1:
            raise ValueError(
                f"y must have two classes for inference='moments'; got {rows.outputs}. Take inference='gibbs'."
            )
        with limited(threads_for(len(rows.z))):
            relevance = self._size(rows, plan.order).relevance
            return by_moments(self._starts(rows, plan), rows, plan, "probit", relevance)

    def _log_densities(self, posterior: Posterior, rows: TrainingRows) -> Tensor:
        each = class_probabilities(evaluate(posterior.weights, rows.z))
        return each.gather(-1, rows.y.reshape(1, -1, 1).expand(len(each), -1, 1)).squeeze(-1).log()

    def _judged(self, f: Tensor) -> Tensor:
        # Of several classes the outputs are not identified: the same number may be added to all of them.
        each = self._answer().each(f)
        return (each[..., 1:] if f.shape[-1] == 1 else each).round(decimals=PERCENT)

    def _answer(self) -> Probit:
        return Probit(tuple(self.target_.labels.tolist()))

    def _each(self, X: Any) -> Tensor:
        """The probabilities of every draw. Shape (draws, n, classes)."""
        said = self.model_.said(self.read_table(X))  # which asks first whether anything was fitted
        return self._answer().each(said)

    @rows_on_one_thread
    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, the mean over the draws. Shape (n, classes)."""
        return np.asarray(self._each(X).mean(0).numpy())

    def decision_function(self, X: Any) -> Array:
        """What Phi maps to the probability of the second class (n,), or log probabilities (n, classes)."""
        check_is_fitted(self)
        p = torch.from_numpy(self.predict_proba(X))
        if len(self.classes_) > 2:
            return np.asarray(p.log().numpy())
        # From the smaller of the two, which is the more accurate one.
        score = torch.where(p[:, 1] < 0.5, torch.special.ndtri(p[:, 1]), -torch.special.ndtri(p[:, 0]))
        return np.asarray(score.numpy())

    @rows_on_one_thread
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
        each = self._each(X)
        noise = torch.special.entr(each).sum(-1).mean(0)
        total = torch.special.entr(each.mean(0)).sum(-1)
        return Uncertainty((total - noise).clamp_min(0).numpy(), noise.numpy())

    @rows_on_one_thread
    def log_likelihood(self, X: Any, y: Any) -> Array:
        """Log probability of each row's class. Shape (n,)."""
        return self.predict_distribution(X).log_likelihood(self._read_target(y))

    @rows_on_one_thread
    def sample(self, X: Any, n: int = 1) -> Array:
        """Classes of each row, by ``random_state``. Shape (n, rows)."""
        return self.predict_distribution(X).sample(n, seeds_from(self.random_state, 2)[1])
