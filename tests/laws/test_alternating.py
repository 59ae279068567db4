"""Law: the regularized loss never rises, block by block."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder.training.losses import LOSSES
from polyladder.training.solves import block_step, sweep
from polyladder.training.solves import blocks as blocks_module
from polyladder.training.solves.blocks import Blocks, blocks_of
from polyladder.training.solves.descent import Objective
from polyladder.training.solves.quadratic_bound import quadratic_bound
from polyladder.training.solves.ridge import Ridge
from tests.ladders import BATCH_SHAPES, random_ladder, rows

SWEEPS = 2


def row_losses(loss: str, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The loss of each row in torch's words. Shape (B, n, m) to (B, n)."""
    if loss == "squared":
        return (f - y).square().sum(-1)
    if loss == "huber":
        bounds = quadratic_bound(loss, y, y, y.shape[1]).loss.thresholds  # type: ignore[attr-defined]
        columns = zip(f.unbind(-1), y.unbind(-1), bounds, strict=True)
        each = [torch.nn.functional.huber_loss(a, b.expand_as(a), reduction="none", delta=t) for a, b, t in columns]
        return 2 * torch.stack(each).sum(0)
    if loss == "logistic":
        return -torch.nn.functional.logsigmoid((2 * y - 1) * f[..., 0])
    return torch.nn.functional.cross_entropy(f.mT, y.expand(f.shape[:-1]), reduction="none")


def draw_targets(loss: str, n: int, m: int, seed: int) -> torch.Tensor:
    y = rows(n, m, seed=seed)
    if loss == "logistic":
        return (y[:, 0] > 0).double()
    return y.argmax(1) if loss == "softmax" else y


@pytest.mark.parametrize("loss", LOSSES)
@given(
    d=st.integers(1, 4),
    hidden=st.lists(st.integers(1, 4), max_size=3),
    outputs=st.integers(1, 3),
    batch_shape=st.sampled_from(BATCH_SHAPES),
    n=st.integers(2, 40),
    exponents=st.lists(st.floats(-7, 1), min_size=7, max_size=7),
    weighted=st.booleans(),
    limit=st.sampled_from([4000, 4000, 0]),
    single=st.booleans(),
    relaxation=st.sampled_from([1.0, 1.6, 1.9]),
    seed=st.integers(0, 2**31),
)
def test_the_regularized_loss_never_rises(
    loss: str,
    d: int,
    hidden: list[int],
    outputs: int,
    batch_shape: tuple[int, ...],
    n: int,
    exponents: list[float],
    weighted: bool,
    limit: int,
    single: bool,
    relaxation: float,
    seed: int,
) -> None:
    m = {"logistic": 1, "softmax": outputs + 1}.get(loss, outputs)
    p = random_ladder(d, hidden, m, batch_shape, seed=seed)
    count, depth = torch.Size(batch_shape).numel(), len(hidden)
    x, y = rows(n, d, seed=seed), draw_targets(loss, n, m, seed + 1)
    weight = rows(n, count, seed=seed + 2).abs().T if weighted else torch.ones(1, n, dtype=torch.float64)
    # One ridge weight a block, another for each model.
    block = 10.0 ** torch.tensor(exponents[: 2 * depth + 1], dtype=torch.float64)
    alpha = block[:, None] * torch.arange(1.0, count + 1, dtype=torch.float64)

    def objectives(blocks: Blocks) -> torch.Tensor:
        """From the weights alone, by the ladder's own evaluation. Shape (B,)."""
        ladders = blocks.polynomial()
        mean = (weight * row_losses(loss, ladders(x), y)).sum(-1) / weight.sum(-1)
        t = ladders.tensors()
        names = [(f"{w}.{l}", f"{b}.{l}") for w, b in ("Wb", "Vc") for l in range(depth)]
        squares = [t[w].square().sum((1, 2)) + t[b].square().sum(1) for w, b in names]
        return mean + sum(a * s for a, s in zip(alpha, [*squares, t["readout"].square().sum((1, 2))], strict=True))

    checks = []

    def watched(step: Callable[..., Any]) -> Callable[..., Any]:
        def watch(blocks: Blocks, *rest: Any) -> Any:
            before = objectives(blocks)
            result = step(blocks, *rest)
            after = objectives(blocks)
            assert (after <= before + 1e-9 * (1 + before.abs())).all(), (step.__name__, before, after)
            checks.append(step.__name__)
            return result

        return watch

    ridge = Ridge(alpha, torch.zeros(count, dtype=torch.float64))
    objective = Objective(quadratic_bound(loss, y, x, m), weight, ridge)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_step, "DIRECT_LIMIT", limit)
        patch.setattr(blocks_module, "SINGLE_ROWS", 0 if single else 2000)
        blocks = blocks_of(p, x)
        start = objectives(blocks)
        for name in ("solve_readout", "solve_layer", "balance"):
            patch.setattr(sweep, name, watched(getattr(sweep, name)))
        for _ in range(SWEEPS):
            sweep.one_sweep(blocks, objective, estimating=False, relaxation=relaxation)
    assert checks == (["solve_readout"] + ["solve_layer"] * 2 * depth + ["balance"]) * SWEEPS
    assert (objectives(blocks) < start).all()
