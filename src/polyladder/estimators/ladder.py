"""`LPNNRegressor` and `LPNNClassifier`: ladders behind scikit-learn's interface."""

from __future__ import annotations

import sys
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.batch.families import Ladders
from polyladder.estimators.batch.fitting import fit_jobs
from polyladder.estimators.batch.plans import Job, Plan, Usual
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.cost import SWEEPS, work_for
from polyladder.estimators.draft import draft_of
from polyladder.estimators.ensemble import EnsembleEstimator, Opened
from polyladder.estimators.parameters import check_choice, check_number, seeds_from
from polyladder.estimators.rows import Rows
from polyladder.estimators.support import Support, support
from polyladder.estimators.table_estimator import ClassPrediction, NumberPrediction, evaluate
from polyladder.estimators.targets import Array, ClassTarget
from polyladder.models.batched import stack
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.sparse import is_sparse
from polyladder.polynomial.widen import widen
from polyladder.training.losses import row_losses
from polyladder.training.solves.growth import Growth, grow

SPARSE_WIDTH = 16
"""Units per layer, by default, on sparse rows: each has weights for many thousands of inputs."""


class LadderEstimator(EnsembleEstimator):
    """What regression and classification by ladders share."""

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
        if "members_" not in vars(self):
            return self.fit(X, y, sample_weight)
        with draft_of(self, keep_learned=True) as draft:
            draft._check_parameters()
            prepared = draft._prepare_more(X, y, sample_weight)
            family = Ladders(draft.members_.hidden, batch_norm=False)
            seeds = seeds_from(draft.random_state, len(draft.members_))
            plans = [Plan(family, "adam", iterations=1, alpha=0.0, seed=seed) for seed in seeds]
            jobs = [Job(plan, prepared.rows, start) for plan, start in zip(plans, draft.members_, strict=True)]
            draft._run(Opened(prepared, plans, jobs), "partial fit")
        return self

    def trust(self, X: Any) -> Array:
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
        z = self.inputs(X)
        scores = (self.support_.largest.unsqueeze(-1) / self.support_.leverages(self.members_, z)).clamp_max(1.0)
        return np.asarray(scores.mean(0).numpy())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "order", int, 2, "auto")
        check_number(self, "width", int, 1, "auto")
        check_choice(self, "solver", ("auto", "alternating", "adam"))
        check_number(self, "tol", float, 0.0)
        if self.max_seconds is not None:
            check_number(self, "max_seconds", float, 0.0, open_low=True)
        check_number(self, "dropout", float, 0.0, below=1.0)

    def _takes_sparse(self) -> bool:
        return bool(self.solver != "alternating")

    def _continues(self) -> bool:
        return bool(self.warm_start) and "members_" in vars(self)

    def _open(self, X: Any, y: Any, sample_weight: Any, shared: dict[Any, Any]) -> Opened:
        if not self._continues():
            return super()._open(X, y, sample_weight, shared)
        self._check_parameters()
        prepared = self._prepare_more(X, y, sample_weight)
        plans = self._plans(prepared.rows)
        starts = self._starts(plans, prepared.rows)
        del self.support_
        return Opened(prepared, plans, [Job(p, prepared.rows, start) for p, start in zip(plans, starts, strict=True)])

    def _plans(self, rows: Rows) -> list[Plan]:
        return self._plans_of_order(rows, self._choose_order(rows))

    def _plans_of_order(self, rows: Rows, order: int) -> list[Plan]:
        models = None if self.n_estimators == "auto" else int(self.n_estimators)
        work = work_for(self.solver, rows, self._width(rows, "alternating"), order, models, self.max_seconds)
        if self.verbose:
            print(f"{type(self).__name__}: {work}", file=sys.stderr)
        hidden = (self._width(rows, work.solver),) * (order - 1)
        family = Ladders(hidden, batch_norm=bool(self.batch_norm) and rows.count > 1)
        return self._planned(family, work.solver, rows, Usual(work.models, SWEEPS, work.stages))

    def _width(self, rows: Rows, solver: str) -> int:
        if self.width != "auto":
            return int(self.width)
        if is_sparse(rows.z):
            return SPARSE_WIDTH
        if solver == "adam":
            return 128
        return 12 if rows.many else 10

    def _starts(self, plans: list[Plan], rows: Rows) -> list[LadderPolynomial]:
        """The ladders of the previous fit, if they still have the shape that is asked for."""
        p = self.members_
        wanted = (len(plans), plans[0].family.hidden, rows.outputs)  # type: ignore[attr-defined]
        held = (len(p), p.hidden, p.out_features)
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
        inside = [rows.take((fold != k).nonzero().squeeze(-1)) for k in range(folds)]
        outside = [rows.take((fold == k).nonzero().squeeze(-1)) for k in range(folds)]

        def fit(order: int, start: LadderPolynomial | None) -> tuple[LadderPolynomial, float]:
            plan = self._plans_of_order(rows, order)[0]
            grown = [] if start is None else [Job(plan, part, p) for part, p in zip(inside, start, strict=True)]
            jobs = [Job(plan, part) for part in inside] + grown
            fitted = fit_jobs(jobs, Progress(bool(self.verbose), f"{type(self).__name__} order {order}"))
            errors = [summed_loss(f.model, out) for f, out in zip(fitted, outside * 2, strict=False)]
            sums = [sum(errors[k : k + folds]) / n for k in range(0, len(errors), folds)]
            better = min(range(len(sums)), key=sums.__getitem__)
            best = fitted[better * folds : (better + 1) * folds]
            return stack([f.model for f in best]), sums[better]

        self.growth_: Growth = grow(fit, range(2, 10), seed)
        return self.growth_.order

    def _keep(self, models: list[list[LadderPolynomial]], kept: list[int]) -> None:
        if "support_" in vars(self):
            self.support_: Support = self.support_.select(kept)
        self.members_ = stack(models[0])
        self.polynomial_ = self.target_.in_units(widen(self.members_))
        self.order_ = self.polynomial_.order

    def _evaluate(self, z: Tensor) -> Tensor:
        # The members side by side: as one wide ladder their weights are mostly zeros.
        if not self.members_.W or is_sparse(z):
            return super()._evaluate(z)
        outputs: Tensor = self.target_.in_own_units(Layout.of(self.members_).mean(z))
        return outputs

    def _complete(self, opened: Opened) -> None:
        self.support_ = support(self.members_, opened.prepared.rows, vars(self).get("support_"))


def summed_loss(polynomial: LadderPolynomial, rows: Rows) -> float:
    """The loss of a ladder on held-out rows, summed over them."""
    target = rows.y.double().unsqueeze(-1) if rows.loss == "logistic" else rows.y
    losses = row_losses(rows.loss, evaluate(polynomial, rows.z), target)
    return float((losses if rows.weight is None else losses * rows.weight).sum())


class LPNNRegressor(NumberPrediction, LadderEstimator):
    """Ladder polynomial networks for regression.

    Several ladders are fitted from random starts, by exact block solves unless told otherwise, and their mean is kept
    as one polynomial.

    Parameters
    ----------
    order : int >= 2 or "auto", default=6
        Order of the polynomial: number of layers + 1. "auto" grows ladders of order 2, 3, ... and keeps the
        first order that no later one beats by 1 % on held-out rows; the walk is kept in ``growth_``.
    width : int or "auto", default="auto"
        Units per layer. "auto" is 10, from 4,000 rows on 12; 128 for Adam.
    solver : {"auto", "alternating", "adam"}, default="auto"
        "alternating" solves one block of weights after another exactly; "adam" takes gradient steps on mini-batches.
        "auto" takes the first on dense rows wherever it fits into ``max_seconds``.
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
    max_seconds : float > 0 or None, default=None
        About how long a fit on one core may take. The ladders, the sweeps and the rows of the first sweeps are chosen
        by an estimate of their cost, before anything is fitted. None allows about 7 times what boosted trees take.
        ``n_estimators`` and ``max_iter``, where they are given, stay as they are.
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
        1 says what was decided and why, and shows one moving line.

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
        max_seconds: float | None = None,
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
        self.max_seconds = max_seconds
        self.tol = tol
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose


class LPNNClassifier(ClassPrediction, LadderEstimator):
    """Ladder polynomial networks for classification: logistic with two classes, softmax with several.

    Parameters are those of `LPNNRegressor`, except that ``order`` is 4 and there is no guard. Block solves lower the
    loss through quadratic upper bounds, monotonically.

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
        max_seconds: float | None = None,
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
        self.max_seconds = max_seconds
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
        if classes is None or "members_" in vars(self):
            return super().partial_fit(X, y, sample_weight)
        with draft_of(self) as draft:
            draft.target_ = ClassTarget.learn(np.asarray(classes), type(self).__name__)
            draft._run(draft._open(X, y, sample_weight, {}), "partial fit")
        return self

    def _learn_target(self, values: Array, weight: Tensor | None) -> ClassTarget:
        known: ClassTarget | None = vars(self).get("target_")
        return super()._learn_target(values, weight) if known is None else known
