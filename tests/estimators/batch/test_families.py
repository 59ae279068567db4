from typing import Any

import pytest
import torch

from polyladder import merge
from polyladder.estimators.batch.families import Family, Kernels, LadderFamily, Machines, Networks
from tests.ladders import rows

FAMILIES: list[Any] = [
    LadderFamily((4, 3), batch_norm=True),
    LadderFamily((), batch_norm=False),
    Networks((4, 3), "quadratic", batch_norm=False),
    Machines(2, 3),
    Machines(3, 2),
    Kernels(3, 2),
]
EXACT = [family for family in FAMILIES if not isinstance(family, Networks)]
each = pytest.mark.parametrize("family", FAMILIES, ids=repr)


def built(family: Family, seeds: list[int], dtype: torch.dtype = torch.float32, m: int = 2) -> Any:
    return family.build(5, m, seeds, torch.zeros(len(seeds)), dtype)


@each
def test_models_are_built_one_per_seed(family: Family) -> None:
    net = built(family, [3, 7])
    assert tuple(net.batch_shape) == (2,)
    assert (net.in_features, net.out_features) == (5, 2)
    assert all(p.dtype == torch.float32 for p in net.parameters())
    alone = built(family, [7])
    for name, value in alone.state_dict().items():
        assert torch.equal(net.state_dict()[name][1], value[0]), name


@each
def test_trained_models_are_what_the_module_computes(family: Family) -> None:
    net = built(family, [3, 7]).eval()
    models = family.trained(net)
    x = rows(6, 5)
    assert len(models) == 2
    for i, model in enumerate(models):
        f = model(x)
        assert f.dtype == torch.float64
        torch.testing.assert_close(f, net[i](x.float()).double(), rtol=1e-4, atol=1e-5)
    if isinstance(family, LadderFamily):
        assert models[0] == merge(net)[0].to(torch.float64)


@pytest.mark.parametrize("family", EXACT, ids=repr)
def test_exact_solves_lower_the_loss_of_every_model(family: Family) -> None:
    x = rows(40, 5)
    y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
    start = family.start(5, 1, [3, 7])
    models, curves, iterations = family.solve(start, x, y, 4, loss="squared", alpha=1e-3, tolerance=0.0)
    assert len(models) == len(curves) == 2
    assert all(1 <= n <= 4 for n in iterations.tolist())
    for model, curve in zip(models, curves, strict=True):
        first, last = curve[0].item(), curve[curve.isfinite()][-1].item()
        assert last <= first * (1 + 1e-12)
        error = (model(x) - y).square().mean().item()
        assert error <= last
        assert error < y.var().item()


@pytest.mark.parametrize("family", EXACT, ids=repr)
def test_starts_belong_to_their_seeds(family: Family) -> None:
    def outputs(seeds: list[int]) -> torch.Tensor:
        return family.start(5, 2, seeds)(rows(3, 5))

    torch.testing.assert_close(outputs([3, 7])[1], outputs([7])[0])
    assert outputs([3]).dtype == torch.float64


def test_networks_have_no_exact_solves() -> None:
    family = Networks((4,), "relu", batch_norm=False)
    with pytest.raises(NotImplementedError, match=r"Networks have no exact solves\."):
        family.solve(None, rows(3, 5), rows(3, 1), 1)


@each
@pytest.mark.parametrize("m", [1, 3])
def test_sizes_count_the_weights(family: Family, m: int) -> None:
    net = built(family, [0], m=m)
    norms = sum(p.numel() for name, p in net.named_parameters() if "norms" in name)
    assert family.sizes(5, m).weights == sum(p.numel() for p in net.parameters()) - norms
    assert min(family.sizes(5, m)) > 0


def test_equal_families_can_share_a_program() -> None:
    assert LadderFamily((4, 3), batch_norm=True) == FAMILIES[0]
    assert len({*FAMILIES, Machines(2, 3), Kernels(3, 2)}) == len(FAMILIES)
