import math

import pytest
import torch

from polyladder import LPNN, stack
from polyladder.models.batched import BatchedModule, generators, per_model, positive_integer


def test_slices_are_copies_and_keep_the_mode() -> None:
    net = LPNN(3, (4,), 1, batch_shape=(3,), seed=0).eval()
    one = net[1]
    assert not one.training
    with torch.no_grad():
        one.readout.zero_()
    assert net.readout[1].any()
    assert one.readout.requires_grad
    with pytest.raises(IndexError, match="single model"):
        one[0]
    with pytest.raises(ValueError, match="one architecture"):
        stack([one, LPNN(3, (5,), 1)])
    with pytest.raises(ValueError, match="at least one model"):
        stack([])


def test_frozen_parameters_stay_frozen_through_slices_and_stacks() -> None:
    net = LPNN(3, (4,), 1, batch_shape=(2,), seed=0)
    net.V[0].requires_grad_(False)
    again = stack([net[0], net[1]])
    for part in (net[1], again):
        assert [p.requires_grad for p in part.parameters()] == [p.requires_grad for p in net.parameters()]
    assert not again.V[0].requires_grad
    assert again.W[0].requires_grad


@pytest.mark.parametrize("index", [0, -1, slice(1, None), (0, 2), (slice(None), 1), ...])
def test_slices_are_those_of_every_tensor(index: object) -> None:
    net = LPNN(3, (4,), 1, batch_norm=True, batch_shape=(2, 3), seed=0)
    part = net[index]
    for name, value in net.state_dict().items():
        assert torch.equal(part.state_dict()[name], value[index]), name
    assert part.batch_shape == net.readout[index].shape[:-2]


def test_an_ellipsis_counts_models_alone() -> None:
    net = LPNN(3, (4,), 1, batch_shape=(2, 3), seed=0)
    assert torch.equal(net[..., -1].readout, net.readout[:, 2])


def test_models_of_other_batches_do_not_stack() -> None:
    with pytest.raises(ValueError, match="stack must be given models of one architecture; got LPNN"):
        stack([LPNN(3, (4,), 1, batch_shape=(2,)), LPNN(3, (4,), 1, batch_shape=(3,))])
    with pytest.raises(ValueError, match="one architecture"):
        stack([LPNN(3, (4,), 1, gate_bias=True), LPNN(3, (4,), 1, gate_bias=False)])


def test_a_model_must_say_what_its_batch_shares() -> None:
    with pytest.raises(NotImplementedError, match="BatchedModule must say which constructor arguments"):
        BatchedModule().architecture()


@pytest.mark.parametrize("value", [0, -2, 1.0, "3", True, None, math.nan])
def test_positive_integer_refuses(value: object) -> None:
    with pytest.raises(ValueError, match="width must be a positive integer; got"):
        positive_integer("width", value)
    assert positive_integer("width", 7) == 7


def test_per_model_spreads_one_number_and_keeps_many() -> None:
    spread = per_model("rate", 0.25, (2, 3), 0.0, 1.0)
    assert spread.dtype == torch.float64
    assert torch.equal(spread, torch.full((2, 3), 0.25, dtype=torch.float64))
    spread[0, 0] = 0.5
    assert spread[1, 1] == 0.25
    given = torch.tensor([0.0, 0.5])
    kept = per_model("rate", given, (2,), 0.0, 1.0)
    assert torch.equal(kept, given.double())
    kept[0] = 0.9
    assert given[0] == 0


@pytest.mark.parametrize("value", [-0.1, 1.0, math.nan, math.inf, torch.tensor([0.5, 1.5])])
def test_per_model_refuses_what_lies_outside(value: object) -> None:
    with pytest.raises(ValueError, match=r"rate must be in \[0, 1\); got"):
        per_model("rate", value, (2,), 0.0, 1.0)  # type: ignore[arg-type]


def test_per_model_refuses_another_shape() -> None:
    with pytest.raises(ValueError, match=r"rate must be one number or have shape \(2,\).*; got shape \(3,\)"):
        per_model("rate", torch.zeros(3), (2,), 0.0, 1.0)


def test_every_model_has_a_random_stream_of_its_own() -> None:
    def draws(streams: list[torch.Generator | None]) -> list[float]:
        return [torch.rand(1, generator=g).item() for g in streams]

    expected = [torch.rand(1, generator=torch.Generator().manual_seed(s)).item() for s in (5, 6, 7, 8)]
    assert draws(generators(5, (2, 2))) == expected
    assert draws(generators([8, 5], (2,))) == [expected[3], expected[0]]
    assert draws(generators(torch.tensor([[7], [6]]), (2, 1))) == [expected[2], expected[1]]
    assert generators(None, (2, 3)) == [None] * 6
    assert len(generators(0, ())) == 1
    with pytest.raises(ValueError, match=r"seed must be one integer or 3 of them.*; got 2"):
        generators([1, 2], (3,))
