"""From a polynomial back to a network that can be trained on."""

from __future__ import annotations

import torch

from polyladder.models.ladder import LPNN
from polyladder.polynomial.ladder import LadderPolynomial


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
