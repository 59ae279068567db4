import numpy as np
import pytest
import torch

from polyladder import LPNN
from polyladder.models.normalization import BatchNorm, Dropout


def activations(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scrambled(batch_shape: tuple[int, ...]) -> BatchNorm:
    norm = BatchNorm(4, batch_shape, torch.float64)
    with torch.no_grad():
        norm.gamma.copy_(activations(*batch_shape, 4, seed=1))
        norm.beta.copy_(activations(*batch_shape, 4, seed=2))
    return norm


@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3)])
def test_every_unit_of_every_model_has_its_own_statistics(batch_shape: tuple[int, ...]) -> None:
    norm = scrambled(batch_shape)
    models = int(np.prod(batch_shape))
    mean, variance = np.zeros((models, 4)), np.ones((models, 4))
    gamma, beta = (t.detach().reshape(models, 4).numpy() for t in (norm.gamma, norm.beta))
    for step in range(2):
        h = activations(models, 4, 7, seed=3 + step) * 3 + 1
        y = norm(h)
        for b in range(models):
            for k in range(4):
                row = h[b, k].numpy()
                expected = gamma[b, k] * (row - row.mean()) / np.sqrt(row.var() + 1e-5) + beta[b, k]
                np.testing.assert_allclose(y[b, k].detach().numpy(), expected, rtol=1e-10, atol=1e-12)
                mean[b, k] = 0.9 * mean[b, k] + 0.1 * row.mean()
                variance[b, k] = 0.9 * variance[b, k] + 0.1 * row.var(ddof=1)
    np.testing.assert_allclose(norm.mean.reshape(models, 4), mean, rtol=1e-12)
    np.testing.assert_allclose(norm.variance.reshape(models, 4), variance, rtol=1e-12)


def test_evaluation_is_the_affine_map_and_learns_nothing() -> None:
    norm = scrambled((2,))
    norm(activations(2, 4, 9, seed=5) + 2)
    norm.eval()
    before = norm.mean.clone()
    h = activations(2, 4, 1, seed=6)
    scale, shift = norm.affine()
    torch.testing.assert_close(norm(h), scale.unsqueeze(-1) * h + shift.unsqueeze(-1), rtol=1e-12, atol=1e-12)
    assert torch.equal(norm.mean, before)
    assert repr(norm) == "BatchNorm(4)"


def test_one_row_has_no_variance() -> None:
    with pytest.raises(ValueError, match=r"at least 2 rows in train mode; got 1\. Call \.eval\(\)"):
        BatchNorm(4, (2,))(torch.zeros(2, 4, 1))


def test_dropout_has_a_rate_for_every_model() -> None:
    rates = torch.tensor([0.0, 0.25, 0.9])
    net = LPNN(2, (50,), 1, dropout=rates, batch_shape=(3,), seed=0)
    h = torch.ones(3, 50, 400)
    torch.manual_seed(0)
    dropped = net.dropout(h.clone())
    torch.testing.assert_close((dropped == 0).float().mean((1, 2)), rates, atol=0.01, rtol=0)
    torch.testing.assert_close(dropped.mean((1, 2)), torch.ones(3), atol=0.05, rtol=0)
    assert torch.equal(dropped[0], h[0])
    assert torch.equal(net.eval().dropout(h.clone()), h)
    assert net[2].dropout.rate.item() == pytest.approx(0.9)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 7), (2, 5, 1)])
def test_dropout_keeps_or_removes_whole_entries_of_any_shape(shape: tuple[int, ...]) -> None:
    dropout = Dropout(torch.full((shape[0],), 0.5, dtype=torch.float64))
    torch.manual_seed(1)
    h = torch.full(shape, 3.0)
    values = {v for _ in range(30) for v in dropout(h.clone()).flatten().tolist()}
    assert values == {0.0, 6.0}


def test_a_rate_of_zero_draws_nothing() -> None:
    state, h = torch.get_rng_state(), torch.ones(2, 3, 4)
    assert Dropout(torch.zeros(2))(h) is h
    assert torch.equal(torch.get_rng_state(), state)


def test_dropout_says_its_rates() -> None:
    assert repr(Dropout(torch.tensor(0.25))) == "Dropout(0.25)"
    assert repr(Dropout(torch.tensor([0.5, 0.25]))) == "Dropout(0.25 to 0.5)"
