"""A network of polynomial kernels as a ladder."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.models.batched import positive_integer
from polyladder.polynomial.ladder import LadderPolynomial


def from_polynomial_kernel(
    weights: Tensor, intercept: float | Tensor, directions: Tensor, degree: int
) -> LadderPolynomial:
    r"""The ladder that equals a sum of powers of affine functions.

    Implements: Theorem 4.1.

    .. math:: f(x) = \sum_{k=1}^{K} \pi_k (\lambda_k + p_k \cdot x)^q

    Every rung multiplies the same K affine functions once more: the first squares them, those above it have W = I.
    The intercept goes into the gates.

    Args:
        weights: pi. Shape (*batch_shape, K), or (*batch_shape, m, K) for m outputs that share the directions.
        intercept: lambda, one number or anything that broadcasts to shape (*batch_shape, K).
        directions: p_k, one per row. Shape (*batch_shape, K, d).
        degree: q, at least 1.

    Returns:
        A ladder of order q and width K, in dtype and on the device of ``directions``, equal to the sum up to rounding.
        NaN in one model of a batch stays there.

    Example:
        >>> import torch
        >>> from_polynomial_kernel(torch.tensor([1.0, -1.0]), 1.0, torch.eye(2), degree=3)(torch.tensor([[2.0, 1.0]]))
        tensor([[19.]])
    """
    positive_integer("degree", degree)
    for name, part in {"weights": weights, "directions": directions}.items():
        if not isinstance(part, Tensor) or not part.is_floating_point():
            kind = part.dtype if isinstance(part, Tensor) else type(part).__name__
            raise TypeError(f"{name} must be a floating-point torch.Tensor; got {kind}.")
    if directions.dim() < 2:
        raise ValueError(f"directions must have shape (*batch_shape, K, d); got shape {tuple(directions.shape)}.")
    if 0 in directions.shape:
        raise ValueError(
            f"directions must have shape (*batch_shape, K, d) without zeros; got shape {tuple(directions.shape)}. "
            "For the zero polynomial give one direction the weight 0."
        )
    *batch, K, _ = directions.shape
    if weights.dim() == directions.dim() - 1:
        weights = weights.unsqueeze(-2)
    if weights.dim() != directions.dim() or tuple(weights.shape[:-2]) != tuple(batch) or weights.shape[-1] != K:
        expected = ", ".join(map(str, batch)) + (", " if batch else "")
        raise ValueError(
            f"weights must have shape ({expected}{K}) or ({expected}m, {K}) as directions have; "
            f"got shape {tuple(weights.shape)}."
        )
    readout = weights.to(directions)
    try:
        shift = torch.as_tensor(intercept, dtype=directions.dtype, device=directions.device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"intercept must be a number or a tensor; got {intercept!r}.") from error
    try:
        shift = shift.expand(*batch, K)
    except RuntimeError as error:
        raise ValueError(
            f"intercept must be one number or broadcast to shape {(*batch, K)}; got shape {tuple(shift.shape)}."
        ) from error
    if degree == 1:
        offset = (readout @ shift.unsqueeze(-1)).squeeze(-1)
        return LadderPolynomial(W=(), b=(), V=(), c=(), readout=readout @ directions, offset=offset)
    identity = torch.eye(K, dtype=directions.dtype, device=directions.device).expand(*batch, K, K)
    above = degree - 2
    return LadderPolynomial(
        W=(directions, *(identity,) * above),
        b=(shift, *(torch.zeros_like(shift),) * above),
        V=(directions,) * (above + 1),
        c=(shift,) * (above + 1),
        readout=readout,
        offset=torch.zeros_like(readout[..., 0]),
    )
