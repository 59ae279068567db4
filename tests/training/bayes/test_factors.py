"""The moments above and below a layer against those of the outputs, which are computed upward alone."""

import pytest
import torch

from polyladder import output_moments
from polyladder.analysis.moments import diagonal_over_rows
from polyladder.training.bayes import factors as factors_module
from polyladder.training.bayes.factors import Factors, equations, packed, row_chunks, sandwich
from polyladder.training.solves.blocks import blocks_of
from tests.ladders import random_ladder, rows

B, N, D, M = 2, 6, 2, 2
NOISE = torch.tensor([[0.5, 2.0], [1.0, 0.3]], dtype=torch.float64)
HIDDEN = [(), (3,), (3, 2), (2, 3, 2)]


def posterior(hidden: tuple[int, ...], spread: float = 0.2) -> Factors:
    blocks = blocks_of(random_ladder(D, hidden, M, (B,), seed=3), rows(N, D))

    def block(mean: torch.Tensor, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        g = torch.Generator().manual_seed(seed)
        return mean, spread * torch.rand(mean.shape, generator=g, dtype=torch.float64)

    W = [block(t, 1 + l) for l, t in enumerate(blocks.W)]
    V = [block(t, 11 + l) for l, t in enumerate(blocks.V)]
    return Factors(W, V, block(blocks.R, 21))


def targets() -> torch.Tensor:
    return rows(N, M, seed=2)


def weights() -> torch.Tensor:
    return rows(N, B, seed=5).abs().T


@pytest.mark.parametrize("hidden", HIDDEN)
def test_at_every_layer_what_is_above_and_below_make_up_the_output(hidden: tuple[int, ...]) -> None:
    """f = z . [h, 1], both sides independent: E[z z'] : E[h h'] is the output's second moment, whatever the layer."""
    factors, x, y = posterior(hidden), rows(N, D), targets()
    moments = output_moments(factors.weights(), x)
    second = ((moments.variance + moments.mean.square()) / NOISE.unsqueeze(1)).sum(-1)
    product = (moments.mean * y / NOISE.unsqueeze(1)).sum(-1)
    (chunk,) = row_chunks(factors, x, y, weights())
    chunk.climb(factors)
    chunk.top(factors, NOISE)
    for layer in reversed(range(len(hidden) + 1)):
        h, H = chunk.state(factors, layer)
        torch.testing.assert_close((chunk.Z * H).sum((1, 3)), second)
        torch.testing.assert_close((chunk.zy * h).sum(1), product)
        if layer:
            chunk.descend(factors, layer - 1)


def test_without_variance_moments_are_products_of_states() -> None:
    factors = posterior((3, 2), spread=0.0)
    x = rows(N, D)
    ladder = factors.weights().mean
    (chunk,) = row_chunks(factors, x, targets(), weights())
    chunk.climb(factors)
    for layer, expected in enumerate(ladder.hidden_states(x)[1:], start=1):
        h, H = chunk.state(factors, layer)
        torch.testing.assert_close(h[:, :-1].mT, expected)
        assert (h[:, -1] == 1).all()
        torch.testing.assert_close(H, torch.einsum("bin,bjn->binj", h, h))


@pytest.mark.parametrize("kind", ["layer", "gate"])
@pytest.mark.parametrize("size", [2**18, 1])
def test_the_equations_are_the_slope_of_the_expected_squared_error(
    kind: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Autograd through `output_moments`: the slope in a block's means is 2 (gram means - moment)."""
    monkeypatch.setattr(factors_module, "CHUNK_NUMBERS", size)
    factors, x, y, weight, layer = posterior((3, 2)), rows(N, D), targets(), weights(), 1
    chunks = row_chunks(factors, x, y, weight)
    assert len(chunks) == (1 if size > 1 else N)
    for chunk in chunks:
        chunk.climb(factors)
        chunk.top(factors, NOISE)
    parts = [c.layer_equations(factors, layer) if kind == "layer" else c.gate_equations(layer) for c in chunks]
    found = equations(iter(parts))
    mean, variance = (factors.W if kind == "layer" else factors.V)[layer]
    leaf = mean.clone().requires_grad_()
    moved = Factors(list(factors.W), list(factors.V), factors.R)
    (moved.W if kind == "layer" else moved.V)[layer] = (leaf, variance)
    moments = output_moments(moved.weights(), x)
    errors = ((moments.mean - y).square() + moments.variance) / NOISE.unsqueeze(1)
    (slope,) = torch.autograd.grad((weight.unsqueeze(-1) * errors).sum(), leaf)
    # The variances of a block add nothing to the slope in its means.
    flat = mean.reshape(B, -1, 1)
    torch.testing.assert_close(2 * (found.gram @ flat - found.moment), slope.reshape(B, -1, 1))


def test_readout_equations_are_weighted_sums_of_states() -> None:
    factors, y, weight = posterior((3, 2)), targets(), weights()
    (chunk,) = row_chunks(factors, rows(N, D), y, weight)
    chunk.climb(factors)
    gram, moment = chunk.readout_equations(factors)
    h, H = chunk.state(factors, 2)
    for b in range(B):
        torch.testing.assert_close(gram[b], sum(weight[b, n] * H[b, :, n] for n in range(N)))
        torch.testing.assert_close(moment[b], sum(weight[b, n] * torch.outer(y[n], h[b, :, n]) for n in range(N)))


def test_products_of_symmetric_matrices() -> None:
    S = torch.randn(2, 3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    S = S + S.transpose(1, 3)
    M = torch.randn(2, 5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(sandwich(M, S), torch.einsum("bia,banc,bjc->binj", M, S, M))
    torch.testing.assert_close(diagonal_over_rows(S), torch.stack([S[:, i, :, i] for i in range(3)], -1))
    expected = torch.stack([S[:, i, :, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))], 1)
    assert torch.equal(packed(S), expected)
    diagonal_over_rows(S).zero_()
    assert (S[:, 1, :, 1] == 0).all()
