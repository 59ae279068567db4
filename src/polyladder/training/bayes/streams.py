"""Random streams, one per model: what a model draws does not depend on its neighbors in a batch."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.models.batched import Seeds


class Streams:
    """One NumPy generator per model; every method returns a float64 tensor with the models first.

    Args:
        seed: one integer (model i of the flattened batch takes ``seed + i``), one per model, or None for fresh entropy.
        batch_shape: of the models.
        device: where the draws are put.
    """

    def __init__(self, seed: Seeds, batch_shape: Sequence[int], device: torch.device | str = "cpu") -> None:
        count = math.prod(batch_shape)
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(count)]
        else:
            seeds = [int(s) for s in torch.as_tensor(seed).flatten()]
            if len(seeds) != count:
                raise ValueError(f"seed must be one integer or {count} of them, one per model; got {len(seeds)}.")
        self.generators = [np.random.default_rng(s) for s in seeds]
        self.device = device

    def copy(self) -> Streams:
        """Streams that will give the same draws as these, without disturbing them."""
        return copy.deepcopy(self)

    def beyond(self, uniforms: int) -> Streams:
        """The streams as they would be after this many uniform draws for each model."""
        found = self.copy()
        for generator in found.generators:
            # A uniform draw is one step of the generator, so that any number of them can be skipped at once.
            bits = generator.bit_generator
            assert isinstance(bits, np.random.PCG64)
            bits.advance(uniforms)
        return found

    def normal(self, *shape: int) -> Tensor:
        """Standard normal draws. Shape (B, *shape)."""
        return self._each(lambda g, _: g.standard_normal(shape))

    def uniform(self, *shape: int) -> Tensor:
        """Draws from the open interval (0, 1). Shape (B, *shape)."""
        return self._each(lambda g, _: g.random(shape)) * (1 - 2.0**-52) + 2.0**-53

    def gamma(self, shape: Tensor, rate: Tensor) -> Tensor:
        """Gamma draws for given shapes and rates (B, ...) or (1, ...), which are broadcast. Shape (B, ...)."""
        shapes = shape.expand(len(self.generators), *shape.shape[1:]).cpu().numpy()
        return self._each(lambda g, i: g.standard_gamma(shapes[i])) / rate

    def _each(self, draw: Callable[[np.random.Generator, int], Any]) -> Tensor:
        draws = np.stack([draw(g, i) for i, g in enumerate(self.generators)])
        return torch.from_numpy(draws).to(self.device)
