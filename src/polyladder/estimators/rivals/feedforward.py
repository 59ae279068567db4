"""`FeedforwardRegressor` and `FeedforwardClassifier`: ordinary networks, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from torch import Tensor

from polyladder.estimators.batch.families import Networks
from polyladder.estimators.batch.plans import ModelPlan, Usual
from polyladder.estimators.ensemble import EnsembleEstimator
from polyladder.estimators.parameters import check_choice, refuse
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.table_estimator import ClassPrediction, NumberPrediction
from polyladder.estimators.targets import NumberTarget
from polyladder.fitted.features import Features
from polyladder.models.batched import stack
from polyladder.models.feedforward import Feedforward
from polyladder.polynomial.evaluate import evaluate
from polyladder.polynomial.ladder import LadderPolynomial


class NetworkEstimator(EnsembleEstimator):
    """What regression and classification by feed-forward networks share."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "activation", ("relu", "quadratic"))
        widths = self.hidden
        if not isinstance(widths, Sequence) or not all(isinstance(k, Integral) and int(k) >= 1 for k in widths):
            refuse(self, "hidden", "a sequence of ints in the range [1, inf)")

    def _plans(self, rows: TrainingRows) -> list[ModelPlan]:
        family = Networks(tuple(int(k) for k in self.hidden), self.activation, bool(self.batch_norm))
        return self._planned(family, "adam", rows, Usual(1, 1))

    def _keep(self, models: list[list[Feedforward]], kept: list[int]) -> None:
        self.network_ = stack(models[0]).eval().requires_grad_(False)

    def _evaluate(self, z: Tensor) -> Tensor:
        width = sum(self.network_.hidden) * len(self.network_.readout)
        f = evaluate(lambda part: self.network_(part).mean(0), z, width)
        return f * self.target_.scale + self.target_.mean if isinstance(self.target_, NumberTarget) else f

    def polynomial_in_original_units(self) -> LadderPolynomial:
        """Refused: a feed-forward network is no ladder."""
        raise ValueError(
            "A feed-forward network must be written otherwise than as a ladder; the monomials of a quadratic one are "
            "given by polyladder.feedforward_coefficients, applied to network_[i]."
        )


@dataclass(eq=False, repr=False)
class FeedforwardRegressor(NumberPrediction, NetworkEstimator):
    """Feed-forward networks for regression, with a ReLU or a square as activation, trained by Adam.

    Parameters
    ----------
    activation : {"relu", "quadratic"}, default="relu"
        "quadratic" squares each unit: the network is a polynomial of order 2 ** layers.
    hidden : sequence of int, default=(50, 50, 50)
        Units of each layer.
    alpha : float >= 0 or "auto", default="auto"
        L2 weight. "auto" is 1e-6.
    n_estimators : int or "auto", default="auto"
        Networks to average. "auto" is 1.
    dropout : float in [0, 1), default=0.1
        Rate after each activation.
    batch_norm : bool, default=True
        Batch norm after each activation.
    features, clip, missing, guard
        As in `LPNNRegressor`. Sparse rows are divided by their columns' largest absolute values, and not centered.
    max_iter : int or "auto", default="auto"
        Epochs: by default at least 40 and about 4,000 steps.
    learning_rate, batch_size
        Of Adam; the learning rate falls to zero along a cosine.
    validation_fraction : float in [0, 1), default=0
        Rows held out to keep the best epoch and stop early.
    random_state : int, RandomState instance or None, default=None
        Seeds of the starts.
    verbose : int, default=0
        1 shows one moving line.

    Attributes
    ----------
    network_ : Feedforward
        The trained networks as a batch over the transformed features, in standardized target units.
    loss_curve_ : list of float
        Training loss after each epoch of the first network.
    n_iter_ : int
        Length of the longest loss curve.
    features_ : Features or SparseFeatures
        The transformer in front of the network.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import FeedforwardRegressor
    >>> X, y = make_friedman1(300, noise=0.1, random_state=0)
    >>> model = FeedforwardRegressor(hidden=(20, 20), max_iter=150, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.8)
    True
    """

    activation: Literal["relu", "quadratic"] = "relu"
    hidden: Sequence[int] = (50, 50, 50)
    alpha: float | Literal["auto"] = "auto"
    n_estimators: int | Literal["auto"] = "auto"
    dropout: float = 0.1
    batch_norm: bool = True
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    guard: bool = True
    max_iter: int | Literal["auto"] = "auto"
    learning_rate: float = 5e-3
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.0
    random_state: Any = None
    verbose: int = 0


@dataclass(eq=False, repr=False)
class FeedforwardClassifier(ClassPrediction, NetworkEstimator):
    """Feed-forward networks for classification: logistic with two classes, softmax with several.

    Parameters are those of `FeedforwardRegressor`, except that there is no guard.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    network_ : Feedforward
        Log-odds of the second class, or one score per class, over the transformed features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from polyladder import FeedforwardClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FeedforwardClassifier(hidden=(16, 16), max_iter=30, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    activation: Literal["relu", "quadratic"] = "relu"
    hidden: Sequence[int] = (50, 50, 50)
    alpha: float | Literal["auto"] = "auto"
    n_estimators: int | Literal["auto"] = "auto"
    dropout: float = 0.1
    batch_norm: bool = True
    features: Literal["standard", "quantile", "yeo-johnson"] | Features = "standard"
    clip: bool = True
    missing: Literal["error", "impute"] = "impute"
    max_iter: int | Literal["auto"] = "auto"
    learning_rate: float = 5e-3
    batch_size: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.0
    random_state: Any = None
    verbose: int = 0
