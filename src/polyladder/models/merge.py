"""From a trained network to its exact polynomial, and from a polynomial back to a network that can be trained on."""

from __future__ import annotations

import torch

from polyladder.models.ladder import LPNN
from polyladder.models.normalization import BatchNorm
from polyladder.polynomial.ladder import LadderPolynomial


@torch.no_grad()
def merge(net: LPNN) -> LadderPolynomial:
    r"""The polynomial that ``net.eval()`` computes, with batch norm folded into the weights.

    Implements: eq. (12), eq. (13).

    Batch norm after layer l is the affine map h-bar = s * h + t, so it goes into the *next* weight, W^(l+1) or the
    readout:

    .. math:: W = W' \mathrm{diag}(s), \quad b = b' + W' t, \quad
              s = \gamma / \sqrt{\sigma^2 + \epsilon}, \quad t = \beta - s \mu

    Args:
        net: any ``batch_shape``, in either mode; what ``eval`` would compute is merged.
    """
    return live_polynomial(net).map(lambda t: t.detach().clone())


def live_polynomial(net: LPNN) -> LadderPolynomial:
    """The same polynomial while the network is being trained: gradients flow through its weights to the network's.

    Batch norm uses its running statistics, which carry no gradient.
    """
    weights, intercepts = [*net.W, net.readout], [*net.b, net.offset]
    if net.batch_norm:
        for l, norm in enumerate(net.norms, start=1):
            assert isinstance(norm, BatchNorm)
            scale, shift = norm.affine()
            intercepts[l] = intercepts[l] + (weights[l] @ shift.unsqueeze(-1)).squeeze(-1)
            weights[l] = weights[l] * scale.unsqueeze(-2)
    return LadderPolynomial(
        W=tuple(weights[:-1]),
        b=tuple(intercepts[:-1]),
        V=tuple(net.V),
        c=tuple(net.c) or tuple(torch.zeros_like(b) for b in net.b),
        readout=weights[-1],
        offset=intercepts[-1],
    )


@torch.no_grad()
def unmerge(polynomial: LadderPolynomial) -> LPNN:
    """The `LPNN` without batch norm or dropout that computes the given ladders, ready for gradient steps."""
    p = polynomial
    # The start is overwritten; the seed only keeps torch's global stream unchanged.
    net = LPNN(
        p.in_features, p.hidden, p.out_features, batch_shape=p.batch_shape, seed=0, dtype=p.dtype, device=p.device
    )
    for parameters, values in ((net.W, p.W), (net.b, p.b), (net.V, p.V), (net.c, p.c)):
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)
    net.readout.copy_(p.readout)
    net.offset.copy_(p.offset)
    return net
