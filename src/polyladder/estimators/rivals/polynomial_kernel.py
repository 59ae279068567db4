"""`PolynomialKernelRegressor` and `PolynomialKernelClassifier`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from polyladder.convert.polynomial_kernel import from_polynomial_kernel
from polyladder.estimators.batch.families import Kernels
from polyladder.estimators.batch.plans import ModelPlan
from polyladder.estimators.parameters import check_number
from polyladder.estimators.rivals.one_versus_rest import OneVersusRest, PolynomialRival, with_weights
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import Laddered, NumberPrediction
from polyladder.fitted.features import Features
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.polynomial.widen import block_diagonal

DIRECTION_FACTORS = 32
"""Default product of the number of directions and the degree: many directions for squares, few for high powers. A
square keeps the sign of its weight all through a fit, so that a quadratic form needs more directions than its rank;
high powers overfit with as many."""


class KernelEstimator(Laddered, PolynomialRival):
    """What regression and classification by polynomial kernels share."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "degree", int, 1)
        check_number(self, "rank", int, 1, "auto")

    def _plans(self, rows: TrainingRows) -> list[ModelPlan]:
        degree, factors = int(self.degree), (2 if rows.many else 1) * DIRECTION_FACTORS
        family = Kernels(degree, max(1, factors // degree) if self.rank == "auto" else int(self.rank))
        return self._plans_of(family, rows, rows.outputs)

    def _keep(self, models: list[list[PolynomialKernel]], kept: list[int]) -> None:
        self.kernel_ = mean_network([outputs_joined(list(each)) for each in zip(*models, strict=True)])
        ladder = from_polynomial_kernel(
            self.kernel_.weights, self.kernel_.intercept, self.kernel_.directions, self.kernel_.degree
        )
        self.polynomial_ = self.target_.in_units(ladder)

    def _learned(self) -> object:
        return self.polynomial_


@dataclass(eq=False, repr=False)
class PolynomialKernelRegressor(NumberPrediction, KernelEstimator):
    """Networks of polynomial kernels for regression: weighted powers of affine functions, whose directions are learned.

    Parameters
    ----------
    degree : int, default=4
        The power, and the order of the polynomial.
    rank : int or "auto", default="auto"
        Number of directions. "auto" is 32 // degree, and 64 // degree from 4,000 rows on: a power is a product of
        ``degree`` factors, so that all degrees have as many of them.
    solver : {"auto", "alternating", "adam"}, default="auto"
        "alternating" takes exact steps: Gauss-Newton directions over all weights with an exact line search. "adam"
        takes gradient steps on mini-batches. "auto" takes the first up to 1,500 weights and for dense rows.
    alpha : float >= 0 or "auto", default="auto"
        Ridge (or L2) weight. "auto" estimates it by empirical Bayes; for Adam it is 1e-6.
    n_estimators : int or "auto", default="auto"
        Networks to average; their mean is such a network. "auto" is 4 for exact steps, 2 from 4,000 rows on, and 1 for
        Adam.
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
    kernel_ : PolynomialKernel
        The mean of the fitted networks over the transformed features, in standardized target units.
    polynomial_ : LadderPolynomial
        The same as a ladder, in the target's units; predictions come from it.
    solver_ : str
        The solver that was used.
    loss_curve_ : list of float
        Regularized loss after each exact step, or training loss after each epoch, of the first network.
    n_iter_ : int
        Length of the longest loss curve.
    features_ : Features or SparseFeatures
        The transformer in front of the network.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from polyladder import PolynomialKernelRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = (1 + X[:, 0] - X[:, 1]) ** 3 + X[:, 2]
    >>> model = PolynomialKernelRegressor(degree=3, rank=4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.99)
    True
    >>> model.polynomial_.order
    3
    """

    degree: int = 4
    rank: int | Literal["auto"] = "auto"
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
class PolynomialKernelClassifier(OneVersusRest, KernelEstimator):
    """Networks of polynomial kernels for classification: logistic, or with several classes softmax or one versus rest.

    Parameters are those of `PolynomialKernelRegressor`, except that ``solver="auto"`` always means Adam, there is no
    guard, and:

    Parameters
    ----------
    multiclass : {"softmax", "ovr"}, default="softmax"
        With several classes: one network whose outputs share the directions, or a network for each class against the
        rest.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    kernel_ : PolynomialKernel
        Log-odds of the second class, or one score per class, over the transformed features.
    polynomial_ : LadderPolynomial
        The same as a ladder.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import PolynomialKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PolynomialKernelClassifier(max_iter=30, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    degree: int = 4
    rank: int | Literal["auto"] = "auto"
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


def outputs_joined(networks: list[PolynomialKernel]) -> PolynomialKernel:
    """The network whose outputs are those of the given networks, each on directions of its own."""
    weights = block_diagonal(tuple(net.weights.detach() for net in networks))
    return built(networks[0], weights, torch.cat([net.directions for net in networks]))


def mean_network(networks: list[PolynomialKernel]) -> PolynomialKernel:
    """The mean of networks as one network that has all their directions."""
    weights = torch.cat([net.weights for net in networks], -1) / len(networks)
    return built(networks[0], weights, torch.cat([net.directions for net in networks]))


def built(like: PolynomialKernel, weights: Tensor, directions: Tensor) -> PolynomialKernel:
    """A single network of the degree and lambda of another."""
    with torch.device("meta"):
        net = PolynomialKernel(like.in_features, weights.shape[1], weights.shape[0], like.degree)
    state = {"weights": weights.detach(), "directions": directions.detach(), "intercept": like.intercept.detach()}
    return with_weights(net, state)
