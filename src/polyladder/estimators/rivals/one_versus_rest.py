"""What the rivals share: classes one after another, and modules rebuilt from weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from polyladder.estimators.parameters import check_choice
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import ClassPrediction
from polyladder.fitted.answers import Answer, Classes
from polyladder.models.batched import BatchedModule


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

    def _answer(self) -> Answer:
        apart = self.multiclass != "softmax" and self.target_.outputs > 1
        return Classes(tuple(self.target_.labels.tolist()), "one-versus-rest" if apart else "softmax")

    def _probabilities(self, scores: Tensor) -> Tensor:
        """One versus rest: the probabilities of the separate models, divided by their sum."""
        if scores.shape[1] == 1 or self.multiclass == "softmax":
            return super()._probabilities(scores)
        # In logarithms, as all classes of a row may be improbable.
        return torch.nn.functional.logsigmoid(scores).softmax(1)


@torch.no_grad()
def with_weights(module: BatchedModule, weights: dict[str, Tensor]) -> Any:
    """The module with these parameters and buffers, in float64 and ``eval`` mode; it needs no gradients any more."""
    module.load_state_dict(weights, assign=True)
    return module.double().eval().requires_grad_(False)
