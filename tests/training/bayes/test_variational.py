"""Fits of a factorized Gaussian posterior: optima, batches, weights, refusals."""

import pytest
import torch
from torch.distributions import Normal

from polyladder import LadderPolynomial, output_moments
from polyladder.training.bayes import factors, variational
from polyladder.training.bayes.factors import Factors, row_chunks
from polyladder.training.bayes.variational import fit_variational, one_sweep, start_posterior
from polyladder.training.solves.alternating import fit_alternating, random_start
from tests.ladders import random_ladder, rows


def wavy(n: int, seed: int = 0, noise: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(n, 3, seed=seed).clamp(-2, 2)
    y = x[:, 0] * x[:, 1] + 0.5 * x[:, 2] ** 2 + noise * rows(n, 1, seed=seed + 1)[:, 0]
    return x, y


def parts(fit: variational.VariationalFit) -> list[torch.Tensor]:
    tensors = [*fit.weights.mean.tensors().values(), *fit.weights.variance.tensors().values()]
    return [*tensors, fit.noise, *fit.prior, fit.bound]


@pytest.mark.parametrize("hidden", [(), (3,), (3, 2), (2, 3, 2)])
def test_every_update_ends_where_the_gradient_of_the_bound_vanishes(hidden: tuple[int, ...]) -> None:
    """The gradient is autograd's, through `output_moments`, which shares no code with the block equations."""
    p = random_ladder(2, hidden, 2, (2,), seed=3)
    x, y = rows(15, 2), rows(15, 2, seed=2)
    weight = rows(15, 2, seed=5).abs().T
    posterior = start_posterior(p, x, y, weight, relevance=True)
    depth, seen = len(hidden), []

    def gradient(block: int) -> torch.Tensor:
        leaves = [(m.clone().requires_grad_(), v.log().requires_grad_()) for m, v in posterior.factors.blocks()]
        blocks = [(m, v.exp()) for m, v in leaves]
        moments = output_moments(Factors(blocks[:depth], blocks[depth:-1], blocks[-1]).weights(), x)
        noise = posterior.noise.unsqueeze(1)
        expected = Normal(moments.mean, noise.sqrt()).log_prob(y) - moments.variance / (2 * noise)
        bound = (weight * expected.sum(-1)).sum()
        for (m, v), prior in zip(blocks, posterior.prior, strict=True):
            bound = (
                bound
                - torch.distributions.kl_divergence(
                    Normal(m, v.sqrt()), Normal(torch.zeros_like(m), prior.sqrt().expand_as(m))
                ).sum()
            )
        return torch.cat([g.flatten() for g in torch.autograd.grad(bound, leaves[block])])

    def watch(name: str, position: int) -> None:
        step = getattr(variational, name)

        def watched(post: variational.FlatPosterior, chunks: list[factors.RowMoments], *layer: int) -> None:
            block = position + sum(layer)
            with torch.enable_grad():
                before = gradient(block).abs().max()
            step(post, chunks, *layer)
            with torch.enable_grad():
                assert gradient(block).abs().max() < 1e-9 * (1 + before)
            seen.append(block)

        patch.setattr(variational, name, watched)

    with pytest.MonkeyPatch.context() as patch:
        for name, position in (("update_readout", -1), ("update_gate", depth), ("update_layer", 0)):
            watch(name, position)
        one_sweep(posterior, row_chunks(posterior.factors, x, y, weight))
    assert len(seen) == 2 * depth + 1


def test_a_linear_regression_has_the_known_posterior() -> None:
    x = rows(40, 3)
    y = x @ torch.tensor([[1.0], [-0.5], [0.2]]).double() + 0.3 + 0.5 * rows(40, 1, seed=9)
    affine = LadderPolynomial((), (), (), (), torch.zeros(1, 3).double(), torch.zeros(1).double())
    fit = fit_variational(affine, x, y, sweeps=200)
    X = torch.cat([x, torch.ones(40, 1)], 1)
    precision = X.T @ X / fit.noise + torch.eye(4) / fit.prior[0]
    mean = torch.linalg.solve(precision, X.T @ y / fit.noise).flatten()
    assert torch.allclose(torch.cat([fit.weights.mean.readout[0], fit.weights.mean.offset]), mean, rtol=1e-6)
    variance = torch.cat([fit.weights.variance.readout[0], fit.weights.variance.offset])
    assert torch.allclose(variance, 1 / precision.diagonal(), rtol=1e-6)
    # The evidence of the same model with the same noise and prior, which the bound must not exceed.
    covariance = fit.noise * torch.eye(40) + fit.prior[0] * X @ X.T
    evidence = torch.distributions.MultivariateNormal(torch.zeros(40).double(), covariance).log_prob(y[:, 0])
    assert float(evidence) - 1.0 < float(fit.bound[-1]) < float(evidence)


@pytest.mark.slow
def test_finds_a_polynomial_and_its_noise() -> None:
    x, y = wavy(200)
    start = fit_alternating(random_start(3, (5, 5), 1, [0, 1], 2), x, y).polynomial
    fit = fit_variational(start, x, y, sweeps=40)
    test_x, test_y = wavy(500, seed=50)
    predictive = fit.weights.predictive(test_x, fit.noise.unsqueeze(1))
    assert ((predictive.mean[..., 0] - test_y).square().mean(-1).sqrt() < 0.12).all()
    assert ((fit.noise.sqrt() - 0.1).abs() < 0.02).all()
    assert (Normal(predictive.mean, predictive.standard_deviation).log_prob(test_y[:, None]).mean((1, 2)) > 0.75).all()
    assert (fit.bound.diff() >= -1e-9 * fit.bound[:, 1:].abs()).all()
    assert fit.bound.shape == (2, 40)


def test_a_batch_is_its_models_fitted_alone() -> None:
    x, y = wavy(30)
    p = random_ladder(3, (3, 2), 1, (2, 2), seed=1)
    weight = rows(30, 1).abs()[:, 0]
    numbers = torch.stack([torch.randperm(30)[:20] for _ in range(4)]).reshape(2, 2, 20)
    together = fit_variational(p, x, y, rows=numbers, sample_weight=weight, sweeps=3)
    alone = fit_variational(p[1, 0], x, y, rows=numbers[1, 0], sample_weight=weight, sweeps=3)
    assert together.bound.shape == (2, 2, 3)
    assert together.noise.shape == (2, 2, 1)
    for name, t in alone.weights.mean.tensors().items():
        assert torch.allclose(together.weights.mean[1, 0].tensors()[name], t, rtol=1e-7, atol=1e-9)
    assert torch.allclose(together.bound[1, 0], alone.bound, rtol=1e-8)
    assert torch.allclose(together.noise[1, 0], alone.noise, rtol=1e-7)


def test_weights_count_rows() -> None:
    x, y = wavy(20)
    p = random_ladder(3, (3, 3), 1, seed=2)
    weight = torch.tensor([0.0, 1.0, 2.0, 1.0]).double().repeat(5)
    index = torch.arange(20).repeat_interleave(weight.long())
    by_weight = fit_variational(p, x, y, sample_weight=weight, sweeps=3)
    by_rows = fit_variational(p, x[index], y[index], sweeps=3)
    for a, b in zip(parts(by_weight), parts(by_rows), strict=True):
        assert torch.allclose(a, b, rtol=1e-8, atol=1e-10)


def test_chunks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = wavy(25)
    p = random_ladder(3, (3, 2, 2), 1, (2,), seed=2)
    whole = fit_variational(p, x, y, sweeps=3, relevance=True)
    monkeypatch.setattr(factors, "CHUNK_NUMBERS", 200)
    for a, b in zip(parts(whole), parts(fit_variational(p, x, y, sweeps=3, relevance=True)), strict=True):
        assert torch.allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
def test_relevance_switches_off_an_input_that_does_not_matter() -> None:
    x, y = wavy(150)
    x = torch.cat([x, rows(150, 2, seed=77)], 1)
    start = fit_alternating(random_start(5, (4,), 1, [0], 1), x, y).polynomial[0]
    fit = fit_variational(start, x, y, relevance=True, sweeps=60)
    assert [p.shape[-1] for p in fit.prior] == [6, 6, 5]
    layer, gate = fit.prior[0], fit.prior[1]
    # The product of the two is what an input can contribute; the last two inputs are noise.
    assert (layer[3:5] * gate[3:5]).max() < 1e-2 * (layer[:3] * gate[:3]).max()
    assert fit.bound[-1] > fit_variational(start, x, y, sweeps=60).bound[-1]


def test_progress_hears_the_bound_after_each_sweep() -> None:
    x, y = wavy(20)
    heard: list[torch.Tensor] = []
    fit = fit_variational(
        random_ladder(3, (2,), 1, (2, 2)), x, y, sweeps=3, progress=lambda i, value: heard.append(value)
    )
    assert torch.equal(torch.stack(heard, -1), fit.bound)
    assert fit.seconds > 0


def test_targets_without_noise_do_not_divide_by_zero() -> None:
    x = rows(20, 2)
    affine = LadderPolynomial((), (), (), (), torch.zeros(1, 2).double(), torch.zeros(1).double())
    fit = fit_variational(affine, x, torch.zeros(20), sweeps=20)
    assert all(bool(t.isfinite().all()) for t in parts(fit))


def test_refusals() -> None:
    x, y = wavy(10)
    p = random_ladder(3, (2,), 1)
    with pytest.raises(ValueError, match=r"y must have shape \(10, 1\) or \(10,\)"):
        fit_variational(p, x, y[:5])
    with pytest.raises(ValueError, match="x must be finite"):
        fit_variational(p, x / 0, y)
    with pytest.raises(ValueError, match="sweeps must be"):
        fit_variational(p, x, y, sweeps=0)
