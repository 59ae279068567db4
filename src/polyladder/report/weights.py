"""Numbers in bulk and the weights of ladders, as the page carries them."""

from __future__ import annotations

import base64
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from polyladder.polynomial.ladder import LadderPolynomial


def packed(values: Any) -> str:
    """Numbers as base64 of little-endian float64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def ladders_json(ladders: LadderPolynomial) -> dict[str, Any]:
    """The weights, draw after draw: W, b, V, c of each layer, then readout and offset.

    Of a layer that is diagonal in every draw only the diagonal is written, and of gates that repeat those of the layer
    before nothing.

    Args:
        ladders: batch shape (draws,), float64.
    """
    diagonals = [W.diagonal(dim1=-2, dim2=-1) for W in ladders.W]
    square = [W.shape[-1] == W.shape[-2] for W in ladders.W]
    diagonal = [l > 0 and square[l] and torch.equal(torch.diag_embed(diagonals[l]), W) for l, W in enumerate(ladders.W)]
    gates = list(zip(ladders.V, ladders.c, strict=True))
    repeated = [False] + [all(map(torch.equal, now, before)) for before, now in pairwise(gates)]
    layers = []
    for l, (W, b, V, c) in enumerate(ladders.layers()):
        layers += [diagonals[l] if diagonal[l] else W, b, *(() if repeated[l] else (V, c))]
    weights = torch.cat([t.flatten(1) for t in (*layers, ladders.readout, ladders.offset)], 1)
    return {
        "draws": len(ladders),
        "inputs": ladders.in_features,
        "hidden": list(ladders.hidden),
        "outputs": ladders.out_features,
        "diagonal": diagonal,
        "repeated": repeated,
        "weights": packed(weights),
    }
