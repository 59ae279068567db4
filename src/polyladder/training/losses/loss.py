"""What a loss is: all that fits, selections and reports need from it. Each loss has its own file in this folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

Reach = Callable[[Tensor], Tensor]
"""How far sums of the last state, (*batch_shape, n or 1, o, k), may move at each row. Shape (*batch_shape, n, o)."""


@dataclass(frozen=True)
class Loss(ABC):
    """A loss of rows: how targets are coded, what a row costs, and its derivatives.

    Outputs have the shape (*batch_shape, n, m), coded targets (n, m) or the shape of the outputs. A loss of classes
    says itself which other forms its targets may have.

    Attributes:
        name: by which users choose it.
        measure: what its mean over rows is called in reports.
        answer: what a model fitted by it predicts.
        quadratic: whether it is a sum of squares. Evidence, errors of rows left out and posteriors are exact for such a
            loss alone.
        by_rows: whether a few rounds of weighted squares minimize it over given features. Selections then leave out
            each row; otherwise they fit on folds, by Newton steps.
        curvature: the largest second derivative; None where there is none.
        noise: the noise variance that a negative log-likelihood amounts to, 1/2 (it counts a squared error over 2 s as
            one nat); None where the noise is to be estimated.
    """

    name: ClassVar[str]
    measure: ClassVar[str]
    answer: ClassVar[Literal["numbers", "classes"]] = "numbers"
    quadratic: ClassVar[bool] = False
    by_rows: ClassVar[bool] = True
    curvature: ClassVar[float | None]
    noise: ClassVar[float | None] = None

    # Targets

    def coded(self, y: Tensor, rows: int, out_features: int, dtype: torch.dtype) -> Tensor:
        """Check targets against a network, and bring them into the form that all other methods read.

        Args:
            y: numbers of shape (n, m), or (n,) for one output.
            rows: n, the number of rows of x.
            out_features: m, the number of outputs of the network.
            dtype: of the network.

        Returns:
            Shape (n, m) in ``dtype``.
        """
        column = y.unsqueeze(-1) if y.dim() == 1 else y
        if tuple(column.shape) != (rows, out_features):
            wanted = f"({rows}, {out_features})" + (f" or ({rows},)" if out_features == 1 else "")
            raise ValueError(f"y must have shape {wanted}; got shape {tuple(y.shape)}.")
        column = column.to(dtype)
        self.check_values(column)
        if not bool(column.isfinite().all()):
            raise ValueError("y must be finite; got NaN or infinity. Drop or impute those rows first.")
        return column

    def check_values(self, target: Tensor) -> None:
        """Refuse numbers (n, m) that the loss is not for."""
        return

    def check_outputs(self, out_features: int) -> None:
        """Refuse a number of outputs for which block solves cannot lower the loss."""
        return

    def standards(self, y: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        """What is subtracted from numbers (n, m) before a fit, and what they are then divided by. Shapes (m,).

        Args:
            y: a target of numbers as it was given.
            share: of each row; they sum to 1. Shape (n,).
        """
        used = y[share > 0]
        low, high = used.amin(0), used.amax(0)
        # The mean of equal numbers may differ from them in the last digit; that rounding would then be the only
        # variation.
        mean = torch.where(high > low, share @ y, low)
        return mean, (share @ (y - mean).square()).sqrt()

    @property
    def settled(self) -> bool:
        """Whether all parameters of the loss are known."""
        return True

    def settle(self, outputs: Tensor, target: Tensor, weight: Tensor | None = None) -> Loss:
        """The loss with the parameters that follow from the residuals of a first fit.

        Args:
            outputs: of the first fit, preferably for rows that it did not see. Shape (n, m).
            target: coded. Shape (n, m).
            weight: of the rows. Shape (n,).
        """
        return self

    # Values

    @abstractmethod
    def each(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss of every output, zero at best. Shape (*batch_shape, n, m), or (*batch_shape, n, 1) for classes."""

    def rows(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss of every row under every model; several outputs of a row are averaged. Shape (*batch_shape, n)."""
        return self.each(outputs, target).mean(-1)

    def deviance(self, outputs: Tensor, target: Tensor, weight: Tensor | None = None) -> float:
        """The mean loss of rows (n, m), weighted by ``weight`` (n,): what models are judged by."""
        each = self.rows(outputs, target)
        return float(each.mean() if weight is None else (weight / weight.sum()) @ each)

    @abstractmethod
    def slopes(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Derivatives of the summed losses of a row by its outputs. Shape (*batch_shape, n, m)."""

    @abstractmethod
    def curvatures(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Second derivatives of the same by each output. Shape (*batch_shape, n, m)."""

    def scatter(self, outputs: Tensor, target: Tensor) -> Tensor:
        """What every row adds to an estimate of the noise variance, summed over outputs. Shape (*batch_shape, n)."""
        return self.each(outputs, target).sum(-1)

    # Solves

    def bound(self, outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Weighted squares that lie above the summed losses of a row everywhere and touch them at the outputs.

        Returns:
            Responses r (*batch_shape, n, m) and weights w (*batch_shape, n) or (1, n) of w * sum_o (f_o - r_o)^2, which
            differs from the bound by a constant. Here that is a gradient step, with the largest curvature everywhere; a
            loss that has no largest curvature says its own.
        """
        assert self.curvature is not None
        response = outputs - self.slopes(outputs, target) / self.curvature
        return response, outputs.new_full((1, outputs.shape[-2]), self.curvature / 2)

    def constant(self, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """The outputs of the best model that is constant. Shape (m,)."""
        share = torch.full_like(target[:, 0], 1 / len(target)) if weight is None else weight / weight.sum()
        return self.link(share @ target)

    # What outputs mean

    def link(self, mean: Tensor) -> Tensor:
        """Outputs (..., m) whose predicted means are these."""
        return mean

    def mean(self, outputs: Tensor) -> Tensor:
        """What outputs (..., m) predict: the targets, in the mean. The inverse of ``link``, up to what cancels."""
        return outputs

    def worst(self, outputs: Tensor, target: Tensor, readout: Tensor, reach: Reach) -> Tensor:
        """An upper bound on the loss of each row, however far its outputs move within reach. Shape (*batch_shape, n).

        Args:
            outputs: at the rows themselves. Shape (*batch_shape, n, m).
            target: coded.
            readout: of the ladders whose outputs they are. Shape (*batch_shape, m, k).
            reach: how far sums of the last state may move.
        """
        rise = reach(readout.unsqueeze(-3))
        # A loss that falls and then rises is largest at an end.
        ends = [self.each(outputs + side * rise, target) for side in (1, -1)]
        return torch.maximum(ends[0], ends[1]).mean(-1)
