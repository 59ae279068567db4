"""The law of moments: exact enumeration over two-point weights, and sampling."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyladder import GaussianWeights, LadderPolynomial, output_moments
from tests.ladders import BATCH_SHAPES, ladders, random_ladder, rows
from tests.oracles.moments import enumerated_moments


def some_variances(p: LadderPolynomial, count: int, seed: int) -> LadderPolynomial:
    """In each ladder of the batch, ``count`` weights anywhere are random; all others are fixed."""
    generator = torch.Generator().manual_seed(seed)
    batch = p.batch_shape.numel()
    order = torch.rand(batch, p.n_weights, generator=generator).argsort(-1)[:, :count]
    flat = torch.zeros(batch, p.n_weights, dtype=p.dtype)
    flat.scatter_(-1, order, 0.05 + 0.3 * torch.rand(order.shape, generator=generator, dtype=p.dtype))
    sizes = [t.numel() // batch for t in p.tensors().values()]
    parts = iter(flat.split(sizes, -1))

    def next_part(t: torch.Tensor) -> torch.Tensor:
        return next(parts).reshape(t.shape)

    return LadderPolynomial(
        **{kind: tuple(next_part(t) for t in getattr(p, kind)) for kind in "WbVc"},
        readout=next_part(p.readout),
        offset=next_part(p.offset),
    )


def flat_batch(p: LadderPolynomial) -> list[LadderPolynomial]:
    return [p] if not p.batch_shape else [q for part in p for q in flat_batch(part)]


def assert_enumerated(weights: GaussianWeights, x: torch.Tensor) -> None:
    """Agreement to 1e-9 of the standard deviations (of the mean, relative to its own size)."""
    moments = output_moments(weights, x)
    pairs = zip(flat_batch(weights.mean), flat_batch(weights.variance), strict=True)
    n, m = moments.mean.shape[-2:]
    xs = x.expand(*weights.batch_shape, n, -1).reshape(-1, n, x.shape[-1])
    oracle = [enumerated_moments(mean, variance, rows) for (mean, variance), rows in zip(pairs, xs, strict=True)]
    mean, covariance = (torch.stack(t).reshape(*weights.batch_shape, *t[0].shape) for t in zip(*oracle, strict=True))
    sd = covariance.diagonal(dim1=-2, dim2=-1).sqrt()
    assert moments.covariance.shape == (*weights.batch_shape, n, m, m)
    assert ((moments.mean - mean).abs() <= 1e-9 * mean.abs() + 1e-12).all()
    allowed = 1e-9 * sd.unsqueeze(-1) * sd.unsqueeze(-2) + 1e-24
    assert ((moments.covariance - covariance).abs() <= allowed).all()


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(2, 8))
def test_equals_enumeration_for_every_order(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(d=2, hidden=(3,) * (order - 1), m=2, batch_shape=batch_shape, seed=order)
    assert_enumerated(GaussianWeights(p, some_variances(p, count=9, seed=order)), rows(3, 2))


@given(ladders(max_layers=4, max_width=4), st.integers(0, 2**31), st.integers(0, 7), st.booleans())
def test_equals_enumeration(p: LadderPolynomial, seed: int, count: int, shared: bool) -> None:
    x = rows(2, p.in_features, seed=seed)
    if not shared:
        x = x * torch.linspace(0.5, 1.5, p.batch_shape.numel(), dtype=x.dtype).reshape(*p.batch_shape, 1, 1)
    assert_enumerated(GaussianWeights(p, some_variances(p, count, seed)), x)


@settings(max_examples=8)
@given(ladders(max_layers=3, max_width=4), st.integers(0, 2**31))
def test_samples_agree_within_five_standard_errors(p: LadderPolynomial, seed: int) -> None:
    weights = GaussianWeights(
        p,
        random_ladder(p.in_features, p.hidden, p.out_features, p.batch_shape, seed=seed).map(
            lambda t: 0.05 * t.square()
        ),
    )
    x = rows(2, p.in_features, seed=seed)
    moments, y = output_moments(weights, x), weights.sample(6000, seed=seed)(x)
    centered = y - moments.mean
    for sampled, exact in [(y, moments.mean), (centered.unsqueeze(-1) * centered.unsqueeze(-2), moments.covariance)]:
        standard_error = sampled.std(0) / len(sampled) ** 0.5
        assert ((sampled.mean(0) - exact).abs() <= 5 * standard_error).all()


@given(ladders(max_layers=4, max_width=4), st.floats(0, 0.5))
def test_covariance_is_positive_semidefinite_and_grows_with_the_variance(p: LadderPolynomial, variance: float) -> None:
    x = rows(3, p.in_features)
    small, large = (output_moments(GaussianWeights(p, v), x).covariance for v in (variance, 2 * variance))
    scale = large.diagonal(dim1=-2, dim2=-1).amax(-1, keepdim=True)
    for matrix in (small, large - small):
        assert (torch.linalg.eigvalsh(matrix) >= -1e-12 * scale).all()
