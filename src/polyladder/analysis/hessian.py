"""All second derivatives with respect to some inputs at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.jacobian import times
from polyladder.polynomial.ladder import LadderPolynomial, affine
from polyladder.polynomial.rungs import diagonal_of


@dataclass(frozen=True, eq=False)
class RungAt:
    """A layer at rows: all that does not depend on a direction.

    Attributes:
        W, V: its weights, V of the chosen inputs alone; of the first layer W too. Shapes (*batch_shape, k, .).
        diagonal: of W, if W is diagonal. Shape (*batch_shape, 1, k).
        u, gate: its two factors. Shape (*batch_shape, n, k).
        upper: derivatives of the outputs with respect to its states. Shape (*batch_shape, n or 1, m, k).
        shares: whether the layer below has the same V.
    """

    W: Tensor
    V: Tensor
    diagonal: Tensor | None
    u: Tensor
    gate: Tensor
    upper: Tensor
    shares: bool

    def forward(self, h: Tensor) -> Tensor:
        """W h. Shape (*batch_shape, n, k)."""
        return h @ self.W.mT if self.diagonal is None else h * self.diagonal

    def backward(self, upper: Tensor) -> Tensor:
        """Derivatives (*batch_shape, n, m, k) times W."""
        return times(upper, self.W) if self.diagonal is None else upper * self.diagonal.unsqueeze(-2)


def hessian(polynomial: LadderPolynomial, x: Tensor, inputs: Tensor) -> Tensor:
    r"""Second derivatives of every output with respect to every two of the chosen inputs.

    One pass of `hessian_vector_product`'s recursion per chosen input; what is the same for all of them is computed
    once, and layers with a diagonal W cost no matrix product.

    Args:
        polynomial: any ``batch_shape``.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        inputs: positions of the chosen ones. Shape (c,).

    Returns:
        Shape (*batch_shape, n, m, c, c).

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> hessian(square, torch.tensor([[3.0]]), torch.tensor([0]))
        tensor([[[[2.]]]])
    """
    x = polynomial.check_rows(x)
    shape = (*polynomial.batch_shape, x.shape[-2], polynomial.out_features)
    rungs = rungs_at(polynomial, x, inputs)
    found = x.new_zeros(len(inputs), *shape, len(inputs))
    for i in range(len(inputs)) if rungs else ():
        found[i] = along(rungs, i)
    return found.movedim(0, -2)


def rungs_at(polynomial: LadderPolynomial, x: Tensor, inputs: Tensor) -> list[RungAt]:
    """The layers at rows, derivatives with respect to their states included."""
    h, factors = x, []
    for W, b, V, c in polynomial.layers():
        u, gate = affine(h, W, b), affine(x, V, c)
        factors.append((W, V[..., inputs], u, gate))
        h = u * gate
    upper = polynomial.readout.unsqueeze(-3)
    found: list[RungAt] = []
    for place, (W, V, u, gate) in reversed(list(enumerate(factors))):
        below = factors[place - 1][1] if place else None
        shares = below is not None and below.shape == V.shape and torch.equal(below, V)
        rung = RungAt(W if place else W[..., inputs], V, diagonal_of(W) if place else None, u, gate, upper, shares)
        found.insert(0, rung)
        if place:
            upper = rung.backward(upper * gate.unsqueeze(-2))
    return found


def along(rungs: list[RungAt], i: int) -> Tensor:
    """Second derivatives with respect to the i-th and every chosen input. Shape (*batch_shape, n, m, c)."""
    du = rungs[0].W[..., i].unsqueeze(-2)
    moved, dh = [], du
    for place, rung in enumerate(rungs):
        du = rung.forward(dh) if place else du
        dgate = rung.V[..., i].unsqueeze(-2)
        moved.append((du, dgate))
        dh = du * rung.gate + rung.u * dgate
    d_upper = torch.zeros_like(rungs[-1].upper)
    total = d_upper.new_zeros(())
    # Gates that several layers share are multiplied once, at the end.
    gathered = d_upper.new_zeros(())
    for rung, (du, dgate) in reversed(list(zip(rungs, moved, strict=True))):
        gathered = gathered + d_upper * rung.u.unsqueeze(-2) + rung.upper * du.unsqueeze(-2)
        if not rung.shares:
            total = total + times(gathered, rung.V)
            gathered = d_upper.new_zeros(())
        d_upper = rung.backward(d_upper * rung.gate.unsqueeze(-2) + rung.upper * dgate.unsqueeze(-2))
    return total + d_upper
