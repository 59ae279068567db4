import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from polyladder.training.bayes.noise import TILT, GammaPrior, Noise, log_tilt, noise_columns, student_log_density
from polyladder.training.bayes.streams import Streams

CHAINS = 1500
INF = math.inf
Y = torch.tensor([0.3, -1.0, 2.5, 0.1, -0.4, 1.2], dtype=torch.float64)
WEIGHT = torch.tensor([[1.0, 2.0, 1.0, 0.0, 1.0, 1.0]], dtype=torch.float64)
NO_FEATURES = torch.empty(0, 6, dtype=torch.float64)


def known(value: float) -> GammaPrior:
    """A prior so narrow that it fixes a precision."""
    return GammaPrior(1e10, 1e10 / value)


def noise(
    degrees: list[float], prior: GammaPrior, precision: float, features: torch.Tensor = NO_FEATURES
) -> tuple[Noise, torch.Tensor]:
    """Chains that all see the targets Y around outputs of zero."""
    start = torch.full((CHAINS, 1), precision, dtype=torch.float64)
    grid = torch.tensor(degrees, dtype=torch.float64)
    return Noise(Y[None, None], grid, prior, start, features, known(1.0)), torch.zeros(CHAINS, 1, 6).double()


def test_gaussian_noise_has_the_gamma_posterior() -> None:
    found, f = noise([INF], GammaPrior(2.0, 3.0), 1.0)
    response, precision = found.renew(f, WEIGHT, Streams(0, (CHAINS,)))
    assert torch.equal(response[0, 0], Y)
    assert torch.equal(precision, found.precision.unsqueeze(-1).expand(-1, -1, 6))
    squares = sum(w * y**2 for w, y in zip(WEIGHT[0].tolist(), Y.tolist(), strict=True))
    posterior = stats.gamma(2.0 + 6.0 / 2, scale=1 / (3.0 + squares / 2))
    assert stats.kstest(found.precision[:, 0], posterior.cdf).pvalue > 1e-4
    scale, degrees, slopes = found.kept()
    torch.testing.assert_close(scale, found.precision**-0.5)
    assert degrees.isinf().all()
    assert slopes.shape == (CHAINS, 1, 0)


def test_degrees_of_freedom_are_drawn_by_their_likelihood() -> None:
    found, f = noise([1.0, 4.0, INF], known(2.0), 2.0)
    found.renew(f, torch.ones(1, 6, dtype=torch.float64), Streams(1, (CHAINS,)))
    logs = [stats.t(nu, scale=2**-0.5).logpdf(Y).sum() for nu in (1.0, 4.0)] + [stats.norm(0, 2**-0.5).logpdf(Y).sum()]
    expected = np.exp(logs) / np.exp(logs).sum()
    for value, probability in zip((1.0, 4.0, INF), expected, strict=True):
        share = (found.degrees == value).double().mean().item()
        assert abs(share - probability) < 5 * math.sqrt(probability * (1 - probability) / CHAINS)


def test_an_outlier_counts_less() -> None:
    found, f = noise([3.0], known(2.0), 2.0)
    _, precision = found.renew(f, WEIGHT, Streams(2, (CHAINS,)))
    relative = precision / found.precision.unsqueeze(-1)
    for i in range(6):
        w = WEIGHT[0, i].item()
        posterior = stats.gamma((3 + w) / 2, scale=2 / (3 + 2.0 * w * Y[i].item() ** 2))
        assert stats.kstest(relative[:, 0, i], posterior.cdf).pvalue > 1e-4
    assert relative[:, 0, 2].mean() < 0.5 * relative[:, 0, 0].mean()


@pytest.mark.slow
def test_slopes_reach_their_posterior() -> None:
    """One slope of known prior and noise, against its density on a fine grid."""
    phi = torch.tensor([[1.0, -0.5, 2.0, 0.3, -1.5, 0.2]], dtype=torch.float64)
    found, f = noise([INF], known(2.0), 2.0, phi)
    streams = Streams(3, (CHAINS,))
    for _ in range(8):
        _, precision = found.renew(f, WEIGHT, streams)
    at = np.linspace(-8, 8, 4001)
    tilt = 2 * np.tanh(at[:, None] * phi[0].numpy() / 2)
    squares = 2.0 * WEIGHT[0].numpy() * Y.numpy() ** 2
    log_density = (WEIGHT[0].numpy() * tilt - squares * np.exp(tilt)).sum(1) / 2 - at**2 / 2
    below = np.cumsum(np.exp(log_density - log_density.max()))
    assert stats.kstest(found.slopes[:, 0, 0], lambda s: np.interp(s, at, below / below[-1])).pvalue > 1e-4
    expected = found.precision * (TILT * (found.slopes[:, 0] * phi / TILT).tanh()).exp()
    torch.testing.assert_close(precision[:, 0], expected)


@pytest.mark.slow
def test_what_is_remembered_is_enough_to_go_on() -> None:
    phi = torch.tensor([[1.0, -0.5, 2.0, 0.3, -1.5, 0.2]], dtype=torch.float64)
    first, f = noise([4.0, INF], GammaPrior(2.0, 3.0), 1.0, phi)
    streams = Streams(4, (CHAINS,))
    first.renew(f, WEIGHT, streams)
    other, _ = noise([4.0, INF], GammaPrior(2.0, 3.0), 9.0, phi)
    other.recall(first.memory())
    again = streams.copy()
    for one, two in zip(first.renew(f, WEIGHT, streams), other.renew(f, WEIGHT, again), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("weight", [1.0, 2.5])
@pytest.mark.parametrize("squares", [0.1, 7.0])
def test_the_student_density_is_a_mixture_of_gaussian_ones(weight: float, squares: float) -> None:
    def mixture(nu: float) -> float:
        relative = stats.gamma(nu / 2, scale=2 / nu)
        return integrate.quad(lambda l: relative.pdf(l) * l ** (weight / 2) * math.exp(-l * squares / 2), 0, INF)[0]

    def found(nu: float) -> float:
        w, s = torch.tensor(weight, dtype=torch.float64), torch.tensor(squares, dtype=torch.float64)
        return student_log_density(s, w, torch.tensor(nu, dtype=torch.float64)).item()

    for nu in (2.0, 5.0, 30.0):
        assert found(nu) == pytest.approx(math.log(mixture(nu)), abs=1e-8)
    assert found(1e7) == pytest.approx(found(INF), abs=1e-4)
    assert found(INF) == -squares / 2


def test_tilts_are_as_given_while_small_and_bounded_after() -> None:
    raw = torch.tensor([-100.0, -0.01, 0.0, 0.01, 100.0], dtype=torch.float64)
    torch.testing.assert_close(log_tilt(raw), torch.tensor([-TILT, -0.01, 0.0, 0.01, TILT]).double(), rtol=1e-4, atol=0)


def test_noise_may_depend_on_inputs_and_their_squares() -> None:
    columns = noise_columns(torch.tensor([[0.5, -7.0]], dtype=torch.float64))
    assert columns.tolist() == [[0.5, -3.0, (0.25 - 1) / 2, (9 - 1) / 2]]


@pytest.mark.parametrize(("shape", "rate"), [(0.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, INF)])
def test_a_gamma_prior_must_be_proper(shape: float, rate: float) -> None:
    with pytest.raises(ValueError, match="A Gamma prior must have a positive shape and rate; got"):
        GammaPrior(shape, rate)
