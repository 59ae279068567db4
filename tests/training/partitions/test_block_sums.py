"""A block's sums against the regression written out row by row."""

from __future__ import annotations

import torch

from polyladder.tables.partitions import Part
from polyladder.training.partitions.block_sums import OfBlock
from polyladder.training.solves.alternating import random_start
from polyladder.training.solves.blocks import blocks_of


def test_gram_and_moment_are_those_of_the_jacobian():
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(40, 3, dtype=torch.float64, generator=g), torch.randn(40, dtype=torch.float64, generator=g)
    weight = torch.rand(40, dtype=torch.float64, generator=g)
    theta = blocks_of(random_start(3, (2, 4), 1, [0], 1), x[:0]).weights()

    def outputs(block, value):
        weights = [value if i == block else t[0] for i, t in enumerate(theta)]
        ones = torch.ones(40, 1, dtype=torch.float64)
        inputs = torch.cat([x, ones], 1)
        h = inputs
        for w, v in zip(weights[:2], weights[2:4], strict=True):
            h = torch.cat([(h @ w.mT) * (inputs @ v.mT), ones], 1)
        return (h @ weights[-1].mT)[:, 0]

    for block in range(5):
        jacobian = torch.func.jacrev(outputs, argnums=1)(block, theta[block][0]).flatten(1)
        left = y - outputs(block, theta[block][0])
        sums = OfBlock(theta, block, "squared", torch.float64)(Part(0, x, y, weight))
        torch.testing.assert_close(sums.gram[0], jacobian.mT @ (weight[:, None] * jacobian))
        torch.testing.assert_close(sums.moment[0].flatten(), jacobian.mT @ (weight * left))
        torch.testing.assert_close(sums.loss[0], (weight * left**2).sum())
        torch.testing.assert_close(sums.weight, weight.sum())
