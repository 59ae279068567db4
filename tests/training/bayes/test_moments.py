"""Weights of greatest marginal likelihood: the objective against enumeration, gradients by differences, refusals."""

import pytest
import torch
from scipy.stats import multivariate_normal, norm
from torch.distributions import Normal, kl_divergence

from polyladder import GaussianWeights, LadderPolynomial, fit_alternating, fit_moments, fit_variational, random_start
from polyladder.training.bayes import moments as module
from polyladder.training.bayes.moments import Coding, MarginalLikelihood, MomentsFit
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.moments import enumerated_moments


def random_weights(m: int = 1, batch_shape: tuple[int, ...] = (), hidden: tuple[int, ...] = (2, 2)) -> GaussianWeights:
    variance = random_ladder(2, hidden, m, batch_shape, seed=9).map(lambda t: 0.05 + 0.1 * t.square())
    return GaussianWeights(random_ladder(2, hidden, m, batch_shape), variance)


def posed(
    weights: GaussianWeights, x: torch.Tensor, y: torch.Tensor, noise: float | None = 0.3, relevance: bool = False
) -> tuple[MarginalLikelihood, torch.Tensor]:
    """The objective, and the point of these weights and of ten times this least noise."""
    coding = Coding.of(weights.mean, relevance)
    floor = None if noise is None else torch.full((coding.count, y.shape[1]), noise, dtype=torch.float64)
    return MarginalLikelihood(coding, x, y, torch.ones(1, len(x)).double(), floor), coding.point(weights, floor)


def tensors(fit: MomentsFit) -> list[torch.Tensor]:
    weights = [*fit.weights.mean.tensors().values(), *fit.weights.variance.tensors().values()]
    return [*weights, fit.noise, *fit.prior, fit.objective]


def scattered(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Targets whose noise grows with the size of the second input."""
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 2, generator=g, dtype=torch.float64) * 2 - 1
    return x, x[:, 0] + x[:, 0] * x[:, 1] + 0.6 * x[:, 1].abs() * torch.randn(n, generator=g, dtype=torch.float64)


@pytest.mark.parametrize("m", [1, 2])
def test_the_likelihood_is_that_of_enumerated_moments(m: int) -> None:
    weights, x, y = random_weights(m, hidden=(2,)), rows(4, 2), rows(4, m, seed=5)
    objective, point = posed(weights, x, y, 0.3)
    mean, covariance = enumerated_moments(weights.mean, weights.variance, x)
    expected = sum(
        multivariate_normal(mean[i], covariance[i] + 3.0 * torch.eye(m).double()).logpdf(y[i]) for i in range(4)
    )
    assert float(objective.log_likelihood(point, torch.arange(4))) == pytest.approx(expected, rel=1e-9)


def test_the_probability_of_a_class_is_that_of_enumerated_moments() -> None:
    weights, x, y = random_weights(hidden=(2,)), rows(4, 2), torch.tensor([[0.0], [1.0], [1.0], [0.0]]).double()
    objective, point = posed(weights, x, y, None)
    mean, covariance = enumerated_moments(weights.mean, weights.variance, x)
    p = norm.cdf(mean[:, 0] / (1 + covariance[:, 0, 0]).sqrt())
    expected = torch.where(y[:, 0] > 0, torch.from_numpy(p), 1 - torch.from_numpy(p)).log().sum()
    assert torch.allclose(objective.log_likelihood(point, torch.arange(4)), expected, rtol=1e-10)


@pytest.mark.parametrize("relevance", [False, True])
def test_the_divergence_is_from_the_best_prior(relevance: bool) -> None:
    weights = random_weights(2, (3,))
    coding = Coding.of(weights.mean, relevance)
    point = coding.point(weights, None)

    def divergence(scale: float) -> torch.Tensor:
        each = [
            kl_divergence(Normal(mean, (log / 2).exp()), Normal(0 * mean, (scale * prior).sqrt().expand_as(mean)))
            for (mean, log), prior in zip(coding.split(point), coding.prior(point), strict=True)
        ]
        return torch.stack([t.sum((1, 2)) for t in each]).sum(0)

    assert torch.allclose(coding.divergence(point), divergence(1.0), rtol=1e-12)
    assert (divergence(1.1) > divergence(1.0)).all()
    assert (divergence(0.9) > divergence(1.0)).all()


@pytest.mark.parametrize(("m", "noise"), [(1, 0.1), (2, 0.1), (1, None)])
def test_gradients_are_those_of_differences(m: int, noise: float | None) -> None:
    y = rows(5, m, seed=5) if noise else (rows(5, 1) > 0).double()
    objective, point = posed(random_weights(m, (2,)), rows(5, 2), y, noise, relevance=True)
    direction = rows(*point.shape, seed=4)
    _, gradient = objective.lowered(point)
    ahead, behind = (objective.lowered(point + step * direction)[0] for step in (1e-5, -1e-5))
    assert torch.allclose((gradient * direction).sum(1), (ahead - behind) / 2e-5, rtol=1e-6)


def test_weights_without_variance_are_a_ridge_regression() -> None:
    x, y = rows(30, 2), rows(30, 1, seed=3)
    line = LadderPolynomial((), (), (), (), rows(1, 2, seed=8), torch.zeros(1).double())
    objective, point = posed(GaussianWeights(line, 1e-14), x, y, 0.05)
    prior, noise = float(objective.coding.prior(point)[0]), 0.5
    _, gradient = objective.lowered(point)
    X = torch.cat([x, torch.ones(30, 1)], 1)
    theta = torch.cat([line.readout[0], line.offset])
    ridge = X.T @ (X @ theta - y[:, 0]) / noise + theta / prior
    assert torch.allclose(gradient[0, :3], ridge, rtol=1e-6)


def test_chunks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, point = posed(random_weights(2, (3,)), rows(25, 2), rows(25, 2, seed=4))
    value, gradient = objective.lowered(point)
    monkeypatch.setattr(module, "rows_per_chunk", lambda _: 4)
    again, gradient_again = objective.lowered(point)
    assert torch.allclose(value, again, rtol=1e-12)
    assert torch.allclose(gradient, gradient_again, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_no_step_lowers_the_objective_and_shapes_are_those_of_the_batch(batch_shape: tuple[int, ...]) -> None:
    heard: list[torch.Tensor] = []
    start, x, y = random_ladder(2, (2,), 2, batch_shape), rows(20, 2), rows(20, 2, seed=7)
    fit = fit_moments(start, x, y, steps=4, progress=lambda _, value: heard.append(value))
    assert fit.objective.shape == (*batch_shape, 5)
    assert fit.noise.shape == (*batch_shape, 2)
    assert [p.shape for p in fit.prior] == [(*batch_shape, 1)] * 3
    assert (fit.objective.diff() >= 0).all()
    assert (fit.objective[..., -1] > fit.objective[..., 0]).all()
    assert torch.equal(torch.stack(heard, -1), fit.objective[..., 1:])


def test_a_batch_is_its_models_fitted_alone() -> None:
    x, y = rows(20, 2), rows(20, 1, seed=7)
    p = random_ladder(2, (2, 2), 1, (2, 2), seed=1)
    weight = rows(20, 1, seed=2).abs()[:, 0]
    numbers = torch.stack([torch.randperm(20)[:15] for _ in range(4)]).reshape(2, 2, 15)
    together = fit_moments(p, x, y, rows=numbers, sample_weight=weight, steps=3)
    alone = fit_moments(p[1, 0], x, y, rows=numbers[1, 0], sample_weight=weight, steps=3)
    assert torch.allclose(together.objective[1, 0], alone.objective, rtol=1e-9)
    assert torch.allclose(together.weights.mean[1, 0].readout, alone.weights.mean.readout, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("likelihood", ["gaussian", "probit"])
def test_weights_count_rows(likelihood: str) -> None:
    x, y = rows(12, 2), rows(12, 1, seed=7)[:, 0]
    y = y if likelihood == "gaussian" else (y > 0).double()
    weight = torch.tensor([0.0, 1.0, 2.0]).double().repeat(4)
    index = torch.arange(12).repeat_interleave(weight.long())
    p = random_ladder(2, (2,), 1, seed=2)
    by_weight = fit_moments(p, x, y, likelihood=likelihood, sample_weight=weight, steps=3)  # type: ignore[arg-type]
    by_rows = fit_moments(p, x[index], y[index], likelihood=likelihood, steps=3)  # type: ignore[arg-type]
    for a, b in zip(tensors(by_weight), tensors(by_rows), strict=True):
        assert torch.allclose(a, b, rtol=1e-7, atol=1e-9)


@pytest.mark.slow
def test_error_bars_widen_where_targets_scatter() -> None:
    x, y = scattered(300)
    start = fit_alternating(random_start(2, (4, 4), 1, [0], 1), x, y).polynomial[0]
    rough = fit_variational(start, x, y, sweeps=10)
    fit = fit_moments(rough.weights, x, y)
    new, target = scattered(1000, seed=1)
    found, before = (w.weights.predictive(new, w.noise) for w in (fit, rough))
    shared = torch.corrcoef(torch.stack([found.standard_deviation[:, 0], new[:, 1].abs()]))[0, 1]
    assert shared > 0.8

    after, first = (
        float(Normal(p.mean[:, 0], p.standard_deviation[:, 0]).log_prob(target).mean()) for p in (found, before)
    )
    assert after > first + 0.2
    assert (found.mean[:, 0] - new[:, 0] * (1 + new[:, 1])).square().mean().sqrt() < 0.1

    # Draws, as an estimator predicts by, have the moments that were trained.
    drawn = fit.weights.sample(4000, 0)(new[:50])[..., 0]
    error = (drawn.mean(0) - found.mean[:50, 0]).abs() / drawn.std(0)
    assert error.max() < 5 / 4000**0.5
    assert (drawn.var(0) / found.weight_variance[:50, 0]).log().abs().median() < 0.1


def test_noise_stays_above_its_floor_and_data_without_noise_are_finite() -> None:
    x = rows(20, 2)
    line = LadderPolynomial((), (), (), (), torch.zeros(1, 2).double(), torch.zeros(1).double())
    assert all(bool(t.isfinite().all()) for t in tensors(fit_moments(line, x, torch.zeros(20), steps=5)))
    y = rows(20, 1, seed=3)
    fit = fit_moments(line, x, y, steps=10)
    assert fit.noise >= module.LEAST_NOISE * y.square().mean()


def test_refusals() -> None:
    x, y = rows(10, 2), rows(10, 1)[:, 0]
    p = random_ladder(2, (2,), 1)
    with pytest.raises(ValueError, match=r"y must have shape \(10, 1\) or \(10,\)"):
        fit_moments(p, x, y[:5])
    with pytest.raises(ValueError, match="x must be finite"):
        fit_moments(p, x / 0, y)
    with pytest.raises(ValueError, match="steps must be"):
        fit_moments(p, x, y, steps=0)
    with pytest.raises(ValueError, match="likelihood must be 'gaussian' or 'probit'; got 'student'"):
        fit_moments(p, x, y, likelihood="student")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="start must have 1 output for two classes; got 2"):
        fit_moments(random_ladder(2, (2,), 2), x, (y > 0).double(), likelihood="probit")


def test_a_start_without_variance_stays_finite() -> None:
    fixed = GaussianWeights(random_ladder(2, (2,), 1), 0.0)
    fit = fit_moments(fixed, rows(10, 2), rows(10, 1), steps=2)
    assert all(bool(t.isfinite().all()) for t in tensors(fit))
