"""More inputs than rows: fits are solved in the span of the rows, which contains the minimizer."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import reading


def row_span(x: Tensor) -> Tensor | None:
    """Orthonormal directions (d, n) that rows x (n, d) lie in; None where there are no more inputs than rows."""
    return torch.linalg.qr(x.mT).Q if x.shape[1] > len(x) else None


def turned(ladder: LadderPolynomial, directions: Tensor) -> LadderPolynomial:
    """The ladder of z whose value at z = x @ directions is that of ``ladder`` at x, for x in their span.

    Norms of weights in the span do not change, and neither does any ridge penalty. The transposed directions lead back
    to a ladder whose weights have no part outside of the span.

    Args:
        ladder: over d inputs.
        directions: orthonormal columns, or their transpose. Shape (d, r).
    """
    return reading(ladder, lambda weight, intercept: (weight @ directions, intercept))
