from dataclasses import replace

import pytest
import torch

from polyladder.training.solves import block_step as module
from polyladder.training.solves.block_step import (
    BlockRegression,
    block_operations,
    conjugate_step,
    direct_operations,
    gram_step,
    iterates,
    rounded_step,
)


def regression(scale: float = 1.0, shared: bool = True, m: int = 1) -> BlockRegression:
    stream = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=stream, dtype=torch.float64)

    B, k, q, n = 3, 4, 5, 300
    g, h = random(B, m, k, n), random(q, n) if shared else random(B, q, n)
    g[:, :, 1] = g[:, :, 0] + scale * g[:, :, 1]  # nearly the same unit twice, if the scale is small
    weight = random(1, n).abs()
    alpha = torch.tensor([1e-9, 1e-3, 1.0], dtype=torch.float64)
    return BlockRegression(g, h, random(B, k, q), random(B, m, n), weight, weight.sum(-1), alpha)


def minimizer(block: BlockRegression, i: int) -> torch.Tensor:
    """The step from the features themselves, by least squares on the rows with the ridge as further rows."""
    h = block.h if block.h.dim() == 2 else block.h[i]
    root = (block.weight[0] / block.total[0]).sqrt()
    features = torch.einsum("okn,qn->onkq", block.g[i], h) * root[:, None, None]
    design, wanted = features.flatten(0, 1).flatten(1), (block.left[i] * root).flatten()
    ridge = block.alpha[i].sqrt() * torch.eye(design.shape[1], dtype=torch.float64)
    both = torch.cat([design, ridge]), torch.cat([wanted, -block.alpha[i].sqrt() * block.theta[i].flatten()])
    return torch.linalg.lstsq(*both).solution.reshape(block.theta[i].shape)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("m", [1, 2])
def test_all_ways_find_the_minimizer(shared: bool, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONJUGATE_TOLERANCE", 1e-12)
    monkeypatch.setattr(module, "CONJUGATE_LIMIT", 1000)
    block = regression(shared=shared, m=m)
    best = torch.stack([minimizer(block, i) for i in range(3)])
    for step, tolerance in ((gram_step, 1e-8), (conjugate_step, 1e-6), (rounded_step, 1e-4)):
        found = step(block, False)
        torch.testing.assert_close(found.weights, best, rtol=tolerance, atol=tolerance)
        values = found.weights @ block.h
        torch.testing.assert_close(found.values, values, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(found.outputs, (block.g * values.unsqueeze(1)).sum(2), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-5, 1e-8])
def test_a_rounded_step_never_raises_the_quadratic(scale: float) -> None:
    block = regression(scale)

    def quadratic(step: module.BlockStep) -> torch.Tensor:
        left = (block.weight.unsqueeze(1) * (block.left - step.outputs).square()).sum((1, 2)) / block.total
        return left + block.alpha * (block.theta + step.weights).square().sum((1, 2))

    none = module.BlockStep(*(0 * t for t in gram_step(block, False)))
    exact, rounded = quadratic(gram_step(block, False)), quadratic(rounded_step(block, False))
    assert (rounded <= quadratic(none)).all()
    # What is missed of the fall that an exact step brings is small.
    assert (rounded - exact <= 0.05 * (quadratic(none) - exact)).all()


def test_a_direction_that_single_precision_spoils_is_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    block = regression()
    asked: list[torch.dtype] = []
    inner = module.gram_step

    def spoiled(
        block: BlockRegression, estimating: bool, dtype: torch.dtype = torch.float64, rows: slice = module.ALL
    ) -> module.BlockStep:
        asked.append(dtype)
        step = inner(block, estimating, dtype, rows)
        if dtype == torch.float32:
            step.weights[1] *= 4
            step = block.effect(step.weights, step.determined)
        return step

    monkeypatch.setattr(module, "gram_step", spoiled)
    found = rounded_step(block, True)
    assert asked == [torch.float32, torch.float64]
    torch.testing.assert_close(found.weights[1], inner(block, True).weights[1], rtol=1e-9, atol=1e-12)


def wide(n: int, gram_rows: int | None, scale: float = 1.0) -> BlockRegression:
    """A block of more weights than are always solved on all rows, with weighted rows."""
    stream = torch.Generator().manual_seed(3)

    def noise(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=stream, dtype=torch.float64)

    k, q = 21, 20
    weight = 0.5 + torch.rand(1, n, generator=stream, dtype=torch.float64)
    h = noise(q, n)
    h[1:] *= scale
    alpha = torch.tensor([1e-3, 1e-5], dtype=torch.float64)
    return BlockRegression(
        noise(2, 1, k, n), h, noise(2, k, q), noise(2, 1, n), weight, weight.sum(-1), alpha, torch.float64, gram_rows
    )


@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_a_step_by_some_rows_falls_nearly_as_far(scale: float) -> None:
    block, whole = wide(12_000, 4_000, scale), wide(12_000, None, scale)
    assert block.sampled == slice(None, None, 3)

    def quadratic(step: module.BlockStep) -> torch.Tensor:
        left = (block.weight.unsqueeze(1) * (block.left - step.outputs).square()).sum((1, 2)) / block.total
        return left + block.alpha * (block.theta + step.weights).square().sum((1, 2))

    exact = module.block_step(whole, False)
    none = quadratic(module.BlockStep(*(0 * t for t in exact)))
    # A tenth as many weights as rows: the direction misses about a tenth of the fall.
    missed = quadratic(module.block_step(block, False)) - quadratic(exact)
    assert (missed >= -1e-9 * none).all()
    assert (missed <= 0.2 * (none - quadratic(exact))).all()


def test_small_blocks_and_few_rows_are_solved_on_all_rows() -> None:
    assert wide(5_000, 4_000).sampled == module.ALL
    assert regression().sampled == module.ALL
    assert replace(regression(), gram_rows=2).sampled == module.ALL
    torch.testing.assert_close(
        module.block_step(wide(3_000, 3_000), False).weights, module.block_step(wide(3_000, None), False).weights
    )


def test_the_way_depends_on_the_shape() -> None:
    assert not iterates(1, 10, 500, 11)
    assert iterates(1, 10, 2300, 129)
    assert iterates(1, 1001, 20, 4)
    assert block_operations(1, 10, 2300, 129) < direct_operations(1, 10, 2300, 129)
    # Counting determined weights takes several solves by iteration, and one by a Gram matrix.
    assert iterates(1, 18, 6000, 41)
    assert not iterates(1, 18, 6000, 41, estimating=True)
    # A Gram matrix of some rows costs less.
    assert iterates(1, 20, 20_000, 41)
    assert not iterates(1, 20, 20_000, 41, gram_rows=5_000)
    assert block_operations(1, 20, 20_000, 41, 5_000) < block_operations(1, 20, 20_000, 41)
