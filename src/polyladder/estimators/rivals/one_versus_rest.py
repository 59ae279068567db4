"""What the rivals share: classes one after another, and modules rebuilt from weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from polyladder.estimators.batch.families import Family
from polyladder.estimators.batch.plans import ModelPlan, Usual
from polyladder.estimators.ensemble import EnsembleEstimator
from polyladder.estimators.parameters import check_choice
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import ClassPrediction
from polyladder.fitted.answers import Classes
from polyladder.models.batched import BatchedModule
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.rivals.fit import JOINT_LIMIT


class OneVersusRest(ClassPrediction):
    """Several classes by one model with an output each, or by one model for each class against the rest.

    For an `EnsembleEstimator` with the parameter ``multiclass``.
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "multiclass", ("softmax", "ovr"))

    def _parts(self, rows: TrainingRows, shared: dict[Any, Any]) -> list[TrainingRows]:
        if rows.outputs == 1 or self.multiclass == "softmax":
            return [rows]
        key = f"classes of {id(rows)}"
        if key not in shared:
            shared[key] = [rows.one_class(c) for c in range(rows.outputs)]
        found: list[TrainingRows] = shared[key]
        return found

    def _answer(self) -> Classes:
        apart = self.multiclass != "softmax" and self.target_.outputs > 1
        return Classes(tuple(self.target_.labels.tolist()), "one-versus-rest" if apart else "softmax")


class PolynomialRival(EnsembleEstimator):
    """What factorization machines and polynomial kernels share: exact steps if affordable, and a ladder of the mean."""

    def _plans_of(self, family: Family, rows: TrainingRows, outputs: int) -> list[ModelPlan]:
        """Plans for models of a family, of which ``outputs`` outputs are solved at once."""
        solver = self.solver
        if solver == "auto":
            few = family.sizes(rows.z.shape[1], outputs).weights <= JOINT_LIMIT
            solver = "alternating" if few and rows.loss.quadratic and not is_sparse(rows.z) else "adam"
        return self._planned(family, solver, rows, Usual(2 if rows.many else 4, 100))

    def _ladders(self) -> LadderPolynomial:
        return self.polynomial_.map(lambda t: t.unsqueeze(0))


@torch.no_grad()
def with_weights(module: BatchedModule, weights: dict[str, Tensor]) -> Any:
    """The module with these parameters and buffers, in float64 and ``eval`` mode; it needs no gradients any more."""
    module.load_state_dict(weights, assign=True)
    return module.double().eval().requires_grad_(False)
