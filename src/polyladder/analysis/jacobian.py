"""First and second derivatives with respect to the input, by the appendix's recursion instead of autograd."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial, affine, check_tensor


def jacobian(polynomial: LadderPolynomial, x: Tensor) -> Tensor:
    r"""Derivatives of every output with respect to every input.

    The recursion of the paper's appendix, with both intercepts:

    .. math:: \nabla h^l = \mathrm{diag}(V^l x + c^l) \, W^l \, \nabla h^{l-1}
              + \mathrm{diag}(W^l h^{l-1} + b^l) \, V^l, \quad \nabla h^0 = I, \quad \nabla f = R \, \nabla h^L

    Its products are multiplied out from the readout's side, where the matrices have m rows instead of d columns.

    Args:
        polynomial: any ``batch_shape``.
        x: rows. Shape (n, d) or (*batch_shape, n, d).

    Returns:
        Shape (*batch_shape, n, m, d).

    Cost: about m + 1 forward passes. Differentiable with respect to weights and x.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> jacobian(square, torch.tensor([[3.0]]))
        tensor([[[6.]]])
    """
    x = polynomial.check_rows(x)
    # It starts at the readout, which is the same for every row.
    found = pulled_back(polynomial, x, polynomial.readout.unsqueeze(-3))
    return found.expand(*polynomial.batch_shape, x.shape[-2], polynomial.out_features, polynomial.in_features)


def pulled_back(polynomial: LadderPolynomial, x: Tensor, upper: Tensor) -> Tensor:
    """Derivatives of functionals of the last state, (*batch_shape, n or 1, o, k_L), by the inputs at rows."""
    h, layers = x, []
    for W, b, V, c in polynomial.layers():
        u, gate = affine(h, W, b), affine(x, V, c)
        layers.append((W, V, u.unsqueeze(-2), gate.unsqueeze(-2)))
        h = u * gate
    total = x.new_zeros(())
    for W, V, u, gate in reversed(layers):
        total = total + times(upper * u, V)
        upper = times(upper * gate, W)
    return total + upper


def weighted_gradient(polynomial: LadderPolynomial, x: Tensor, weights: Tensor) -> Tensor:
    """The gradient of one weighted sum of outputs for each row: `jacobian`'s recursion for a single output.

    Args:
        polynomial: any ``batch_shape``.
        x: shape (n, d) or (*batch_shape, n, d).
        weights: shape (n, m) or (*batch_shape, n, m).

    Returns:
        Shape (*batch_shape, n, d).

    Cost: two forward passes.
    """
    upper = (weights @ polynomial.readout).unsqueeze(-2)
    return pulled_back(polynomial, x, upper).squeeze(-2)


def hessian_vector_product(polynomial: LadderPolynomial, x: Tensor, vector: Tensor) -> Tensor:
    r"""Second derivatives of every output, applied to a vector: the Jacobian's derivative along it.

    .. math:: H_i v = \frac{d}{dt} \nabla f_i(x + t v) \Big|_{t=0}, \quad i = 1, \ldots, m

    Each quantity of `jacobian`'s recursion is computed together with its derivative along the vector.

    Args:
        polynomial: any ``batch_shape``.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        vector: v, one for all rows or one per row. Shape (d,), (n, d) or (*batch_shape, n, d).

    Returns:
        Shape (*batch_shape, n, m, d).

    Cost: about three times that of `jacobian`. Differentiable with respect to weights, x and vector.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> hessian_vector_product(square, torch.tensor([[3.0]]), torch.tensor([5.0]))
        tensor([[[10.]]])
    """
    x = polynomial.check_rows(x)
    v = check_vector(polynomial, x, vector)
    h, dh = x, v
    layers = []
    for W, b, V, c in polynomial.layers():
        u, gate = affine(h, W, b), affine(x, V, c)
        du, dgate = dh @ W.mT, v @ V.mT
        layers.append((W, V, *(t.unsqueeze(-2) for t in (u, du, gate, dgate))))
        h, dh = u * gate, du * gate + u * dgate
    upper = polynomial.readout.unsqueeze(-3)
    d_upper = torch.zeros_like(upper)
    total = x.new_zeros(())
    for W, V, u, du, gate, dgate in reversed(layers):
        total = total + times(d_upper * u + upper * du, V)
        d_upper = times(d_upper * gate + upper * dgate, W)
        upper = times(upper * gate, W)
    shape = (*polynomial.batch_shape, x.shape[-2], polynomial.out_features, polynomial.in_features)
    return (total + d_upper).expand(shape)


def times(a: Tensor, weight: Tensor) -> Tensor:
    """Shape (*batch_shape, n, m, k) times (*batch_shape, k, i): one matrix product, outputs being rows as well."""
    return (a.flatten(-3, -2) @ weight).reshape(*a.shape[:-1], weight.shape[-1])


def check_vector(p: LadderPolynomial, x: Tensor, vector: Tensor) -> Tensor:
    """Refuse vectors that are neither one for all rows nor one per row; return them in the ladder's dtype."""
    check_tensor("vector", vector)
    n, d, batch = x.shape[-2], p.in_features, tuple(p.batch_shape)
    expected = [(d,), (n, d), *([(*batch, n, d)] if batch else [])]
    if tuple(vector.shape) not in expected:
        shapes = " or ".join(map(str, expected))
        raise ValueError(f"vector must have shape {shapes}; got shape {tuple(vector.shape)}.")
    vector = vector.to(dtype=p.dtype, device=p.device)
    return vector.expand(n, d) if vector.dim() == 1 else vector
