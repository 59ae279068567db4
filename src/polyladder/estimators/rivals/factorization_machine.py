"""`FactorizationMachineRegressor` and `FactorizationMachineClassifier`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.convert.factorization_machine import from_factorization_machine
from polyladder.estimators.batch.families import Machines
from polyladder.estimators.batch.plans import ModelPlan
from polyladder.estimators.parameters import check_number, refuse
from polyladder.estimators.rivals.one_versus_rest import OneVersusRest, PolynomialRival, with_weights
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import NumberPrediction
from polyladder.estimators.targets import NumberTarget
from polyladder.fitted.features import Features
from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.ladder import LadderPolynomial

LADDER_NUMBERS = 2**28
"""The largest ladder that a machine is written as: 2 GiB in float64."""


class MachineEstimator(PolynomialRival):
    """What regression and classification by factorization machines share."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.order not in (2, 3):
            refuse(self, "order", "2 or 3")
        check_number(self, "rank", int, 1)

    def _plans(self, rows: TrainingRows) -> list[ModelPlan]:
        return self._plans_of(Machines(int(self.order), int(self.rank)), rows, outputs=1)

    def _keep(self, models: list[list[FactorizationMachine]], kept: list[int]) -> None:
        machine = mean_machine([outputs_joined(list(each)) for each in zip(*models, strict=True)])
        if isinstance(self.target_, NumberTarget):
            machine = rescaled(machine, self.target_.scale, self.target_.mean)
        self.machine_ = machine

    def _evaluate(self, z: Tensor) -> Tensor:
        return evaluate(self.machine_, z, 2 * self.machine_.rank * self.machine_.out_features)

    def _learned(self) -> object:
        return self.machine_

    @property
    def polynomial_(self) -> LadderPolynomial:
        """The machine as a ladder over the transformed features, in the target's units; made anew at each access."""
        check_is_fitted(self, "machine_")
        machine = self.machine_
        inputs = machine.in_features
        width = inputs + machine.out_features * (machine.rank + 1)
        if width * max(width, inputs) * machine.order > LADDER_NUMBERS:
            raise ValueError(
                "The machine must have fewer inputs to be written as a ladder, which has a unit for each of them; "
                f"got {inputs}. Use machine_ itself."
            )
        return from_factorization_machine(
            machine.offset, machine.linear, machine.factors, machine.factors3, several_outputs=True
        )


@dataclass(eq=False, repr=False)
class FactorizationMachineRegressor(NumberPrediction, MachineEstimator):
    """Factorization machines for regression: an affine function plus all products of two, or three, different inputs.

    Parameters
    ----------
    order : {2, 3}, default=3
        Largest number of inputs that are multiplied. Orders 2 and 3 have factors of their own.
    rank : int, default=5
        Length of each input's vector of factors.
    solver : {"auto", "alternating", "adam"}, default="auto"
        "alternating" takes exact steps: Gauss-Newton directions over all weights with an exact line search, or, where
        there are more than 1,500 weights, one input after another. "adam" takes gradient steps on mini-batches. "auto"
        takes the first up to 1,500 weights and for dense rows.
    alpha : float >= 0 or "auto", default="auto"
        Ridge (or L2) weight. "auto" estimates one for the linear part and one for each order by empirical Bayes; for
        Adam it is 1e-6.
    n_estimators : int or "auto", default="auto"
        Machines to average; their mean is a machine. "auto" is 4 for exact steps, 2 from 4,000 rows on, and 1 for Adam.
    features, clip, missing, guard
        As in `LPNNRegressor`. Sparse rows are divided by their columns' largest absolute values, and not centered.
    max_iter : int or "auto", default="auto"
        Exact steps (100), or epochs of Adam.
    tol : float, default=1e-4
        Exact steps stop when one lowers the objective by less than this, relatively.
    learning_rate, batch_size, validation_fraction
        For Adam alone.
    random_state : int, RandomState instance or None, default=None
        Seeds of the starts.
    verbose : int, default=0
        1 shows one moving line.

    Attributes
    ----------
    machine_ : FactorizationMachine
        The mean of the fitted machines over the transformed features, in the target's units.
    polynomial_ : LadderPolynomial
        The same as a ladder. It has a unit for every input: with many thousands of them it is refused.
    solver_ : str
        The solver that was used.
    loss_curve_ : list of float
        Regularized loss after each exact step, or training loss after each epoch, of the first machine.
    n_iter_ : int
        Length of the longest loss curve.
    features_ : Features or SparseFeatures
        The transformer in front of the machine.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from polyladder import FactorizationMachineRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = 1 + X[:, 0] + 2 * X[:, 1] * X[:, 2] - X[:, 1] * X[:, 3]
    >>> model = FactorizationMachineRegressor(order=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    >>> model.polynomial_.order
    2
    """

    order: Literal[2, 3] = 3
    rank: int = 5
    solver: Literal["auto", "alternating", "adam"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    n_estimators: int | Literal["auto"] = "auto"
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    guard: bool = True
    max_iter: int | Literal["auto"] = "auto"
    tol: float = 1e-4
    learning_rate: float = 5e-3
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.0
    random_state: Any = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class FactorizationMachineClassifier(OneVersusRest, MachineEstimator):
    """Factorization machines for classification: logistic with two classes; with several, softmax or one versus rest.

    Parameters are those of `FactorizationMachineRegressor`, except that ``solver="auto"`` always means Adam, there is
    no guard, and:

    Parameters
    ----------
    multiclass : {"softmax", "ovr"}, default="softmax"
        With several classes: one machine with an output a class, or a machine for each class against the rest.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    machine_ : FactorizationMachine
        Log-odds of the second class, or one score per class, over the transformed features.
    polynomial_ : LadderPolynomial
        The same as a ladder.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import FactorizationMachineClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FactorizationMachineClassifier(order=2, max_iter=100, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    order: Literal[2, 3] = 3
    rank: int = 5
    solver: Literal["auto", "alternating", "adam"] = "auto"
    alpha: float | Literal["auto"] = "auto"
    multiclass: Literal["softmax", "ovr"] = "softmax"
    n_estimators: int | Literal["auto"] = "auto"
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    max_iter: int | Literal["auto"] = "auto"
    tol: float = 1e-4
    learning_rate: float = 5e-3
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.0
    random_state: Any = None
    verbose: int = 0


def outputs_joined(machines: list[FactorizationMachine]) -> FactorizationMachine:
    """The machine whose outputs are those of the given machines, one after another."""
    states = [machine.state_dict() for machine in machines]
    return built({name: torch.cat([state[name] for state in states]) for name in states[0]})


def mean_machine(machines: list[FactorizationMachine]) -> FactorizationMachine:
    """The mean of machines as one machine whose rank is the sum of theirs.

    Interactions of order q are products of q factors, so each factor takes the q-th root of 1 / count.
    """
    count, states = len(machines), [machine.state_dict() for machine in machines]
    weights = {name: torch.stack([state[name] for state in states]).mean(0) for name in ("offset", "linear")}
    for name, q in (("factors", 2), ("factors3", 3)):
        if name in states[0]:
            weights[name] = torch.cat([state[name] for state in states], -2) * count ** (-1 / q)
    return built(weights)


def rescaled(machine: FactorizationMachine, scale: Tensor, shift: Tensor) -> FactorizationMachine:
    """The machine scale * f + shift; both have shape (m,), and scale is positive."""
    state = machine.state_dict()
    weights = {"offset": state["offset"] * scale + shift, "linear": state["linear"] * scale.unsqueeze(-1)}
    for name, q in (("factors", 2), ("factors3", 3)):
        if name in state:
            weights[name] = state[name] * (scale ** (1 / q))[:, None, None]
    return built(weights)


def built(weights: dict[str, Tensor]) -> FactorizationMachine:
    """A single machine from its weights."""
    m, rank, d = weights["factors"].shape
    with torch.device("meta"):
        machine = FactorizationMachine(d, rank, m, 3 if "factors3" in weights else 2)
    return with_weights(machine, weights)
