"""The cores contract to the network, and the tensor that they stand for holds its coefficients."""

from collections import Counter
from itertools import product

import pytest
import torch

from polyladder import tensor_train
from polyladder.analysis.tensor_train import TensorTrain
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.expansion import expand, monomials, over_batch


def full_tensor(train: TensorTrain) -> torch.Tensor:
    """All (d + 1)^p coefficients of a single train, contracted bond by bond. Shape (m, n_L, ..., n_0)."""
    tensor = train.cores[-1]
    for core in reversed(train.cores[:-1]):
        tensor = torch.tensordot(tensor, core, dims=1)
    return tensor.squeeze(-1)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("layers", range(7))
def test_contraction_is_the_network(layers: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(3, [4, 2, 5, 3, 4, 2][:layers], 2, batch_shape, seed=layers)
    train = tensor_train(p)
    assert len(train.cores) == p.order
    x = rows(6, 3)
    torch.testing.assert_close(train(x), p(x), rtol=1e-9, atol=1e-9)
    own = rows(6 * torch.Size(batch_shape).numel(), 3, seed=2).reshape(*batch_shape, 6, 3)
    torch.testing.assert_close(train(own), p(own), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", range(2, 8))
def test_full_tensor_holds_the_coefficients(order: int) -> None:
    p = random_ladder(2, [3] * (order - 1), 2, seed=order)
    tensor = full_tensor(tensor_train(p))
    assert tensor.shape == (2, *[3] * order)
    for entries, f in zip(tensor, expand(p), strict=True):
        collected: Counter[tuple[int, ...]] = Counter()
        for places in product(range(3), repeat=order):
            # Place 2 of x-hat is the constant 1.
            collected[places.count(0), places.count(1)] += entries[places].item()
        expected = monomials(f)
        assert collected.keys() == expected.keys()
        for exponents, value in expected.items():
            assert collected[exponents] == pytest.approx(value, rel=1e-9, abs=1e-10)


def test_agrees_with_tntorch() -> None:
    tntorch = pytest.importorskip("tntorch", reason="tntorch is not installed: the comparison with it is NOT run")
    p = random_ladder(3, (4, 5, 2), 2)
    train = tensor_train(p)
    x = rows(1, 3)[0]
    x_hat = torch.cat([x, x.new_ones(1)])
    for output in range(2):
        # Their cores are (bond below, entry, bond above), with open ends of size one.
        cores = [core.permute(2, 1, 0).contiguous() for core in train.cores]
        cores[-1] = cores[-1][..., output : output + 1].contiguous()
        theirs = tntorch.Tensor(cores)
        ours = full_tensor(train)[output].permute(3, 2, 1, 0)
        torch.testing.assert_close(theirs.torch(), ours, rtol=1e-9, atol=1e-12)
        powers = tntorch.Tensor([x_hat.reshape(1, -1, 1)] * 4)
        torch.testing.assert_close(tntorch.dot(theirs, powers), p(x.unsqueeze(0))[0, output], rtol=1e-9, atol=1e-12)
        assert theirs.ranks_tt.tolist() == [*train.ranks[:-1], 1]


def test_ranks_and_parameters() -> None:
    p = random_ladder(8, (50, 20), 3, (2,))
    train = tensor_train(p)
    assert train.ranks == (1, 9, 51, 3)
    assert train.n_parameters == 9 * 9 * 1 + 51 * 9 * 9 + 3 * 9 * 51
    assert train.n_ladder_weights == p.n_weights
    assert tuple(train.batch_shape) == (2,)
    assert repr(train) == (
        f"TensorTrain(batch_shape=(2,), order=3, 8 + 1 inputs, ranks 1-9-51-3, {train.n_parameters} parameters; "
        f"the ladder has {p.n_weights})"
    )


def test_each_core_is_one_rung() -> None:
    p = random_ladder(2, (3, 4), 1)
    core = tensor_train(p).cores[1]
    for i, n, j in product(range(3), range(2), range(2)):
        torch.testing.assert_close(core[i, n, j], p.W[0][i, j] * p.V[0][i, n])
        torch.testing.assert_close(core[i, 2, j], p.W[0][i, j] * p.c[0][i])
        torch.testing.assert_close(core[i, n, 2], p.b[0][i] * p.V[0][i, n])


def test_differentiable_in_the_weights() -> None:
    p = random_ladder(2, (3,), 1)
    p.W[0].requires_grad_()
    x = rows(4, 2)
    (of_train,) = torch.autograd.grad(tensor_train(p)(x).sum(), p.W[0])
    (of_ladder,) = torch.autograd.grad(p(x).sum(), p.W[0])
    torch.testing.assert_close(of_train, of_ladder)


def test_batch_is_each_alone() -> None:
    p = random_ladder(2, (3, 2), 2, (2, 3))
    train = tensor_train(p)
    for l in range(3):
        torch.testing.assert_close(train.cores[l], over_batch(p, lambda q, l=l: tensor_train(q).cores[l]))


def test_refuses_other_rows() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\); got shape \(4, 2\)"):
        tensor_train(random_ladder())(rows(4, 2))
