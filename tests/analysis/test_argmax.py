from statistics import NormalDist

import pytest
import torch
from scipy.integrate import quad
from torch.autograd import gradcheck

from polyladder.analysis.argmax import argmax_probability

NORMAL = NormalDist()


def random_gaussians(n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(m)
    root = torch.randn(n, m, m, generator=generator, dtype=torch.float64) / m**0.5
    return torch.randn(n, m, generator=generator, dtype=torch.float64), root @ root.mT


def independent_oracle(mean: list[float], sd: list[float]) -> list[float]:
    """For independent entries one integral over the value of the winner is enough."""

    def wins(j: int) -> float:
        def density(z: float) -> float:
            value = NORMAL.pdf(z)
            for k in range(len(mean)):
                if k != j:
                    value *= NORMAL.cdf((mean[j] + sd[j] * z - mean[k]) / sd[k])
            return value

        return float(quad(density, -9, 9, epsabs=1e-11, limit=200)[0])

    return [wins(j) for j in range(len(mean))]


def test_two_classes_are_exact() -> None:
    mean, covariance = random_gaussians(20, 2)
    for p, mu, S in zip(argmax_probability(mean, covariance), mean, covariance, strict=True):
        sd = float(S[0, 0] + S[1, 1] - 2 * S[0, 1]) ** 0.5
        assert float(p[0]) == pytest.approx(NORMAL.cdf(float(mu[0] - mu[1]) / sd), rel=1e-9)
        assert float(p[0] + p[1]) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "allowed"), [(3, 2e-4), (4, 1e-3), (7, 3e-3)])
def test_independent_entries(m: int, allowed: float) -> None:
    mean, covariance = random_gaussians(4, m)
    variance = covariance.diagonal(dim1=-2, dim2=-1)
    found = argmax_probability(mean, torch.diag_embed(variance))
    # What all entries share does not decide which is the largest.
    common = argmax_probability(mean + 3.0, torch.diag_embed(variance) + 0.7)
    expected = [independent_oracle(mu.tolist(), v.sqrt().tolist()) for mu, v in zip(mean, variance, strict=True)]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=allowed)
    torch.testing.assert_close(common, found, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 5, 10])
def test_correlated_entries_against_sampling(m: int) -> None:
    mean, covariance = random_gaussians(5, m)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(40000, 5, m, 1, generator=generator, dtype=torch.float64)
    draws = mean + (torch.linalg.cholesky(covariance) @ noise).squeeze(-1)
    wins = torch.nn.functional.one_hot(draws.argmax(-1), m).double().mean(0)
    found = argmax_probability(mean, covariance)
    assert ((found - wins).abs() <= 5 * (found * (1 - found) / 40000).sqrt() + 2e-3).all()


@pytest.mark.slow
def test_more_nodes_come_closer() -> None:
    mean, covariance = random_gaussians(30, 6)
    best = argmax_probability(mean, covariance, nodes=2**14)
    errors = [float((argmax_probability(mean, covariance, nodes) - best).abs().mean()) for nodes in (16, 128, 1024)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


@pytest.mark.slow
def test_rows_are_independent_of_their_chunk_and_shape() -> None:
    mean, covariance = random_gaussians(60, 4)
    whole = argmax_probability(mean.reshape(3, 20, 4), covariance.reshape(3, 20, 4, 4), nodes=2**12)
    one = torch.cat([argmax_probability(mean[[i]], covariance[[i]], nodes=2**12) for i in range(60)])
    torch.testing.assert_close(whole.reshape(60, 4), one, rtol=1e-10, atol=1e-14)


def test_without_variance_the_largest_mean_wins_and_ties_share() -> None:
    mean = torch.tensor([[1.0, 3.0, 2.0], [4.0, -1.0, 4.0], [0.0, 0.0, 0.0]])
    found = argmax_probability(mean, torch.zeros(3, 3, 3))
    assert found.dtype == torch.float32
    expected = torch.tensor([[0, 1, 0], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)


def test_a_singular_covariance_is_no_obstacle() -> None:
    # f = (z, -z, 0) never lets the third entry win; each of the others wins on one side.
    direction = torch.tensor([[1.0, -1.0, 0.0]], dtype=torch.float64)
    found = argmax_probability(torch.zeros(1, 3).double(), direction.mT @ direction.unsqueeze(0))
    torch.testing.assert_close(found, torch.tensor([[0.5, 0.5, 0.0]], dtype=torch.float64), rtol=0, atol=1e-3)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_differentiable(m: int) -> None:
    mean, root = random_gaussians(2, m)

    def probability(mean: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
        return argmax_probability(mean, root @ root.mT + torch.eye(m), nodes=8)

    assert gradcheck(probability, [mean.requires_grad_(), root.requires_grad_()])


def test_refuses() -> None:
    with pytest.raises(ValueError, match=r"m >= 2; got shapes \(3, 1\) and \(3, 1, 1\)"):
        argmax_probability(torch.zeros(3, 1), torch.zeros(3, 1, 1))
    with pytest.raises(ValueError, match=r"got shapes \(3, 2\) and \(3, 3, 3\)"):
        argmax_probability(torch.zeros(3, 2), torch.zeros(3, 3, 3))
    with pytest.raises(ValueError, match="nodes must be a positive integer; got 0"):
        argmax_probability(torch.zeros(3, 2), torch.zeros(3, 2, 2), nodes=0)
