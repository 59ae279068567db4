"""The monomials of a quadratic feed-forward network, written out."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.analysis.coefficients import Coefficients, check_terms, exponents_up_to
from polyladder.analysis.monomials import count, joined
from polyladder.models.feedforward import Feedforward


@torch.no_grad()
def feedforward_coefficients(net: Feedforward, max_terms: int = 1_000_000) -> Coefficients:
    """The exact polynomial that ``net.eval()`` computes, with batch norm folded in.

    Each layer squares polynomials of degree q, so the order doubles and L layers give order 2 ** L: three layers over
    8 inputs have 12,870 monomials, over 54 inputs 3.4 billion. A ladder of three layers has 495 and 424,270.

    Args:
        net: with ``activation="quadratic"``, any ``batch_shape``, in either mode.
        max_terms: refuse a polynomial with more than this many monomials.

    Returns:
        All C(d + p, p) of them, p = 2 ** L, in the dtype of the weights.

    Cost: O(k C(d + p / 2, p / 2)^2) multiplications for the last layer, k its width.

    Example:
        >>> net = Feedforward(1, (1,), 1, activation="quadratic", dtype=torch.float64)
        >>> with torch.no_grad():
        ...     _ = net.W[0].fill_(3), net.b[0].fill_(1), net.readout.fill_(2), net.offset.fill_(5)
        >>> feedforward_coefficients(net).values.flatten()  # 5 + 2 (3 x + 1)^2
        tensor([ 7., 12., 18.], dtype=torch.float64)
    """
    if net.activation != "quadratic":
        raise ValueError(
            f"net must have the activation 'quadratic'; got {net.activation!r}, which is not a polynomial."
        )
    d, order = net.in_features, net.order
    check_terms(d, order, max_terms, "a network of fewer layers or inputs")
    identity = torch.eye(d).to(net.readout)
    parts = [identity.new_zeros(1, d), identity]
    for l, (W, b) in enumerate(zip(net.W, net.b, strict=True)):
        parts = squared(through(parts, W, b), d)
        if net.batch_norm:
            scale, shift = net.norms[l].affine()  # type: ignore[operator]
            parts = [part * scale.unsqueeze(-2) for part in parts]
            parts[0] = parts[0] + shift.unsqueeze(-2)
    values = torch.cat(through(parts, net.readout, net.offset), -2)
    return Coefficients(exponents=exponents_up_to(d, order).to(values.device), values=values)


def through(parts: list[Tensor], weight: Tensor, intercept: Tensor) -> list[Tensor]:
    """Polynomials by degree, (*batch_shape, N_j, k), after an affine layer."""
    found = [part @ weight.mT for part in parts]
    return [found[0] + intercept.unsqueeze(-2), *found[1:]]


def squared(parts: list[Tensor], d: int) -> list[Tensor]:
    """The squares of polynomials by degree, (*batch_shape, N_j, k), of degree q to those of degree 2 q."""
    *batch, _, k = parts[0].shape
    found = [parts[0].new_zeros(*batch, count(d, degree), k) for degree in range(2 * len(parts) - 1)]
    for i, part in enumerate(parts):
        for j, other in enumerate(parts):
            # Row by row: all products at once would take far more memory.
            for row, where in zip(part.unbind(-2), joined(d, i, j).to(part.device), strict=True):
                found[i + j].index_add_(-2, where, row.unsqueeze(-2) * other)
    return found
