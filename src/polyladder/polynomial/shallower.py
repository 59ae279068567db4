"""A shallower ladder as a special case of a deeper one."""

from __future__ import annotations

from polyladder.polynomial.ladder import LadderPolynomial


def shallower(polynomial: LadderPolynomial, layer: int) -> LadderPolynomial:
    """The ladder that ``polynomial`` becomes once W^layer = 0 and b^layer = 1.

    Then h^layer = V^layer x + c^layer is affine in x, so everything below it falls away and the next layer reads x
    directly. What is returned has L - layer layers; with ``layer = L`` it is an affine function.

    Args:
        polynomial: L layers, any ``batch_shape``.
        layer: which one, counted from 1 as in the paper.
    """
    if isinstance(layer, bool) or not isinstance(layer, int) or not 1 <= layer <= len(polynomial.W):
        raise ValueError(f"layer must be an integer from 1 to {len(polynomial.W)}; got {layer!r}.")
    gate, gate_intercept = polynomial.V[layer - 1], polynomial.c[layer - 1]
    W, b = list(polynomial.W[layer:]), list(polynomial.b[layer:])
    readout, offset = polynomial.readout, polynomial.offset
    if W:
        b[0] = b[0] + (W[0] @ gate_intercept.unsqueeze(-1)).squeeze(-1)
        W[0] = W[0] @ gate
    else:
        offset = offset + (readout @ gate_intercept.unsqueeze(-1)).squeeze(-1)
        readout = readout @ gate
    return LadderPolynomial(
        W=tuple(W), b=tuple(b), V=polynomial.V[layer:], c=polynomial.c[layer:], readout=readout, offset=offset
    )
