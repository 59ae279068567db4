"""`LPNNRegressor` and `LPNNClassifier`: ladders behind scikit-learn's interface."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np
import torch
from sklearn.utils import check_consistent_length
from torch import Tensor

from polyladder.estimators.batch.families import LadderFamily
from polyladder.estimators.batch.plans import Job, ModelPlan, Usual
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.class_sets import LeftOutScores, learn_thresholds
from polyladder.estimators.compact import IN_A_FIT, TOLERANCE, Compaction, Teacher, compacted, fit_seconds
from polyladder.estimators.cost import usual_seconds
from polyladder.estimators.draft import draft_of
from polyladder.estimators.ensemble import EnsembleEstimator, Opened
from polyladder.estimators.gradient_training import GradientTraining, check_gradient, steps_of
from polyladder.estimators.idle_parameters import (
    refuse_idle_of_all,
    refuse_idle_of_parts,
    refuse_idle_of_selections,
)
from polyladder.estimators.parameters import check_choice, check_number, refuse, seeds_from
from polyladder.estimators.partitioned import fit_in_parts
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.distinct import distinct_rows
from polyladder.estimators.selection.found import Selection
from polyladder.estimators.selection.kept import check_kept
from polyladder.estimators.selection.many_rows import choose_trained
from polyladder.estimators.selection.options import EFFORTS, Options
from polyladder.estimators.selection.recipe import SelectionRecipe
from polyladder.estimators.selection.refit import refitted
from polyladder.estimators.selection.select import Chosen, choose_model
from polyladder.estimators.settled import settled
from polyladder.estimators.spread import LeftOut, as_predicted, column_of, learn_spread
from polyladder.estimators.support import Support, states, support
from polyladder.estimators.table_estimator import ClassPrediction, Laddered, NumberPrediction, Prepared, finite
from polyladder.estimators.targets import Array, ClassTarget, NumberTarget, Target
from polyladder.estimators.work import SWEEPS, work_for
from polyladder.fitted.features import KINDS, Features
from polyladder.models.batched import stack
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.single import UNIT, SingleMean, single_mean
from polyladder.polynomial.sparse import as_rows, is_sparse
from polyladder.polynomial.units import mean_of
from polyladder.polynomial.widen import sharing, widen
from polyladder.predictive.predictive import Predictive
from polyladder.tables.dask_partitions import DaskPartitions, is_dask
from polyladder.tables.partitions import LocalPartitions
from polyladder.tables.sparse_features import is_sparse_table
from polyladder.tables.table import Table
from polyladder.training.losses import NUMBER_LOSSES, loss_named
from polyladder.training.students.student import FIRST_POINTS
from polyladder.training.threads import limited, threads_for

SPARSE_WIDTH = 16
"""Units per layer, by default, on sparse rows: each has weights for many thousands of inputs."""


SELECT_ROWS, SELECT_SCORES = 20_000, 60_000
"""Most different rows, and most rows times outputs, for which ``order="auto"`` selects among kernels of classes, which
are solved on at most 5,000 rows. Where there are more, ladders are trained on all rows."""

LADDER_MULTIPLE = 5.5
"""Time that the ladders of a selected model may take on many rows, as a multiple of what boosted trees take."""

SINGLE: WeakKeyDictionary[LadderEstimator, tuple[LadderPolynomial, SingleMean]] = WeakKeyDictionary()
"""Members of the estimators in use and their mean in single precision, which takes longer to make than a prediction."""

TAUGHT_ROWS = 20_000
"""Of more rows than this, as many, evenly spread, say where a small ladder must agree with the chosen model."""

SCALINGS = ("standard", "yeo-johnson")
"""What ``features="auto"`` compares, with and without ramps."""


class LadderEstimator(Laddered, EnsembleEstimator):
    """What regression and classification by ladders share."""

    support_: Support | None = None
    """How well the training rows support predictions, for `trust`; None before a fit."""

    usual_order: int = 6
    """The order of ladders that are not selected: by gradient steps, on sparse rows, in `BatchedGridSearchCV`."""

    @property
    def selected(self) -> Selection | None:
        """``selection_``, or None where nothing was selected."""
        try:
            return self.selection_
        except AttributeError:
            return None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """In parts where the rows lie in parts; select where the order is left open; else as every ensemble."""
        if is_dask(X):
            self._check_parameters()
            refuse_idle_of_parts(self)
            fit_in_parts(self, DaskPartitions(X, y, sample_weight))
        elif self._selects(X):
            self._fit_selected(X, y, sample_weight, None)
        else:
            super()._fit(X, y, sample_weight)

    def _selects(self, X: Any) -> bool:
        """Whether a fit to these rows chooses among models."""
        return self.order == "auto" and self.solver != "adam" and not is_dask(X) and not is_sparse_table(X)

    def fit_again(
        self, X: Any, y: Any, sample_weight: Any = None, *, recipe: SelectionRecipe | None = None
    ) -> SelectionRecipe | None:
        """Fit as `fit` does, with what an earlier selection found on some of the rows, where that carries over.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        recipe : SelectionRecipe, default=None
            What the earlier call returned. By default, and where these rows are many more or have other columns or
            classes, a selection is made.

        Returns
        -------
        SelectionRecipe or None
            What the selection found, for a fit to more rows; None where nothing was selected.
        """
        if self._selects(X):
            return self._fit_selected(X, y, sample_weight, recipe)
        self._fit(X, y, sample_weight)
        return None

    def _fit_selected(
        self, X: Any, y: Any, sample_weight: Any, recipe: SelectionRecipe | None
    ) -> SelectionRecipe | None:
        """Choose a model, or solve an earlier choice once more; train ladders where classes have many rows."""
        with draft_of(self) as draft:
            draft._check_parameters()
            refuse_idle_of_selections(draft)
            table, values, weight = draft._read_training(X, y, sample_weight)
            assert isinstance(table, Table)
            rows = distinct_rows(table, values, None if weight is None else weight.numpy())
            # From the different rows, in their own order: then weights and repetitions agree to the last bit.
            target = draft._learn_target(rows[1], torch.from_numpy(rows[2]))
            most = min(SELECT_ROWS, SELECT_SCORES // target.outputs)
            many = isinstance(target, ClassTarget) and len(rows[1]) > most
            if many and self.solver == "alternating":
                draft._run(draft._open(X, y, sample_weight, {}), "fit")
                return None
            recipe = draft._select(*rows, target, recipe, many)
            draft._mark(rows[0], None)
        return recipe

    def fit_batches(self, batches: Any) -> Self:
        """Fit to rows that come in batches, of which memory holds one at a time.

        First sweeps are made on a random sample of 100,000 rows, the last two, or ``max_iter``, over all rows: the
        batches are read once for scales, once for the loss, and 2 order - 1 times for each sweep over all rows.

        Parameters
        ----------
        batches : iterable
            Gives the same tuples (X, y) or (X, y, weight) whenever it is iterated over; X as in `fit`.

        Returns
        -------
        self
        """
        self._check_parameters()
        refuse_idle_of_parts(self)
        fitted: Self = fit_in_parts(self, LocalPartitions(batches))
        return fitted

    def open_parts(self, prepared: Prepared) -> None:
        """Take over what was learned of rows in parts, before anything is fitted."""
        self._adopt(prepared)
        self.solver_, self.loss_curve_ = "alternating", []

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        return settled(super()._prepare(X, y, sample_weight))

    def read_parts(self, X: Any, y: Any) -> TrainingRows:
        """Learn features and target of rows in memory, and code them, for a fit that is made elsewhere."""
        self._check_parameters()
        prepared = self._prepare(X, y, None)
        self.open_parts(prepared)
        self.solver_ = self.solver
        return prepared.rows

    def support_rows(self, rows: TrainingRows) -> None:
        """Learn how well rows support predictions, for `trust`."""
        self.support_ = support(self.members_, rows, None)

    def adopt_parts(self, ladders: LadderPolynomial, curve: list[float]) -> None:
        """Take over ladders that were fitted to rows in parts, and their losses so far."""
        self.members_: LadderPolynomial = ladders
        self.order_, self.loss_curve_, self.n_iter_ = ladders.order, curve, len(curve)

    def selection_options(self, rows: int, columns: int, outputs: int) -> Options:
        """What a choice for a table of this size is made of."""

        def given(value: Any) -> int | None:
            return None if value == "auto" else int(value)

        effort, features = EFFORTS[self.effort], self.unfitted_features
        open_features = isinstance(self.features, Features) or self.features == "auto"
        kind = "standard" if features.kind == "piecewise" else features.kind
        usual = effort.training * LADDER_MULTIPLE * usual_seconds(rows, columns, outputs)
        return Options(
            name=type(self).__name__,
            features=features,
            kinds=SCALINGS if self.features == "auto" else (kind,),
            piecewise=open_features or self.features == "piecewise",
            ramped=open_features,
            effort=effort,
            width=given(self.width),
            models=given(self.n_estimators),
            iterations=given(self.max_iter),
            ladder_seconds=usual if self.max_seconds is None else min(usual, self.max_seconds / 2),
            max_seconds=self.max_seconds,
            tolerance=float(self.tol),
            alpha=self.alpha,
            steps=self._steps(),
            seed=seeds_from(self.random_state, 1)[0],
            verbose=bool(self.verbose),
        )

    def _select(
        self, table: Table, values: Array, weight: Array, target: Target, recipe: SelectionRecipe | None, many: bool
    ) -> SelectionRecipe | None:
        """Choose features, orders and ridges on rows left out, unless a recipe says them; keep the weighted sum.

        Args:
            table, values, weight: different rows, as `distinct_rows` gives them.
            target: how targets are coded.
            recipe: what an earlier selection found.
            many: whether there are so many rows of classes that ladders are trained on them by gradient steps.
        """
        options = self.selection_options(len(values), len(table.names), target.outputs)
        if many:
            assert isinstance(target, ClassTarget)
            recipe, self.solver_ = None, "adam"
            chosen, self.loss_curve_ = choose_trained(table, values, weight, target, options)
        else:
            progress = Progress(options.verbose, f"{options.name} selection")
            with progress.of(1), limited(threads_for(len(values))):
                found = None if recipe is None else refitted(table, values, weight, target, options, recipe)
                if found is None:
                    found, recipe = choose_model(table, values, weight, target, options)
            chosen, self.solver_, self.loss_curve_ = found, "alternating", [found.selection.error]
        self._keep_chosen(chosen, table)
        self.n_iter_ = len(self.loss_curve_)
        return recipe

    def _keep_chosen(self, chosen: Chosen, table: Table) -> None:
        """Take over a model that was chosen on rows left out, or a small ladder that says the same."""
        self.features_, self.target_ = chosen.features, chosen.target
        small = self._compacted(chosen, table)
        self.members_ = sharing(chosen.members if small.ladder is None else stack([small.ladder]))
        self.order_ = self.members_.order
        self.support_ = support(self.members_, chosen.rows, None)
        order = None if small.ladder is None else small.ladder.order
        self.selection_: Selection = replace(chosen.selection, compact=small.sentence, compact_order=order)
        check_kept(self.target_.guarded(mean_of(self.members_)(chosen.compared.z)), chosen.compared, chosen.selection)
        # By estimate a small ladder's errors are this much larger.
        self._learn_from_left_out(chosen, 1.0 if small.ladder is None else 1.0 + small.cost)

    def _learn_from_left_out(self, chosen: Chosen, larger: float) -> None:
        """Learn what the errors at rows left out say of new rows.

        Args:
            chosen: the model, with these errors.
            larger: what the errors of the kept model are multiplied by.
        """

    def _compacted(self, chosen: Chosen, table: Table) -> Compaction:
        """One small ladder in the place of a chosen model, where there is one that is close enough."""
        if self.compact is False or chosen.selection.floor:
            return Compaction(None, float("nan"), "")
        rows = len(table)
        seconds = EFFORTS[self.effort].training * fit_seconds(rows)
        some = table if rows <= TAUGHT_ROWS else table.take(np.linspace(0, rows - 1, TAUGHT_ROWS).astype(np.intp))
        teacher = Teacher(
            chosen.members,
            some,
            as_rows(chosen.features.transform_table(some)),
            chosen.features.transform_table,
            chosen.target.guarded,
            chosen.target.loss,
            chosen.selection.error,
        )
        with limited(threads_for(FIRST_POINTS)):
            return compacted(
                teacher,
                tolerance=TOLERANCE if self.compact == "auto" else float(self.compact),
                trying=replace(IN_A_FIT, seconds=min(seconds, (self.max_seconds or math.inf) / 5)),
                seed=seeds_from(self.random_state, 1)[0],
            )

    def _learn_more(self, prepared: Prepared) -> None:
        """One Newton step of the first member's readout on new rows, all rows so far counted in its curvature."""
        rows, before = prepared.rows, self.support_
        self.support_ = support(self.members_, rows, before)
        outputs = mean_of(self.members_)(rows.z)
        # Down the slope, no farther than the largest curvature there is allows.
        missing = -rows.loss.slopes(outputs, rows.coded)
        curvature = rows.loss.curvature or float(rows.loss.curvatures(outputs, rows.coded).amax())
        weighted = missing if rows.weight is None else missing * rows.weight.unsqueeze(-1)
        moment = (states(self.members_[:1], rows.z)[0].mT @ weighted) / (curvature * self.support_.count)
        step = torch.cholesky_solve(moment, self.support_.factor[0])
        # The model is the mean of its members.
        scaled = len(self.members_) * step.mT
        readout, offset = self.members_.readout.clone(), self.members_.offset.clone()
        readout[0] += scaled[:, :-1]
        offset[0] += scaled[:, -1]
        p = self.members_
        self.members_ = LadderPolynomial(p.W, p.b, p.V, p.c, readout, offset)
        self._adopt(prepared)
        self._mark(prepared.table, rows.weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass of gradient steps over these rows, from where the model is.

        The first call fits as `fit` does, to ladders of the usual order where ``order="auto"``. Later calls keep the
        features' scales and ranges. A model that `fit` has selected takes one Newton step of its first member's readout
        instead, which counts the rows seen before.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, m)
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        if not self.is_fitted:
            super()._fit(X, y, sample_weight)
            return self
        with draft_of(self, keep_learned=True) as draft:
            draft._check_parameters()
            prepared = draft._prepare_more(X, y, sample_weight)
            if draft.selected is not None:
                draft._learn_more(prepared)
                return self
            family = LadderFamily(draft.members_.hidden, batch_norm=False)
            seeds = seeds_from(draft.random_state, len(draft.members_))
            plans = [ModelPlan(family, "adam", iterations=1, alpha=0.0, seed=seed) for seed in seeds]
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
        z, held = self.inputs(X), self.support_
        if held is None:
            raise AttributeError("A model must be fitted alone to have trust; within a grid search it is left out.")
        scores = (held.largest.unsqueeze(-1) / held.leverages(self.members_, z)).clamp_max(1.0)
        return np.asarray(scores.mean(0).numpy())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "order", int, 2, "auto")
        check_number(self, "width", int, 1, "auto")
        if self.max_seconds is not None:
            check_number(self, "max_seconds", float, 0.0, open_low=True)
        check_choice(self, "effort", EFFORTS)
        check_number(self, "compact", float, 0.0, "auto", False, open_low=True)
        refuse_idle_of_all(self)

    def _check_steps(self) -> None:
        check_gradient(self, self.gradient)

    def _steps(self) -> GradientTraining:
        return steps_of(self, self.gradient)

    def _feature_kinds(self) -> tuple[str, ...]:
        return (*KINDS, "auto")

    def _continues(self) -> bool:
        return bool(self.warm_start) and self.is_fitted and self.selected is None

    def _open(self, X: Any, y: Any, sample_weight: Any, shared: dict[Any, Any]) -> Opened:
        if not self._continues():
            return super()._open(X, y, sample_weight, shared)
        self._check_parameters()
        prepared = self._prepare_more(X, y, sample_weight)
        plans = self._plans(prepared.rows)
        starts = self._starts(plans, prepared.rows)
        self.support_ = self.landmarks_ = self.spread_ = self.thresholds_ = None
        return Opened(prepared, plans, [Job(p, prepared.rows, start) for p, start in zip(plans, starts, strict=True)])

    def _plans(self, rows: TrainingRows) -> list[ModelPlan]:
        order = self.usual_order if self.order == "auto" else int(self.order)
        models = None if self.n_estimators == "auto" else int(self.n_estimators)
        work = work_for(self.solver, rows, self._width(rows, "alternating"), order, models, self.max_seconds)
        if self.verbose:
            print(f"{type(self).__name__}: {work}", file=sys.stderr)
        hidden = (self._width(rows, work.solver),) * (order - 1)
        family = LadderFamily(hidden, batch_norm=bool(self._steps().batch_norm) and rows.count > 1)
        return self._planned(family, work.solver, rows, Usual(work.models, SWEEPS, work.stages))

    def _width(self, rows: TrainingRows, solver: str) -> int:
        if self.width != "auto":
            return int(self.width)
        if is_sparse(rows.z):
            return SPARSE_WIDTH
        if solver == "adam":
            return 128
        return 12 if rows.many else 10

    def _starts(self, plans: list[ModelPlan], rows: TrainingRows) -> list[LadderPolynomial]:
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

    def _keep(self, models: list[list[LadderPolynomial]], kept: list[int]) -> None:
        if self.support_ is not None:
            self.support_ = self.support_.select(kept)
        self.members_ = stack(models[0])
        self.order_ = self.members_.order

    @property
    def polynomial_(self) -> LadderPolynomial:
        """The mean of the fitted ladders as one wider ladder, made when it is asked for."""
        if not self.is_fitted:
            raise AttributeError(f"This {type(self).__name__} has no attribute 'polynomial_' before it is fitted.")
        return self.model_.polynomial if isinstance(self.features_, Features) else widen(self._ladders())

    def _learned(self) -> object:
        return self.members_

    def _ladders(self) -> LadderPolynomial:
        # The members, not the wide ladder of their mean: that is mostly zeros.
        return self.target_.in_units(self.members_)

    def _facts(self) -> dict[str, Any]:
        chosen = {} if self.selected is None else self.selected.facts
        return {**super()._facts(), "solver": self.solver_, **chosen}

    def predict_float32(self, X: Any, return_error: bool = False) -> Any:
        """Predict in single precision, which is faster; and how far that may lie from the exact value, if asked.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            Dense rows.
        return_error : bool, default=False
            Whether to return the bounds as well. They take longer than the predictions.

        Returns
        -------
        ndarray of float32, or a pair of it and ndarray of float64 of the same shape
            What `predict` gives for numbers, what `predict_proba` gives for classes. The second array is a proven bound
            on the rounding error of each number. Most errors are far smaller.
        """
        z = self.inputs(X)
        if is_sparse(z):
            raise ValueError("X must be dense for single precision; got a sparse matrix. Use predict.")
        known = SINGLE.get(self)
        if known is None or known[0] is not self.members_:
            by_units = self.selected is not None or not self.members_.W
            known = SINGLE[self] = self.members_, single_mean(self.members_, by_units)
        mean = known[1]
        values = self._single_answers(self.target_.in_own_units(finite(mean(z)).double()))
        if not return_error:
            return values
        return values, self._answer_errors(mean.error(z), values)

    def _single_answers(self, outputs: Tensor) -> Array:
        """Predictions, in float32, from outputs in the target's units (n, m)."""
        raise NotImplementedError

    def _answer_errors(self, errors: Tensor, answers: Array) -> Array:
        """Bounds on the errors of predictions from those of outputs in standardized units (n, m)."""
        raise NotImplementedError

    def _complete(self, opened: Opened) -> None:
        super()._complete(opened)
        self.support_ = support(self.members_, opened.prepared.rows, self.support_)


@dataclass(eq=False, repr=False)
class LPNNRegressor(NumberPrediction, LadderEstimator):
    """Ladder polynomial networks for regression.

    By default features, orders and ridge weights are chosen by predictions of rows that were left out: a constant, a
    linear model, kernels of several orders over plain and piecewise features, and ladders with fitted directions are
    tried, and their best weighted sum is kept as one polynomial, or one small ladder in its place (``compact``). With
    an order given, several ladders of that order are fitted from random starts, by exact block solves unless told
    otherwise, and their mean is kept. A parameter that a fit would not read is refused.

    Parameters
    ----------
    order : int >= 2 or "auto", default="auto"
        Order of the polynomial: number of layers + 1. "auto" selects, as said above; ``selection_`` tells what was
        tried. Gradient steps (``solver="adam"``, sparse rows) and `BatchedGridSearchCV` take order 6 instead.
    width : int or "auto", default="auto"
        Units per layer. "auto" is 10, from 4,000 rows on 12; 128 for Adam.
    solver : {"auto", "alternating", "adam"}, default="auto"
        "alternating" solves one block of weights after another exactly; "adam" takes gradient steps on mini-batches.
        "auto" takes the first on dense rows wherever it fits into ``max_seconds``.
    alpha : float >= 0 or "auto", default="auto"
        Ridge (or L2) weight. "auto" estimates one for each block by empirical Bayes. Block solves always start in this
        way. A given weight is used in the last eighth of the sweeps (at least one), in the further sweeps for little
        noise, and in all sweeps of a warm start, so that fits that differ only in it share their first sweeps.
    n_estimators : int or "auto", default="auto"
        Ladders to average. "auto" is 8 for block solves, 4 from 4,000 rows on, and 1 for Adam.
    features : {"auto", "standard", "quantile", "yeo-johnson", "piecewise"} or Features, default="auto"
        How numeric columns are scaled. "auto" is chosen with the order; where an order is given it means "standard". An
        unfitted `Features` object, of the same ``clip`` and ``missing``, is taken as it is where an order is given;
        where the order is chosen, it is tried with and without ramps, and their number and the margin are chosen too.
    clip : bool, default=True
        Hold inputs to their training range; outside of it a polynomial grows without bound.
    missing : {"impute", "error"}, default="impute"
        Whether missing numbers are replaced by the median, with an indicator, or refused.
    guard : bool, default=True
        Hold predictions to the range of the training targets, widened by a tenth on both sides. Turn it off for the
        pure polynomial.
    max_iter : int or "auto", default="auto"
        Sweeps (7, and 7 more where there is little noise), or epochs of Adam (at least 40 and about 4,000 steps).
    max_seconds : float > 0 or None, default=None
        About how long a fit on one core may take. The ladders, the sweeps and the rows of the first sweeps are chosen
        by an estimate of their cost, before anything is fitted. None allows about 5 times what boosted trees take.
        With ``order="auto"`` the ladders may take half of it; what kernels take is set by ``effort``.
        ``n_estimators`` and ``max_iter``, where they are given, stay as they are.
    tol : float, default=1e-3
        Block solves stop when a sweep lowers the objective by less than this, relatively.
    gradient : GradientTraining or None, default=None
        How Adam takes its steps: learning rate, rows of a step, dropout, batch norm, rows held out. None is
        ``GradientTraining()``.
    warm_start : bool, default=False
        Start from the previous fit, where an order is given; a selection starts anew.
    effort : {"low", "default", "high"}, default="default"
        How much work ``order="auto"`` may be: about 2 seconds on a thousand rows, a third of that, or ten times as
        much.
    loss : {"squared", "huber"}, default="squared"
        What a wrong prediction costs. "huber" counts errors beyond 1.345 standard deviations of the noise linearly, so
        that gross errors in ``y`` pull little; that scale is found from what a first fit leaves over. Candidates of
        ``order="auto"`` are compared by the same loss.
    random_state : int, RandomState instance or None, default=None
        Seeds of the starts.
    verbose : int, default=0
        1 says what was decided and why, and shows one moving line.
    compact : "auto", False or float > 0, default="auto"
        Whether one small ladder, taught by the model that ``order="auto"`` has chosen, may take its place. A number is
        what that may cost, as a share of the error on rows left out; "auto" is 0.01. ``selection_.compact`` says what
        was gained, or why the chosen model was kept.
    calibrate_by : str, int or None, default=None
        A column of texts, by name or position: intervals are then calibrated on the rows of each of its values by
        themselves. A value with few rows has the widths of all rows. Only where ``order="auto"``.
    learning_rate, batch_size, dropout, batch_norm, validation_fraction
        Deprecated: fields of ``gradient`` since version 0.2.

    Attributes
    ----------
    polynomial_ : LadderPolynomial
        The mean of the fitted ladders, one wider ladder over the transformed features.
    spread_ : Spread or None
        How far new observations lie from predictions, learned at rows left out (`predict_distribution`); None where an
        order was given, until `calibrate` is called.
    members_ : LadderPolynomial
        The fitted ladders as a batch, in standardized target units.
    solver_ : str
        The solver that was used.
    order_ : int
        The order of ``polynomial_``.
    selection_ : Selection
        With ``order="auto"``: the candidates, their errors on rows left out, and their weights.
    loss_curve_ : list of float
        Regularized loss after each sweep (with a given ``alpha``, after those that are made with it), or training loss
        after each epoch, of the first ladder.
    n_iter_ : int
        Sweeps or epochs, of the ladder that took most.
    features_ : Features
        The transformer in front of the polynomial.
    landmarks_ : Landmarks or None
        About a hundred training rows, from which `minimize` and `maximize` start: those with the highest and lowest
        predictions and some in between. None of sparse rows; set it to None before saving to leave them out of the
        file.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each column moves the prediction, as a share of all.
    target_names_ : tuple of str
        What ``y`` and its columns are called, where they have names; explanations use them.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import LPNNRegressor
    >>> X, y = make_friedman1(300, noise=0.1, random_state=0)
    >>> model = LPNNRegressor(random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.95)
    True
    >>> model.selection_.error < 0.05  # of the variance, on rows left out
    True
    """

    order: int | Literal["auto"] = "auto"
    width: int | Literal["auto"] = "auto"
    solver: Literal["auto", "alternating", "adam"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    n_estimators: int | Literal["auto"] = "auto"
    features: Literal["auto", "standard", "quantile", "yeo-johnson", "piecewise"] | Features = "auto"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    guard: bool = True
    max_iter: int | Literal["auto"] = "auto"
    max_seconds: float | None = None
    tol: float = 1e-3
    gradient: GradientTraining | None = None
    warm_start: bool = False
    effort: Literal["low", "default", "high"] = "default"
    loss: str = "squared"
    random_state: Any = None
    verbose: int = 0
    compact: Literal["auto", False] | float = "auto"
    calibrate_by: str | int | None = None
    learning_rate: float | None = None
    batch_size: int | Literal["auto"] | None = None
    dropout: float | None = None
    batch_norm: bool | None = None
    validation_fraction: float | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "loss", NUMBER_LOSSES)
        if self.calibrate_by is not None and not isinstance(self.calibrate_by, str | int):
            refuse(self, "calibrate_by", "the name or the position of a column, or None")

    def _learn_target(self, values: Array, weight: Tensor | None) -> NumberTarget:
        return NumberTarget.learn(values, weight, loss_named(self.loss))

    def _learn_from_left_out(self, chosen: Chosen, larger: float) -> None:
        left = chosen.left_out
        assert isinstance(left, LeftOut)
        self._learn_spread(replace(left, shrink=larger * left.shrink), self.calibrate_by)

    def _learn_spread(self, left: LeftOut, by: str | int | None) -> None:
        """Learn how far new observations lie from predictions, from errors at rows left out."""
        self.spread_ = None
        column = None if by is None else column_of(left.table, by)
        self.spread_ = learn_spread(
            self._model(), left, self.target_.scale.numpy(), column, seeds_from(self.random_state, 1)[0]
        )

    def calibrate(self, X: Any, y: Any, *, by: str | int | None = None) -> Self:
        """Learn how far new observations lie from predictions, from rows that the model was not fitted to.

        With ``order="auto"`` a fit does this itself, by rows that it leaves out.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
            At least two rows.
        y : array-like of shape (n,) or (n, m)
        by : str, int or None, default=None
            As the parameter ``calibrate_by``.

        Returns
        -------
        self
        """
        table = self.read_table(X)  # which asks first whether anything was fitted
        if not isinstance(table, Table):
            raise ValueError("X must be dense for distributions; got sparse rows. Fit to the columns that matter.")
        values = self._read_target(y)
        check_consistent_length(table.numbers, values)
        if len(values) < 2:
            raise ValueError(f"X must have at least 2 rows to learn a spread from; got {len(values)}.")
        missed = values.reshape(len(values), -1) - as_predicted(self.model_)(table)
        self._learn_spread(LeftOut(table, missed, np.ones(len(values))), by)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the target, and how far new observations lie from that, if asked.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        return_std : bool, default=False
            Also return the standard deviation of a new observation.

        Returns
        -------
        y : ndarray of shape (n,) or (n, m)
        std : ndarray of shape (n,) or (n, m)
        """
        if not return_std:
            return super().predict(X)
        found = self.predict_distribution(X)
        return found.mean, found.std

    def predict_distribution(self, X: Any) -> Predictive:
        """The distribution of a new observation at each row.

        Its scale and its shape were learned from errors at rows that were left out of the fit, or by `calibrate`.
        Outside of the training ranges the scale grows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)

        Returns
        -------
        Predictive
        """
        table = self.read_table(X)  # which asks first whether anything was fitted
        return self.model_.predict_distribution(table)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """The central interval that holds a new observation with the given probability.

        Its width is that which errors at rows left out had, relative to their scales (the jackknife): about the stated
        share of new rows like the training rows lies inside; there is no guarantee for a number of rows. After
        `calibrate` with rows that the model was not fitted to, at least that share does, if new rows are like these
        (split conformal).

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        level : float in (0, 1), default=0.9

        Returns
        -------
        low, high : ndarrays of shape (n,) or (n, m)
        """
        return self.predict_distribution(X).interval(level)

    def _single_answers(self, outputs: Tensor) -> Array:
        return self._answer().predict(outputs.unsqueeze(0)).astype(np.float32)

    def _answer_errors(self, errors: Tensor, answers: Array) -> Array:
        # Holding values to a range moves none of them further apart; the answer itself is rounded once.
        return self._answer().shaped(errors * self.target_.scale) + UNIT * abs(answers.astype(np.float64))


@dataclass(eq=False, repr=False)
class LPNNClassifier(ClassPrediction, LadderEstimator):
    """Ladder polynomial networks for classification: logistic with two classes, softmax with several.

    Parameters are those of `LPNNRegressor`; there is no guard. ``order="auto"`` selects among kernels up to 20,000
    different rows, or 60,000 divided by the classes. Beyond, two ladders of order 5 are trained by gradient steps and
    weighed against linear models and a constant on rows held out, within about 15 times what boosted trees take, or
    ``max_seconds``. Without selection (``solver="adam"``, sparse rows) the usual order is 4. Block solves lower the
    loss through quadratic upper bounds, monotonically.

    With ``order="auto"`` probabilities are calibrated by the rows that were left out: where they were too sure or not
    sure enough, by more than chance, all scores are multiplied by one number (``selection_.factor``), which changes no
    predicted class. Sets of classes (`predict_distribution`) are calibrated by the same rows.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    thresholds_ : Thresholds or None
        How large sets of classes must be to hold the label, learned at rows left out; None where an order was given,
        until `calibrate` is called.
    polynomial_ : LadderPolynomial
        Log-odds of the second class, or one score per class, over the transformed features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import LPNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LPNNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    usual_order = 4

    order: int | Literal["auto"] = "auto"
    width: int | Literal["auto"] = "auto"
    solver: Literal["auto", "alternating", "adam"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    n_estimators: int | Literal["auto"] = "auto"
    features: Literal["auto", "standard", "quantile", "yeo-johnson", "piecewise"] | Features = "auto"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    max_iter: int | Literal["auto"] = "auto"
    max_seconds: float | None = None
    tol: float = 1e-3
    gradient: GradientTraining | None = None
    warm_start: bool = False
    effort: Literal["low", "default", "high"] = "default"
    random_state: Any = None
    verbose: int = 0
    compact: Literal["auto", False] | float = "auto"
    learning_rate: float | None = None
    batch_size: int | Literal["auto"] | None = None
    dropout: float | None = None
    batch_norm: bool | None = None
    validation_fraction: float | None = None

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
        if classes is None or self.is_fitted:
            return super().partial_fit(X, y, sample_weight)
        with draft_of(self) as draft:
            draft.target_ = ClassTarget.learn(np.asarray(classes), type(self).__name__)
            draft._run(draft._open(X, y, sample_weight, {}), "partial fit")
        return self

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn how large sets of classes must be, from rows that the model was not fitted to.

        The sets of ``predict_distribution(X).sets(level)`` then hold the label of a new row with at least the stated
        probability, if new rows are like these (split conformal). Probabilities stay as they are. With
        ``order="auto"`` a fit calibrates both itself, by rows that it leaves out (the jackknife).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            For sets of 90 % at least 9 rows, of 95 % at least 19: with fewer, such sets hold all classes.
        y : array-like of shape (n,)

        Returns
        -------
        self
        """
        table = self.read_table(X)  # which asks first whether anything was fitted
        values = self._read_target(y)
        check_consistent_length(table.numbers, values)
        said = torch.from_numpy(self.predict_proba(table))
        self.thresholds_ = learn_thresholds(said, self.target_.encode(values))
        return self

    def _learn_from_left_out(self, chosen: Chosen, larger: float) -> None:
        left = chosen.left_out
        assert isinstance(left, LeftOutScores)
        said = self._answer().probabilities(left.scores.unsqueeze(0))
        self.thresholds_ = learn_thresholds(said, left.classes, left.weight)

    def _single_answers(self, outputs: Tensor) -> Array:
        return np.asarray(self._answer().probabilities(outputs.unsqueeze(0)).float().numpy())

    def _answer_errors(self, errors: Tensor, answers: Array) -> Array:
        # A probability moves by at most half as much as the farthest of the scores; the answer itself is rounded once.
        most = errors.amax(1, keepdim=True).numpy() / 2
        return np.minimum(1.0, np.broadcast_to(most, answers.shape) + UNIT * answers.astype(np.float64))

    def _learn_target(self, values: Array, weight: Tensor | None) -> ClassTarget:
        known: ClassTarget | None = self.target_  # where `partial_fit` was told all classes
        return super()._learn_target(values, weight) if known is None else known
