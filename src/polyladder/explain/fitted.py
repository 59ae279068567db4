"""A fitted estimator as the rest of this room reads it: its ladders, features, target and card, looked up once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.estimators.bayesian import BayesianEstimator
from polyladder.estimators.ladder import LadderEstimator
from polyladder.estimators.posterior import Posterior
from polyladder.estimators.rivals.factorization_machine import MachineEstimator
from polyladder.estimators.rivals.polynomial_kernel import KernelEstimator
from polyladder.estimators.targets import ClassTarget, NumberTarget, Target
from polyladder.explain.columns import Column, table_columns
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.describe import describe_columns
from polyladder.tables.features import Features


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What is read of a fitted estimator.

    Attributes:
        estimator: the estimator itself.
        features: what stands in front of its polynomial.
        target: how its outputs become predictions.
        ladders: those whose mean or median it predicts, in units of the target. Batch shape (draws,).
        posterior: where the ladders are draws of one.
        card: the model card; empty where there is none.
        columns: of its table.
    """

    estimator: Any
    features: Features
    target: Target
    ladders: LadderPolynomial
    posterior: Posterior | None
    card: Mapping[str, Any]
    columns: tuple[Column, ...]

    @property
    def target_name(self) -> str:
        """What is predicted."""
        return str(self.card.get("target", target_name(self.estimator)))

    @property
    def guard_range(self) -> tuple[Tensor, Tensor] | None:
        """The range that predictions are held to, if they are. Shapes (m,)."""
        return self.target.guard_range if isinstance(self.target, NumberTarget) and self.estimator.guard else None

    @property
    def output_names(self) -> list[str]:
        """What each output of the polynomial is."""
        if isinstance(self.target, ClassTarget):
            labels = self.target.labels.tolist()
            return (
                [f"log-odds of {self.target_name} = {labels[1]}"]
                if self.target.outputs == 1
                else [f"score of {label}" for label in labels]
            )
        count = self.target.outputs
        if count == 1:
            return [self.target_name]
        names = target_names(self.estimator)
        return list(names) if len(names) == count else [f"{self.target_name} {i + 1}" for i in range(count)]


def target_names(estimator: Any) -> tuple[str, ...]:
    """What the columns of the training target were called, if they had names."""
    return tuple(vars(estimator).get("target_names_", ()))


def target_name(estimator: Any) -> str:
    """The name of the one column of the training target; without it, what a prediction is called."""
    names = target_names(estimator)
    return names[0] if len(names) == 1 else "prediction"


def read_model(estimator: Any, rows: Any = None) -> FittedModel:
    """Read a fitted estimator; of a grid search its best one.

    Args:
        estimator: fitted, with ladders behind it.
        rows: rows of its table, which describe the columns where it has no card.
    """
    estimator = vars(estimator).get("best_estimator_", estimator)
    ladders = ladders_of(estimator)
    features = estimator.features_
    if not isinstance(features, Features):
        raise ValueError(
            "The model must have been fitted to a dense table; got one of sparse rows. "
            "Fit it to the columns that matter, as a dense table."
        )
    posterior = estimator.posterior_ if isinstance(estimator, BayesianEstimator) else None
    card = estimator.card_ or {}
    notes = card.get("columns") or (() if rows is None else describe_columns(estimator.read_table(rows)))
    columns = tuple(table_columns(features, notes))
    return FittedModel(estimator, features, estimator.target_, ladders, posterior, card, columns)


def ladders_of(estimator: Any) -> LadderPolynomial:
    """The ladders whose mean or median an estimator predicts, in units of its target. Batch shape (draws,)."""
    if isinstance(estimator, BayesianEstimator):
        check_is_fitted(estimator)
        found = estimator.target_.in_units(estimator.posterior_.weights)
    elif isinstance(estimator, LadderEstimator):
        check_is_fitted(estimator)
        # The members, not the wide ladder of their mean: that is mostly zeros.
        found = estimator.target_.in_units(estimator.members_)
    elif isinstance(estimator, MachineEstimator | KernelEstimator):
        check_is_fitted(estimator)
        found = estimator.polynomial_.map(lambda t: t.unsqueeze(0))
    else:
        raise TypeError(
            f"estimator must have a ladder behind it to be read; got {type(estimator).__name__}. "
            "Use LPNNRegressor or LPNNClassifier."
        )
    return found.to("cpu", torch.float64).map(Tensor.detach)
