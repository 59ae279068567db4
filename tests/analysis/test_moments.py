from collections.abc import Callable
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import polyladder.analysis.moments as module
from polyladder import GaussianWeights, LadderPolynomial, output_moments
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.moments import enumerated_moments, raw_moments


def random_weights(
    d: int = 3, hidden: tuple[int, ...] = (4, 3, 2), m: int = 2, batch_shape: tuple[int, ...] = (), scale: float = 0.1
) -> GaussianWeights:
    """Every weight random, each with its own variance."""
    variance = random_ladder(d, hidden, m, batch_shape, seed=9).map(lambda t: scale * t.square())
    return GaussianWeights(random_ladder(d, hidden, m, batch_shape), variance)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_mean_is_the_output_at_the_mean_weights(batch_shape: tuple[int, ...]) -> None:
    weights = random_weights(batch_shape=batch_shape)
    x = rows(5, 3)
    torch.testing.assert_close(output_moments(weights, x).mean, weights.mean(x), rtol=1e-12, atol=0)


@pytest.mark.parametrize("hidden", [(), (3,), (3, 2), (2, 3, 2)])
def test_equals_the_printed_recursion_in_extended_precision_with_every_weight_random(hidden: tuple[int, ...]) -> None:
    weights = random_weights(2, hidden, 2)
    x = rows(2, 2)
    moments = output_moments(weights, x)
    with mpmath.workdps(50):
        for i, row in enumerate(x):
            exact = raw_moments(weights.mean, weights.variance, row, mpmath.mpf)
            for found, expected in zip((moments.mean[i], moments.covariance[i]), exact, strict=True):
                numbers = torch.from_numpy(np.array(expected, dtype=np.float64))
                torch.testing.assert_close(found, numbers, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kind", ["W", "b", "V", "c", "readout", "offset"])
def test_one_kind_of_weight_alone(kind: str) -> None:
    weights = GaussianWeights.random_blocks(random_ladder(2, (2, 2), 2), **{kind: 0.2})
    for name, t in weights.variance.tensors().items():
        assert (t == (0.2 if name.split(".")[0] == kind else 0.0)).all()
    x = rows(3, 2)
    mean, covariance = enumerated_moments(weights.mean, weights.variance, x)
    moments = output_moments(weights, x)
    torch.testing.assert_close(moments.mean, mean, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(moments.covariance, covariance, rtol=1e-10, atol=1e-12)


def test_a_small_variance_is_not_lost_beside_the_mean() -> None:
    weights = GaussianWeights(random_ladder(2, (3, 3, 3), 1), 1e-12)
    row = rows(1, 2)
    found = float(output_moments(weights, row).covariance)
    with mpmath.workdps(60):
        exact = raw_moments(weights.mean, weights.variance, row[0], mpmath.mpf)[1][0][0]
        naive = raw_moments(weights.mean, weights.variance, row[0], float)[1][0][0]
        assert abs(found / exact - 1) < 1e-12
        # The second moment less the squared mean cannot have it: this is why the covariance is what is propagated.
        assert abs(naive / exact - 1) > 1e-6


def test_one_number_stands_for_every_weight() -> None:
    p = random_ladder(batch_shape=(3,))
    x = rows(4, 3)
    one = output_moments(GaussianWeights(p, 0.3), x)
    every = output_moments(GaussianWeights(p, p.map(lambda t: torch.full_like(t, 0.3))), x)
    assert torch.equal(one.covariance, every.covariance)
    assert (one.variance > 0).all()


def test_fixed_weights_have_no_variance() -> None:
    assert not output_moments(GaussianWeights(random_ladder(), 0.0), rows(4, 3)).covariance.any()


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_rows_are_independent_of_their_chunk(batch_shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    weights = random_weights(batch_shape=batch_shape)
    x = rows(7, 3).expand(*batch_shape, 7, 3)
    whole = output_moments(weights, x)
    sizes: list[int] = []
    propagate = module.propagate

    def spy(weights: GaussianWeights, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sizes.append(x.shape[-2])
        return propagate(weights, x)

    monkeypatch.setattr(module, "propagate", spy)
    monkeypatch.setattr(module, "CHUNK", 2 * 4**2 * weights.mean.batch_shape.numel())
    parts = output_moments(weights, x)
    assert sizes == [2, 2, 2, 1]
    torch.testing.assert_close(parts.mean, whole.mean, rtol=1e-12, atol=0)
    torch.testing.assert_close(parts.covariance, whole.covariance, rtol=1e-12, atol=1e-15)


def test_no_rows_give_no_moments() -> None:
    moments = output_moments(random_weights(), torch.zeros(0, 3))
    assert moments.mean.shape == (0, 2)
    assert moments.covariance.shape == (0, 2, 2)


def test_a_slice_of_the_batch_has_its_part_of_the_moments() -> None:
    weights = random_weights(batch_shape=(2, 3))
    x = rows(4, 3)
    part = output_moments(weights[1, 2], x)
    torch.testing.assert_close(part.covariance, output_moments(weights, x).covariance[1, 2], rtol=1e-12, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(("batch_shape", "hidden"), [((), (2, 3, 2)), ((2,), (2, 2)), ((2,), (2,)), ((), ())])
def test_differentiable_in_means_variances_and_rows(batch_shape: tuple[int, ...], hidden: tuple[int, ...]) -> None:
    weights = random_weights(2, hidden, 2, batch_shape)
    means, variances = weights.mean.tensors(), weights.variance.map(lambda t: t + 0.1).tensors()

    def ladder(tensors: tuple[torch.Tensor, ...]) -> LadderPolynomial:
        layers = [tensors[i * len(hidden) : (i + 1) * len(hidden)] for i in range(4)]
        return LadderPolynomial(*layers, readout=tensors[-2], offset=tensors[-1])

    def moments(x: torch.Tensor, *tensors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        half = len(tensors) // 2
        result = output_moments(GaussianWeights(ladder(tensors[:half]), ladder(tensors[half:])), x)
        return result.mean, result.covariance

    inputs = [t.detach().requires_grad_() for t in (rows(2, 2), *means.values(), *variances.values())]
    assert gradcheck(moments, inputs)


def test_differentiable_in_one_variance_for_all() -> None:
    p, x = random_ladder(2, (2, 2, 2), 1), rows(2, 2)
    value = torch.tensor(0.2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda v: output_moments(GaussianWeights(p, v), x).covariance, [value])


def test_dtype_follows_the_weights() -> None:
    weights = random_weights()
    single = GaussianWeights(weights.mean.to(torch.float32), weights.variance.to(torch.float32))
    moments, exact = output_moments(single, rows(4, 3)), output_moments(weights, rows(4, 3))
    assert moments.mean.dtype == moments.covariance.dtype == torch.float32
    torch.testing.assert_close(moments.covariance, exact.covariance.float(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda p: GaussianWeights(p, -0.1), ValueError, "variance W.0 must be non-negative and finite; got -0.1"),
        (lambda p: GaussianWeights(p, float("nan")), ValueError, "must be non-negative and finite; got nan"),
        (lambda p: GaussianWeights(p, float("inf")), ValueError, "must be non-negative and finite; got inf"),
        (lambda p: GaussianWeights.random_blocks(p, c=-2.0), ValueError, "variance c.0 must be non-negative"),
        (lambda p: GaussianWeights(p, torch.ones(2)), ValueError, r"one number or a LadderPolynomial; .* shape \(2,\)"),
        (lambda p: GaussianWeights(p, random_ladder(hidden=(4,))), ValueError, "must have the mean's 2 layers; got 1"),
        (lambda p: GaussianWeights(p, random_ladder(d=2)), ValueError, r"W.0 must have the mean's shape \(4, 3\)"),
        (lambda p: GaussianWeights(p, random_ladder(batch_shape=(3,))), ValueError, r"got shape \(3, 4, 3\)"),
        (lambda p: GaussianWeights(p, random_ladder(dtype=torch.float32)), ValueError, "must be torch.float64 on cpu"),
        (lambda p: GaussianWeights("p", 1.0), TypeError, "mean must be a LadderPolynomial; got str"),
        (lambda p: output_moments(GaussianWeights(p, 1.0), rows(2, 4)), ValueError, r"x must have shape \(n, 3\)"),
        (
            lambda p: output_moments(GaussianWeights(p, 1.0), torch.tensor([[0.0, 0, 0], [0, float("nan"), 0]])),
            ValueError,
            "x must be finite; got a NaN or infinity in row 1",
        ),
        (lambda p: GaussianWeights(p, 1.0).sample(0), ValueError, "n must be a positive integer; got 0"),
        (lambda p: GaussianWeights(p, 1.0).predictive(rows(2, 3), -1.0), ValueError, "noise_variance must be non-neg"),
        (
            lambda p: GaussianWeights(p, 1.0).predictive(rows(2, 3), torch.ones(5)),
            ValueError,
            r"noise_variance must broadcast to the outputs' shape \(2, 2\); got shape \(5,\)",
        ),
    ],
)
def test_refuses(make: Callable[[LadderPolynomial], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(random_ladder())


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_sample_draws_a_batch_of_ladders(batch_shape: tuple[int, ...]) -> None:
    weights = GaussianWeights.random_blocks(random_ladder(batch_shape=batch_shape), W=0.25, readout=4.0)
    draws = weights.sample(4000, seed=3)
    assert draws.batch_shape == (4000, *batch_shape)
    assert torch.equal(draws.V[0][17], weights.mean.V[0])
    noise = draws.readout - weights.mean.readout
    assert abs(float(noise.std()) - 2.0) < 5 * 2.0 / (2 * noise.numel()) ** 0.5
    assert abs(float(noise.mean())) < 5 * 2.0 / noise.numel() ** 0.5
    # Different weights, different draws.
    assert abs(float((noise[..., 0, 0] * noise[..., 0, 1]).mean())) < 5 * 4.0 / noise[..., 0, 0].numel() ** 0.5


def test_sample_repeats_with_its_seed() -> None:
    weights = random_weights()
    assert weights.sample(2, seed=5) == weights.sample(2, seed=5)
    assert weights.sample(2, seed=5) == weights.sample(2, seed=torch.Generator().manual_seed(5))
    assert weights.sample(2, seed=5) != weights.sample(2, seed=6)


def test_predictive_keeps_weights_and_noise_apart() -> None:
    weights, x = random_weights(batch_shape=(3,)), rows(4, 3)
    noise = torch.tensor([0.5, 2.0])
    moments, predictive = output_moments(weights, x), weights.predictive(x, noise)
    assert torch.equal(predictive.mean, moments.mean)
    assert torch.equal(predictive.weight_variance, moments.variance)
    assert torch.equal(predictive.noise_variance, noise.double().expand(3, 4, 2))
    assert torch.equal(predictive.variance, moments.variance + noise)
    torch.testing.assert_close(predictive.standard_deviation.square(), predictive.variance)


def test_probability_of_one_output() -> None:
    weights, x = random_weights(m=1, batch_shape=(3,)), rows(4, 3)
    moments = output_moments(weights, x)
    for noise in (0.0, 1.0):
        probability = weights.probability(x, noise)
        assert probability.shape == (3, 4, 1)
        for p, mean, variance in zip(
            probability.flatten(), moments.mean.flatten(), moments.variance.flatten(), strict=True
        ):
            assert float(p) == pytest.approx(NormalDist(0, float(variance + noise) ** 0.5).cdf(float(mean)), rel=1e-9)


def test_probability_without_variance_is_the_sign() -> None:
    one, zero = torch.ones(1, 1), torch.zeros(1)
    line = LadderPolynomial(W=(), b=(), V=(), c=(), readout=one, offset=zero)
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([[-1e-3], [0.0], [1e-3]], dtype=dtype, requires_grad=True)
        probability = GaussianWeights(line.to(dtype), 0.0).probability(x)
        assert probability.flatten().tolist() == [0.0, 0.5, 1.0]
        assert torch.isfinite(torch.autograd.grad(probability.sum(), x)[0]).all()


@pytest.mark.parametrize("m", [2, 3, 5])
def test_probability_of_several_classes_is_how_often_each_wins(m: int) -> None:
    # With the readout alone random the outputs are Gaussian, so the moments are the whole truth.
    p, x = random_ladder(3, (4, 4), m, batch_shape=(2,)), rows(3, 3)
    weights = GaussianWeights.random_blocks(p, readout=0.3, offset=0.1)
    probability = weights.probability(x)
    assert probability.shape == (2, 3, m)
    torch.testing.assert_close(probability.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    wins = torch.nn.functional.one_hot(weights.sample(20000, seed=1)(x).argmax(-1), m).double().mean(0)
    allowed = 5 * (probability * (1 - probability) / 20000).sqrt() + 1e-3
    assert ((wins - probability).abs() <= allowed).all()


def test_noise_is_a_variance_on_each_output() -> None:
    weights, x = random_weights(m=2), rows(5, 3)
    moments = output_moments(weights, x)
    contrast = torch.tensor([1.0, -1.0], dtype=torch.float64)
    spread = contrast @ moments.covariance @ contrast + 4.0 + 4.0
    expected = torch.special.ndtr(moments.mean @ contrast / spread.sqrt())
    torch.testing.assert_close(weights.probability(x, noise_variance=4.0)[:, 0], expected)
