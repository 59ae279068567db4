"""`LPNNRegressor` and `LPNNClassifier`: ladders behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from polyladder.data.features import KINDS
from polyladder.estimators.base import (
    Rows,
    TableClassifier,
    TableRegressor,
    check_choice,
    check_number,
    evaluate,
    seeds_from,
)
from polyladder.estimators.fitting import Fitted, Job, Plan, fit_jobs
from polyladder.estimators.jobs import JobEstimator, usual_batch_size, usual_epochs
from polyladder.models.batched import stack
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import is_sparse, row_parts, take_rows
from polyladder.polynomial.widen import widen
from polyladder.training.alternating import cholesky
from polyladder.training.growth import Growth, grow

DIRECT_BLOCK = 4000
"""``solver="auto"`` uses exact block solves while no block has more weights than this ..."""

DIRECT_COST = 2e13
"""... and all Gram matrices together cost at most so many operations: about half an hour."""

MANY_ROWS = 4000
"""From so many rows on the defaults are wider ladders and fewer of them."""

SWEEPS = 20
"""Sweeps of block solves, by default."""

SPARSE_WIDTH = 16
"""Units a layer, by default, on sparse rows: each has weights for many thousands of inputs."""


class LadderEstimator(JobEstimator):
    """What regression and classification by ladders share."""

    def __init__(
        self,
        order: int | Literal["auto"] = 6,
        width: int | Literal["auto"] = "auto",
        solver: Literal["auto", "alternating", "adam"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        n_estimators: int | Literal["auto"] = "auto",
        features: Literal["standard", "quantile", "yeo-johnson"] = "standard",
        clip: bool = True,
        missing: Literal["error", "impute"] = "error",
        guard: bool = True,
        max_iter: int | Literal["auto"] = "auto",
        tol: float = 1e-3,
        dropout: float = 0.1,
        batch_norm: bool = True,
        learning_rate: float = 5e-3,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float = 0.0,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.width = width
        self.solver = solver
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.features = features
        self.clip = clip
        self.missing = missing
        self.guard = guard
        self.max_iter = max_iter
        self.tol = tol
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _open(
        self, X: Any, y: Any, sample_weight: Any, shared: dict[str, Any]
    ) -> tuple[list[Job], Callable[[list[Fitted]], None]]:
        self._check_parameters()
        again = self.warm_start and hasattr(self, "members_")
        rows = self._shared_rows(X, y, sample_weight, shared, fresh=not again)
        plans = self._plans(rows, self._choose_order(rows))
        starts = self._starts(plans, rows) if again else [None] * len(plans)
        jobs = [Job(plan, rows, start) for plan, start in zip(plans, starts, strict=True)]
        return jobs, lambda fitted: self._finish(plans, fitted, rows)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass of gradient steps over these rows, from where the model is.

        The first call fits as `fit` does. Later calls keep the features' scales and ranges.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, m)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        if not hasattr(self, "members_"):
            return self.fit(X, y, sample_weight)
        self._check_parameters()
        rows = self._prepare(X, y, sample_weight, fresh=False)
        seeds = seeds_from(self.random_state, len(self.members_))
        plans = [Plan("adam", self.members_.hidden, 1, 0.0, 32, False, 0.0, 0.0, 0.0, 1e-3, seed) for seed in seeds]
        jobs = [Job(plan, rows, start) for plan, start in zip(plans, self.members_, strict=True)]
        self._finish(plans, fit_jobs(jobs, self._loss(rows), self._progress("partial fit")), rows, self._support)
        return self

    def _check_parameters(self) -> None:
        check_number(self, "order", int, 2, "auto")
        check_number(self, "width", int, 1, "auto")
        check_choice(self, "solver", ("auto", "alternating", "adam"))
        check_number(self, "alpha", float, 0.0, "auto")
        check_number(self, "n_estimators", int, 1, "auto")
        check_choice(self, "features", KINDS)
        check_choice(self, "missing", ("error", "impute"))
        check_number(self, "max_iter", int, 1, "auto")
        check_number(self, "tol", float, 0.0)
        check_number(self, "batch_size", int, 1, "auto")
        check_number(self, "learning_rate", float, 0.0, open_low=True)
        for name in ("dropout", "validation_fraction"):
            check_number(self, name, float, 0.0)
            if getattr(self, name) >= 1:
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be a float in the range [0, 1). "
                    f"Got {getattr(self, name)!r} instead."
                )

    def _solver(self, rows: Rows, order: int) -> str:
        """Which solver "auto" means: exact solves for the squared loss on dense rows while they are affordable."""
        if self.solver != "auto":
            return self.solver
        if self._loss(rows) != "squared" or is_sparse(rows.z):
            return "adam"
        k, d = self._width(rows, "alternating"), rows.z.shape[1]
        pairs = k * (k + 1) // 2 * ((d + 1) * (d + 2) // 2)
        cost = 2 * len(rows.z) * pairs * 2 * (order - 1) * SWEEPS * 4
        largest = k * ((max(k, d) if order > 2 else d) + 1)
        return "alternating" if largest <= DIRECT_BLOCK and cost <= DIRECT_COST else "adam"

    def _width(self, rows: Rows, solver: str) -> int:
        if self.width != "auto":
            return int(self.width)
        if is_sparse(rows.z):
            return SPARSE_WIDTH
        if solver == "adam":
            return 128
        return 10 if len(rows.z) < MANY_ROWS else 12

    def _plans(self, rows: Rows, order: int) -> list[Plan]:
        solver = self._solver(rows, order)
        hidden = (self._width(rows, solver),) * (order - 1)
        n = rows.count
        batch_size = usual_batch_size(rows) if self.batch_size == "auto" else int(self.batch_size)
        usual = SWEEPS if solver == "alternating" else usual_epochs(batch_size, rows)
        usual_count = 1 if solver == "adam" else 8 if n < MANY_ROWS else 4
        count = usual_count if self.n_estimators == "auto" else int(self.n_estimators)
        return [
            Plan(
                solver,
                hidden,
                usual if self.max_iter == "auto" else int(self.max_iter),
                float(self.tol),
                min(batch_size, n),
                bool(self.batch_norm) and n > 1,
                float(self.validation_fraction),
                None if self.alpha == "auto" else float(self.alpha),
                float(self.dropout),
                float(self.learning_rate),
                seed,
            )
            for seed in seeds_from(self.random_state, count)
        ]

    def _starts(self, plans: list[Plan], rows: Rows) -> list[LadderPolynomial]:
        """The ladders of the previous fit, if they still have the shape that is asked for."""
        p = self.members_
        held, wanted = (len(p), p.hidden, p.out_features), (len(plans), plans[0].hidden, rows.outputs)
        if held != wanted:
            raise ValueError(
                f"warm_start must find the shape of the previous fit, {held} as (models, widths, outputs); "
                f"got {wanted}. Set warm_start=False to start anew."
            )
        return list(p)

    def _choose_order(self, rows: Rows) -> int:
        """The order asked for, or the one at which growing ladders stop getting better on held-out rows."""
        if self.order != "auto":
            return int(self.order)
        n = len(rows.z)
        folds = 5 if n < 5000 else 2
        if n < 2 * folds:
            raise ValueError(
                f"order='auto' must have at least {2 * folds} rows to hold some out; got {n}. Give an order."
            )
        seed = seeds_from(self.random_state, 1)[0]
        fold = torch.randperm(n, generator=torch.Generator().manual_seed(seed)) % folds
        parts = [self._part(rows, fold != k) for k in range(folds)]
        outside = [self._part(rows, fold == k) for k in range(folds)]

        def fit(order: int, start: LadderPolynomial | None) -> tuple[LadderPolynomial, float]:
            plan = self._plans(rows, order)[0]
            grown = [] if start is None else [Job(plan, part, p) for part, p in zip(parts, start, strict=True)]
            jobs = [Job(plan, part) for part in parts] + grown
            fitted = fit_jobs(jobs, self._loss(rows), self._progress(f"order {order}"))
            errors = [self._held_out(f.polynomial, out) for f, out in zip(fitted, outside * 2, strict=False)]
            sums = [sum(errors[k : k + folds]) / n for k in range(0, len(errors), folds)]
            better = min(range(len(sums)), key=sums.__getitem__)
            best = fitted[better * folds : (better + 1) * folds]
            return stack([f.polynomial for f in best]), sums[better]

        self.growth_: Growth = grow(fit, range(2, 10), seed)
        return self.growth_.order

    def _part(self, rows: Rows, keep: Tensor) -> Rows:
        z, weight = take_rows(rows.z, keep.nonzero().squeeze(-1)), rows.weight
        return Rows(z, rows.y[keep], None if weight is None else weight[keep], rows.outputs)

    def _held_out(self, polynomial: LadderPolynomial, rows: Rows) -> float:
        """Summed loss on held-out rows."""
        from polyladder.training.losses import row_losses

        f = evaluate(polynomial, rows.z)
        target = rows.y if self._loss(rows) != "logistic" else rows.y.double().unsqueeze(-1)
        losses = row_losses(self._loss(rows), f, target)  # type: ignore[arg-type]
        return float((losses if rows.weight is None else losses * rows.weight).sum())

    def _finish(self, plans: list[Plan], fitted: list[Fitted], rows: Rows, before: Support | None = None) -> None:
        """Store what was found under scikit-learn's names; ``before`` is the support by earlier rows."""
        keep = [i for i, f in enumerate(fitted) if not f.diverged]
        good = [fitted[i] for i in keep]
        if not good:
            raise ValueError("Every model diverged. Lower learning_rate, or use solver='alternating'.")
        if len(good) < len(fitted):
            warnings.warn(
                f"{len(fitted) - len(good)} of {len(fitted)} models diverged and were left out.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.members_ = stack([f.polynomial for f in good])
        self.polynomial_ = self._in_target_units(widen(self.members_))
        self.solver_ = plans[0].solver
        self.order_ = self.polynomial_.order
        self.loss_curve_ = good[0].curve
        self.n_iter_ = max(len(f.curve) for f in good)
        self._support = support(self.members_, rows, None if before is None else before.select(keep))

    def trust(self, X: Any) -> np.ndarray[Any, Any]:
        """How well the training rows support a prediction at each row: 1 within their range of leverage, falling to 0.

        The leverage of a row in the readout regression says how far its hidden states lie from those of the training
        rows. The score is the largest leverage of a training row divided by this row's, at most 1, averaged over the
        ensemble. A row in an empty corner, where a polynomial may explode, scores low. After `partial_fit`, rows of
        earlier calls count with the states that they had then.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        z = self._transformed(X)
        scores = (self._support.largest.unsqueeze(-1) / self._support.leverages(self.members_, z)).clamp_max(1.0)
        return scores.mean(0).numpy()

    def _takes_sparse(self) -> bool:
        return bool(self.solver != "alternating")


class LPNNRegressor(LadderEstimator, TableRegressor):
    """Ladder polynomial networks for regression.

    Several ladders are fitted from random starts, by exact block solves unless told otherwise, and their mean is kept
    as one polynomial.

    Parameters
    ----------
    order : int >= 2 or "auto", default=6
        Order of the polynomial: number of layers + 1. "auto" grows ladders of order 2, 3, ... and keeps the
        first order that no later one beats by 1 % on held-out rows; the walk is kept in ``growth_``.
    width : int or "auto", default="auto"
        Units a layer. "auto" is 10, from 4,000 rows on 12; 128 for Adam.
    solver : {"auto", "alternating", "adam"}, default="auto"
        "alternating" solves one block of weights after another exactly; "adam" takes gradient steps on mini-batches.
        "auto" takes the first for the squared loss while no block has more than 4,000 weights and the whole fit costs
        less than about half an hour.
    alpha : float >= 0 or "auto", default="auto"
        Ridge (or L2) weight. "auto" estimates one for each block by empirical Bayes.
    n_estimators : int or "auto", default="auto"
        Ladders to average. "auto" is 8 for block solves, 4 from 4,000 rows on, and 1 for Adam.
    features : {"standard", "quantile", "yeo-johnson"}, default="standard"
        How numeric columns are scaled.
    clip : bool, default=True
        Hold inputs to their training range; outside of it a polynomial grows without bound.
    missing : {"error", "impute"}, default="error"
        Whether missing numbers are refused, or replaced by the median with an indicator.
    guard : bool, default=True
        Hold predictions to the range of the training targets, widened by a tenth on both sides. Turn it off for the
        pure polynomial.
    max_iter : int or "auto", default="auto"
        Sweeps (20), or epochs of Adam (at least 40 and about 4,000 steps).
    tol : float, default=1e-3
        Block solves stop when a sweep lowers the objective by less than this, relatively.
    dropout, batch_norm, learning_rate, batch_size
        For Adam alone.
    validation_fraction : float in [0, 1), default=0
        For Adam: rows held out to keep the best epoch and stop early.
    warm_start : bool, default=False
        Start from the previous fit.
    random_state : int, RandomState instance or None, default=None
        Seeds of the starts.
    verbose : int, default=0
        1 shows one moving line.

    Attributes
    ----------
    polynomial_ : LadderPolynomial
        The mean of the fitted ladders, one wider ladder over the transformed features.
    members_ : LadderPolynomial
        The fitted ladders as a batch, in standardized target units.
    solver_ : str
        The solver that was used.
    order_ : int
        The order of ``polynomial_``.
    growth_ : Growth
        With ``order="auto"``: the orders tried and their held-out errors.
    loss_curve_ : list of float
        Regularized loss after each sweep, or training loss after each epoch, of the first ladder.
    n_iter_ : int
        Length of the longest loss curve.
    features_ : Features
        The transformer in front of the polynomial.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import LPNNRegressor
    >>> X, y = make_friedman1(300, noise=0.1, random_state=0)
    >>> model = LPNNRegressor(random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.95)
    True
    >>> model.polynomial_.order
    6
    """

    def _loss(self, rows: Rows) -> str:
        return "squared"


class LPNNClassifier(LadderEstimator, TableClassifier):
    """Ladder polynomial networks for classification: logistic with two classes, softmax with several.

    Parameters are those of `LPNNRegressor`, except that ``order`` is 4, ``solver="auto"`` always means Adam and there
    is no guard. With ``solver="alternating"`` the loss is lowered through quadratic upper bounds, monotonically.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    polynomial_ : LadderPolynomial
        Log-odds of the second class, or one score a class, over the transformed features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import LPNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LPNNClassifier(width=16, max_iter=30, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        order: int | Literal["auto"] = 4,
        width: int | Literal["auto"] = "auto",
        solver: Literal["auto", "alternating", "adam"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        n_estimators: int | Literal["auto"] = "auto",
        features: Literal["standard", "quantile", "yeo-johnson"] = "standard",
        clip: bool = True,
        missing: Literal["error", "impute"] = "error",
        max_iter: int | Literal["auto"] = "auto",
        tol: float = 1e-3,
        dropout: float = 0.1,
        batch_norm: bool = True,
        learning_rate: float = 5e-3,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float = 0.0,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.order = order
        self.width = width
        self.solver = solver
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.features = features
        self.clip = clip
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """One pass of gradient steps over these rows, from where the model is.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like, default=None
            All classes that will ever come, where the first call does not hold them all.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        self._given_classes = None if classes is None else np.unique(classes)
        try:
            return super().partial_fit(X, y, sample_weight)
        finally:
            del self._given_classes

    def _loss(self, rows: Rows) -> str:
        return "logistic" if rows.outputs == 1 else "cross_entropy"


@dataclass(frozen=True)
class Support:
    """How the training rows support each member's readout.

    Attributes:
        gram: sum of h h' over the training rows, h = [h^L, 1]. Shape (members, k + 1, k + 1).
        count: how many rows that were.
        factor: Cholesky factor of gram / count. Shape as gram's.
        largest: the largest leverage of a training row. Shape (members,).
    """

    gram: Tensor
    count: int
    factor: Tensor
    largest: Tensor

    def leverages(self, members: LadderPolynomial, z: Tensor) -> Tensor:
        """Leverage times the number of rows, h' (gram / count)^-1 h, at each row. Shape (members, n)."""
        solved = torch.linalg.solve_triangular(self.factor, states(members, z).mT, upper=False)
        return solved.square().sum(-2)

    def select(self, members: list[int]) -> Support:
        """The support of some of the members."""
        return Support(self.gram[members], self.count, self.factor[members], self.largest[members])


def support(members: LadderPolynomial, rows: Rows, before: Support | None) -> Support:
    """The support by these rows and, if given, earlier ones."""
    z = rows.z if rows.weight is None else take_rows(rows.z, (rows.weight > 0).nonzero().squeeze(-1))
    width = members.readout.shape[-1] + 1
    gram = torch.zeros(len(members), width, width, dtype=torch.float64) if before is None else before.gram.clone()
    count = len(z) if before is None else len(z) + before.count
    for part in row_parts(z, 2**14):
        h = states(members, part)
        gram += h.mT @ h
    # Units that the ridge has switched off leave empty columns; a trace of it keeps the matrix invertible.
    scale = gram.diagonal(dim1=-2, dim2=-1).amax(-1, keepdim=True) / count
    factor = cholesky(gram / count, 1e-10 * scale.expand(-1, width))
    found = Support(gram, count, factor, torch.zeros_like(scale[:, 0]) if before is None else before.largest)
    largest = torch.stack([found.leverages(members, part).amax(-1) for part in row_parts(z, 2**14)])
    return replace(found, largest=largest.amax(0).maximum(found.largest))


def states(members: LadderPolynomial, z: Tensor) -> Tensor:
    """[h^L, 1] of each row. Shape (members, n, k + 1)."""
    h = members.hidden_states(z)[-1].expand(len(members), -1, -1)
    return torch.cat([h, h.new_ones(*h.shape[:-1], 1)], -1)
