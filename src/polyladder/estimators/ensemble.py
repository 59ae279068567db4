"""Estimators that fit several models of one family and keep their mean."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from polyladder.estimators.batch.families import Family
from polyladder.estimators.batch.fitting import Fitted, fit_jobs
from polyladder.estimators.batch.plans import Job, ModelPlan, Usual, make_plans
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.draft import draft_of
from polyladder.estimators.gradient_training import SETTINGS, GradientTraining, check_steps
from polyladder.estimators.parameters import check_choice, check_number
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import Prepared, TableEstimator


@dataclass(frozen=True, eq=False)
class Opened:
    """A fit that waits for its jobs to be run.

    Attributes:
        prepared: the training table.
        plans: one for each model.
        jobs: for each part that is fitted apart, one for each plan.
    """

    prepared: Prepared
    plans: list[ModelPlan]
    jobs: list[Job]


class EnsembleEstimator(TableEstimator):
    """Opens jobs on the rows that it read, has them run, and closes with what they found.

    So the jobs of many settings can share a program (`BatchedGridSearchCV`). A subclass says which models are planned
    (`_plans`) and how the fitted ones are kept (`_keep`).
    """

    loss: str | None = None
    """The name of the loss, where there is a choice."""

    solver: str = "adam"
    """How models are fitted; gradient steps, where there is no choice."""

    tol: float = 0.0
    """What exact solves stop at, where there are any."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Sparse rows stay sparse, and are scaled without being centered; they need gradient steps. Ladders also take
            a dask array or data frame, whose parts are computed with where they lie.
        y : array-like of shape (n,), or (n, m) for regression on several targets
        sample_weight : array-like of shape (n,), default=None
            Whole numbers, up to a mean of 10, count as repetitions of the rows. Of all other weights only the ratios
            matter.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Open the jobs of a fit and run them."""
        with draft_of(self, keep_learned=self._continues()) as draft:
            draft._run(draft._open(X, y, sample_weight, {}), "fit")

    def _run(self, opened: Opened, title: str) -> None:
        """Run the jobs of a fit and keep everything that they found."""
        progress = Progress(bool(self.verbose), f"{type(self).__name__} {title}")
        self._close(opened, fit_jobs(opened.jobs, progress))
        self._complete(opened)

    def _open(self, X: Any, y: Any, sample_weight: Any, shared: dict[Any, Any]) -> Opened:
        """Read the table and plan the models.

        Args:
            X, y, sample_weight: as given to `fit`.
            shared: estimators that are opened on the same data share their rows through this, so that their jobs can
                share a program.
        """
        self._check_parameters()
        key = (id(X), id(y), id(sample_weight), self.features, self.clip, self.missing, self.loss)
        if key not in shared:
            shared[key] = self._prepare(X, y, sample_weight)
        prepared: Prepared = shared[key]
        parts = self._parts(prepared.rows, shared)
        plans = self._plans(parts[0])
        return Opened(prepared, plans, [Job(plan, part) for part in parts for plan in plans])

    def _close(self, opened: Opened, fitted: list[Fitted]) -> None:
        """Store what was found under scikit-learn's names."""
        count = len(opened.plans)
        parts = [fitted[k : k + count] for k in range(0, len(fitted), count)]
        # A model is the models of all its parts: it has diverged if one of them has.
        good = [i for i in range(count) if not any(part[i].diverged for part in parts)]
        if not good:
            raise ValueError("Every model diverged. Lower learning_rate, or use solver='alternating'.")
        if len(good) < count:
            warnings.warn(
                f"{count - len(good)} of {count} models diverged and were left out.", ConvergenceWarning, stacklevel=4
            )
        self._adopt(opened.prepared)
        self._keep([[part[i].model for i in good] for part in parts], good)
        self.solver_ = opened.plans[0].solver
        self.loss_curve_ = parts[0][good[0]].curve
        self.n_iter_ = max(part[i].iterations for part in parts for i in good)

    def _complete(self, opened: Opened) -> None:
        """Learn what a model that is kept has beyond predictions; grid search leaves it out."""
        self._mark(opened.prepared.table, opened.prepared.rows.weight)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "alpha", float, 0.0, "auto")
        check_number(self, "n_estimators", int, 1, "auto")
        check_number(self, "max_iter", int, 1, "auto")
        check_number(self, "tol", float, 0.0)
        check_choice(self, "solver", ("auto", "alternating", "adam"))
        self._check_steps()

    def _check_steps(self) -> None:
        """Refuse settings of gradient steps that are out of range."""
        check_steps(self, self._given_steps())

    def _steps(self) -> GradientTraining:
        """How gradient steps are taken."""
        return GradientTraining(**{"dropout": 0.0, **self._given_steps()})

    def _given_steps(self) -> dict[str, Any]:
        """The parameters that settle gradient steps."""
        return {name: value for name, value in self.get_params(deep=False).items() if name in SETTINGS}

    def _takes_sparse(self) -> bool:
        return self.solver != "alternating"

    def _continues(self) -> bool:
        """Whether a fit goes on from the one before."""
        return False

    def _parts(self, rows: TrainingRows, shared: dict[Any, Any]) -> list[TrainingRows]:
        """What is fitted apart: everything at once, unless a classifier takes one class after another."""
        return [rows]

    def _plans(self, rows: TrainingRows) -> list[ModelPlan]:
        raise NotImplementedError

    def _keep(self, models: list[list[Any]], kept: list[int]) -> None:
        """Store the mean of the fitted models.

        Args:
            models: for each part that was fitted apart, its models.
            kept: their numbers among those that were planned; the others diverged.
        """
        raise NotImplementedError

    def _planned(self, family: Family, solver: str, rows: TrainingRows, usual: Usual) -> list[ModelPlan]:
        return make_plans(self.get_params(deep=False), self._steps(), family, solver, rows, usual)
