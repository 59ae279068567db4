"""The few directions of the inputs along which a function changes, and ladders that read these instead."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.jacobian import jacobian
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import substitute
from polyladder.polynomial.units import MeanOfParts, UnitSum

LEAST_SCALE = 0.1
"""A direction counts at least this much of the first one: a ridge would forget what is scaled to nothing."""

EMPTY = 1e-10
"""Variance, beside the largest, of a direction in which the inputs do not vary."""


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates w = (z - center) matrix of inputs z.

    Attributes:
        center: shape (d,).
        matrix: shape (d, k).
        back: the inputs that are most likely, z = center + w back. Shape (k, d).
    """

    center: Tensor
    matrix: Tensor
    back: Tensor

    def __call__(self, z: Tensor) -> Tensor:
        """The coordinates of rows z (n, d). Shape (n, k)."""
        return (z - self.center) @ self.matrix

    def folded(self, ladder: LadderPolynomial) -> LadderPolynomial:
        """A ladder over the coordinates as one over the inputs, exactly."""
        return substitute(ladder, self.matrix.mT, -self.center @ self.matrix)

    def seen(self, ladder: LadderPolynomial) -> LadderPolynomial:
        """A ladder over the inputs as it looks from the coordinates: about the same where these say nearly all."""
        return substitute(ladder, self.back.mT, self.center)


def slopes_at(teacher: MeanOfParts, z: Tensor) -> Tensor:
    """Derivatives of a mean of ladders by the inputs at rows z (n, d). Shape (n, m, d)."""
    parts = [part.slopes(z) if isinstance(part, UnitSum) else jacobian(part, z) for part in teacher.parts]
    return torch.stack(parts).mean(0)


def leading_view(z: Tensor, slopes: Tensor, least: float, most: int) -> View:
    """The directions in which a function varies most, where the inputs are.

    With the inputs turned into coordinates of covariance I, the mean outer product of the gradients has for eigenvalues
    bounds on the variance that is lost without a direction. Coordinates are scaled by how much they count.

    Args:
        z: rows like those that the function is for. Shape (n, d).
        slopes: its derivatives at rows like those. Shape (rows, m, d).
        least: variance that may be lost, over all directions left out, in the mean over outputs.
        most: directions, at most.
    """
    center = z.mean(0)
    _, spread, axes = torch.linalg.svd((z - center) / len(z) ** 0.5, full_matrices=False)
    varied = spread.square() > EMPTY * spread[0].square()
    spread, axes = spread[varied], axes[varied]
    gradients = slopes.flatten(0, 1) @ (axes.mT * spread)
    values, vectors = torch.linalg.eigh(gradients.mT @ gradients / len(gradients))
    values, vectors = values.flip(0).clamp_min(0.0), vectors.flip(1)
    lost = values.flip(0).cumsum(0).flip(0)
    k = max(1, min(most, int((lost > least).sum())))
    scale = (values[:k] / values[0].clamp_min(torch.finfo(z.dtype).tiny)).sqrt().clamp_min(LEAST_SCALE)
    chosen = vectors[:, :k]
    return View(
        center,
        (axes.mT / spread) @ chosen * scale,
        ((axes.mT * spread) @ chosen / scale).mT.contiguous(),
    )
