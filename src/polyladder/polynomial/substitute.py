"""Affine maps folded into a ladder, before its inputs or after its outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def substitute(polynomial: LadderPolynomial, matrix: Tensor, shift: Tensor) -> LadderPolynomial:
    """The ladder z -> p(matrix z + shift), exactly.

    Args:
        polynomial: over d inputs, any ``batch_shape``.
        matrix: shape (d, e).
        shift: shape (d,).

    Returns:
        Over e inputs, of the same order.
    """
    d = polynomial.in_features
    if matrix.dim() != 2 or len(matrix) != d or tuple(shift.shape) != (d,):
        raise ValueError(
            f"matrix and shift must have shapes ({d}, e) and ({d},); "
            f"got shapes {tuple(matrix.shape)} and {tuple(shift.shape)}."
        )
    matrix, shift = matrix.to(polynomial.readout), shift.to(polynomial.readout)
    return reading(polynomial, lambda weight, intercept: (weight @ matrix, intercept + weight @ shift))


def recenter(polynomial: LadderPolynomial, center: Tensor, radius: Tensor | None = None) -> LadderPolynomial:
    """The ladder t -> p(center + radius t), with a center and a radius for each polynomial of the batch.

    Args:
        polynomial: any ``batch_shape``.
        center: shape (*batch_shape, d).
        radius: of each input, shape (*batch_shape, d). None for 1: only intercepts change then.
    """

    def moved(weight: Tensor, intercept: Tensor) -> tuple[Tensor, Tensor]:
        shifted = intercept + (weight @ center.unsqueeze(-1)).squeeze(-1)
        return weight if radius is None else weight * radius.unsqueeze(-2), shifted

    return reading(polynomial, moved)


def reading(
    polynomial: LadderPolynomial, through: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
) -> LadderPolynomial:
    """The ladder with other weights and intercepts wherever it reads its inputs."""
    # Only the first layer and the gates do; later layers read states.
    gates = [through(V, c) for V, c in zip(polynomial.V, polynomial.c, strict=True)]
    W, b = list(polynomial.W), list(polynomial.b)
    readout, offset = polynomial.readout, polynomial.offset
    if W:
        W[0], b[0] = through(W[0], b[0])
    else:
        readout, offset = through(readout, offset)
    V, c = (tuple(part) for part in zip(*gates, strict=True)) if gates else ((), ())
    return LadderPolynomial(tuple(W), tuple(b), V, c, readout, offset)


def rescale_outputs(polynomial: LadderPolynomial, scale: Tensor, shift: Tensor) -> LadderPolynomial:
    """The ladder scale * p(x) + shift; scale and shift have shape (m,)."""
    m = polynomial.out_features
    if tuple(scale.shape) != (m,) or tuple(shift.shape) != (m,):
        raise ValueError(
            f"scale and shift must have shape ({m},); got shapes {tuple(scale.shape)} and {tuple(shift.shape)}."
        )
    scale, shift = scale.to(polynomial.readout), shift.to(polynomial.readout)
    return replace(
        polynomial, readout=polynomial.readout * scale.unsqueeze(-1), offset=polynomial.offset * scale + shift
    )
