import math

import numpy as np
import pytest
import torch
from scipy import stats

from polyladder import LadderPolynomial, fit_alternating
from polyladder.training.bayes.gibbs import DEGREES, GibbsDraws, Priors, draw_scale, sample_gibbs
from polyladder.training.bayes.noise import GammaPrior
from polyladder.training.bayes.streams import Streams
from polyladder.training.solves.alternating import random_start
from tests.ladders import random_ladder, rows
from tests.oracles.gibbs import quadrature_mean


def known(value: float) -> GammaPrior:
    """A prior so narrow that it fixes a precision."""
    return GammaPrior(1e10, 1e10 / value)


def assert_same(a: GibbsDraws, b: GibbsDraws, tolerance: float) -> None:
    for name, t in a.weights.tensors().items():
        torch.testing.assert_close(t, b.weights.tensors()[name], rtol=tolerance, atol=tolerance)
    for one, other in zip((a.noise, *a.precision), (b.noise, *b.precision), strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def problem(n: int = 80, m: int = 1, noise: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(n, 3)
    f = x[:, :1] * x[:, 1:2] - 0.5 * x[:, :1] + torch.arange(m)
    return x, f + noise * rows(n, m, seed=8)


def fitted(x: torch.Tensor, y: torch.Tensor, width: int = 4, layers: int = 1, chains: int = 2) -> LadderPolynomial:
    start = random_start(x.shape[1], (width,) * layers, y.shape[1], range(chains), chains)
    return fit_alternating(start, x, y, sweeps=6).polynomial


# The right posterior


@pytest.mark.slow
def test_posterior_means_agree_with_quadrature() -> None:
    x, at = torch.linspace(-1.5, 1.5, 7, dtype=torch.float64), torch.linspace(-2, 2, 5, dtype=torch.float64)
    y = x**2 - 0.5 * x
    expected = quadrature_mean(x, y, at, variance=0.3, noise=1.0, nodes=16)
    coarser = quadrature_mean(x, y, at, variance=0.3, noise=1.0, nodes=12)
    torch.testing.assert_close(expected, coarser, atol=2e-3, rtol=0)
    priors = Priors(weights=known(1 / 0.3), noise=known(1.0), offset=0.3)
    chains = 200
    start = random_ladder(d=1, hidden=(1,), m=1, batch_shape=(chains,), seed=3)
    found = sample_gibbs(start, x[:, None], y, priors=priors, warmup=30, draws=70, seed=1)
    each = found.weights(at[:, None])[..., 0].mean(0)  # (chains, rows): independent means
    error = each.std(0) / math.sqrt(chains)
    assert (error < 0.02).all()
    assert ((each.mean(0) - expected).abs() < 4 * error + 1e-3).all(), (each.mean(0), expected, error)


def test_a_linear_ladder_has_the_posterior_of_linear_regression() -> None:
    x, y = rows(30, 2), rows(30, 1, seed=4)
    start = random_ladder(d=2, hidden=(), m=1, batch_shape=(2000,))
    priors = Priors(weights=known(3.0), noise=known(2.0), offset=0.7)
    found = sample_gibbs(start, x, y, priors=priors, warmup=0, draws=2)
    draws = torch.cat([found.weights.readout[1, :, 0], found.weights.offset[1]], -1)
    features = torch.cat([x, torch.ones(30, 1, dtype=torch.float64)], 1)
    precision = 2 * features.T @ features + torch.diag(torch.tensor([3.0, 3.0, 1 / 0.7], dtype=torch.float64))
    covariance = torch.linalg.inv(precision)
    mean = covariance @ (2 * features.T @ y[:, 0])
    whitened = (draws - mean) @ torch.linalg.cholesky(precision)
    for i in range(3):
        assert stats.kstest(whitened[:, i].numpy(), "norm").pvalue > 1e-3
    torch.testing.assert_close(whitened.T.cov(), torch.eye(3, dtype=torch.float64), atol=0.12, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize(("entries", "a", "b"), [(1.5, 2.0, 0.5), (-2.0, 0.3, 1.0), (0.0, 1.0, 1.0), (2.0, 5.0, 0.01)])
def test_scales_have_their_generalized_inverse_gaussian_distribution(entries: float, a: float, b: float) -> None:
    """s = 2 log scale steps through exp(entries s - a e^s - b e^-s); e^s is then generalized inverse Gaussian."""
    chains, streams = 3000, Streams(0, (3000,))
    rng = np.random.default_rng(0)
    root = math.sqrt(a * b)
    law = stats.geninvgauss(entries, 2 * root, scale=math.sqrt(b / a))
    u = torch.from_numpy(law.rvs(chains, random_state=rng))
    before = u.clone()
    for _ in range(3):  # the orbit's coordinate moves, the squared norms with it
        factor = draw_scale(entries, a * u.unsqueeze(1), b / u.unsqueeze(1), streams)[:, 0]
        u = u * factor.square()
    assert stats.kstest(u.numpy(), law.cdf).pvalue > 1e-3
    assert ((u - before).abs() > 1e-12).double().mean() > 0.9


# Parts of the model


def test_noise_is_found_for_each_output() -> None:
    x, y = problem(300, m=2)
    y[:, 1] += 0.4 * rows(300, 1, seed=9)[:, 0]
    found = sample_gibbs(fitted(x, y), x, y, warmup=20, draws=30)
    assert found.noise.shape == (30, 2, 2)
    torch.testing.assert_close(
        found.noise.mean((0, 1)), torch.tensor([0.1, math.hypot(0.1, 0.4)], dtype=torch.float64), atol=0, rtol=0.12
    )


@pytest.mark.slow
def test_the_noise_may_grow_with_an_input() -> None:
    x, y = problem(600, noise=0.0)
    y = y + 0.1 * (-(0.75 * x[:, 2:]).tanh()).exp() * rows(600, 1, seed=9)  # log precision 2 tanh(1.5 x / 2)
    found = sample_gibbs(fitted(x, y), x, y, noise_features=x, warmup=30, draws=40)
    assert found.slopes.shape == (40, 2, 1, 3)
    slopes = found.slopes.mean((0, 1, 2))
    torch.testing.assert_close(slopes, torch.tensor([0.0, 0.0, 1.5], dtype=torch.float64), atol=0.3, rtol=0)
    assert len(found.slopes[:, 0, 0, 2].unique()) > 20  # proposals are accepted


@pytest.mark.slow
def test_degrees_of_freedom_tell_outliers_from_gaussian_noise() -> None:
    x, y = problem(300)
    clean = sample_gibbs(fitted(x, y), x, y, likelihood="student", warmup=20, draws=30)
    y[::15] += 2.0
    start = fitted(x, y)
    dirty = sample_gibbs(start, x, y, likelihood="student", warmup=20, draws=30)
    assert clean.degrees.median() >= 10
    assert dirty.degrees.median() <= 4
    assert set(dirty.degrees.unique().tolist()) <= set(DEGREES)
    gaussian = sample_gibbs(start, x, y, warmup=20, draws=30)
    assert gaussian.noise.mean() > 2 * dirty.noise.mean()
    assert gaussian.degrees.isinf().all()
    given = sample_gibbs(start, x, y, likelihood="student", degrees=4.0, warmup=2, draws=2)
    assert (given.degrees == 4.0).all()


@pytest.mark.slow
def test_relevance_finds_the_inputs_that_do_not_matter() -> None:
    x, y = problem(200)
    found = sample_gibbs(fitted(x, y), x, y, relevance=True, warmup=60, draws=120)
    layer, gate, readout = found.precision
    assert layer.shape == gate.shape == (120, 2, 4)
    assert readout.shape == (120, 2, 1)
    median = torch.minimum(layer, gate).flatten(0, 1).median(0).values
    # Two to five times as much, depending on the seed.
    assert median[2] > 1.5 * median[:2].max()


# Batches, weights, draws


@pytest.mark.parametrize("likelihood", ["gaussian", "student"])
def test_going_on_is_the_same_as_not_having_stopped(likelihood: str) -> None:
    x, y = problem(40)
    start = fitted(x, y)
    options = {"likelihood": likelihood, "noise_features": x}
    whole = sample_gibbs(start, x, y, warmup=3, draws=8, **options)  # type: ignore[arg-type]
    first = sample_gibbs(start, x, y, warmup=3, draws=4, **options)  # type: ignore[arg-type]
    for _ in range(2):  # a state can be gone on from more than once
        second = sample_gibbs(first.state, x, y, warmup=0, draws=4, **options)  # type: ignore[arg-type]
        assert second.weights == whole.weights[4:]
        assert torch.equal(second.noise, whole.noise[4:])
    assert first.weights == whole.weights[:4]


def test_going_on_with_classes() -> None:
    x, y = problem(40, m=3)
    label = (y + rows(40, 3, seed=2)).argmax(1)
    start = random_ladder(d=3, hidden=(2,), m=3, batch_shape=(2,))
    whole = sample_gibbs(start, x, label, likelihood="probit", warmup=3, draws=6)
    first = sample_gibbs(start, x, label, likelihood="probit", warmup=3, draws=3)
    second = sample_gibbs(first.state, x, label, likelihood="probit", warmup=0, draws=3)
    assert second.weights == whole.weights[3:]


def test_a_chain_does_not_depend_on_its_neighbors() -> None:
    x, y = problem(30)
    start = random_ladder(d=3, hidden=(2, 3), m=1, batch_shape=(2, 2))
    together = sample_gibbs(start, x, y, likelihood="student", warmup=2, draws=3, seed=[5, 6, 7, 8])
    alone = sample_gibbs(start[1, 0], x, y, likelihood="student", warmup=2, draws=3, seed=7)
    assert together.weights.batch_shape == (3, 2, 2)
    assert alone.weights.batch_shape == (3,)
    for name, t in alone.weights.tensors().items():
        torch.testing.assert_close(t, together.weights.tensors()[name][:, 1, 0], rtol=1e-7, atol=1e-7)


def test_whole_weights_are_repetitions() -> None:
    x, y = problem(30)
    weight = torch.tensor([0.0, 1, 2] * 10, dtype=torch.float64)
    again = torch.arange(30).repeat_interleave(weight.long())
    start = random_ladder(d=3, hidden=(2,), m=1, batch_shape=(2,))
    options = {"warmup": 2, "draws": 3}
    weighted = sample_gibbs(start, x, y, sample_weight=weight, **options)  # type: ignore[arg-type]
    repeated = sample_gibbs(start, x[again], y[again], **options)  # type: ignore[arg-type]
    assert_same(weighted, repeated, 1e-7)
    folds = sample_gibbs(start, x, y, rows=[again, torch.arange(30)], **options)  # type: ignore[arg-type]
    torch.testing.assert_close(folds.noise[:, 0], weighted.noise[:, 0], rtol=1e-7, atol=1e-7)
    assert not torch.allclose(folds.noise[:, 1], weighted.noise[:, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "poisson"}, "likelihood must be"),
        ({"degrees": 4.0}, "degrees must be"),
        ({"likelihood": "student", "degrees": -1.0}, "degrees must be"),
        ({"warmup": -1}, "warmup must be"),
        ({"draws": 0}, "draws must be"),
        ({"noise_features": torch.zeros(3, 1)}, "noise_features must have shape"),
        ({"likelihood": "probit"}, "only 0 and 1"),
        ({"seed": [1, 2, 3]}, "seed must be"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    x, y = problem(20)
    with pytest.raises(ValueError, match=message):
        sample_gibbs(random_ladder(d=3, hidden=(2,), m=1, batch_shape=(2,)), x, y, **options)  # type: ignore[arg-type]


def test_class_numbers_are_checked() -> None:
    x, _ = problem(20)
    with pytest.raises(ValueError, match=r"y must be in 0, ..., 2, one class per output; got 3 to 3"):
        sample_gibbs(random_ladder(d=3, hidden=(2,), m=3), x, torch.full((20,), 3), likelihood="probit")
