import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder import LadderPolynomial
from polyladder.training.solves import blocks as blocks_module
from polyladder.training.solves.blocks import (
    balance,
    blocks_of,
    chunks,
    normal_equations,
    order_of_pairs,
    pairs,
    readout_equations,
)
from tests.ladders import ladders, random_ladder, rows
from tests.oracles import alternating as oracle


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(ladders())
def test_blocks_compute_what_the_ladder_computes(p: LadderPolynomial) -> None:
    x = rows(5, p.in_features)
    blocks = blocks_of(p, x)
    count = blocks.count
    torch.testing.assert_close(blocks.f.mT.reshape(p(x).shape), p(x))
    for state, expected in zip(blocks.h, p.hidden_states(x)[1:], strict=True):
        torch.testing.assert_close(state[:, :-1].mT, expected.reshape(count, 5, -1))
        assert (state[:, -1] == 1).all()
    assert blocks.polynomial().map(lambda t: t.reshape(*p.batch_shape, *t.shape[1:])) == p
    part = blocks.select(torch.tensor([count - 1]))
    assert part.count == 1
    torch.testing.assert_close(part.polynomial()(x), blocks.polynomial()(x)[-1:])


@pytest.mark.parametrize("k", range(1, 6))
def test_pairs(k: int) -> None:
    h = random(2, k, 3)
    i, j = order_of_pairs(k)
    assert sorted(tuple(sorted(pair)) for pair in zip(i.tolist(), j.tolist(), strict=True)) == [
        (a, b) for a in range(k) for b in range(a, k)
    ]
    expected = torch.stack([h[:, a] * h[:, b] for a, b in zip(i, j, strict=True)], 1)
    torch.testing.assert_close(pairs(h), expected)
    torch.testing.assert_close(pairs(h[0]), expected[0])
    torch.testing.assert_close(pairs(h[..., 1:]), expected[..., 1:])


def test_chunks_cover_the_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "CHUNK_NUMBERS", 3000)
    slices = list(chunks(1003, 10))
    assert len(slices) == 4
    assert [i for s in slices for i in range(1003)[s]] == list(range(1003))
    assert list(chunks(100, 10**9)) == [slice(0, 100)]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("chunk", [1, 2**22])
@pytest.mark.parametrize("weights", [1, 2])
def test_normal_equations_are_those_of_the_features(
    shared: bool, outputs: int, chunk: int, weights: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks_module, "CHUNK_NUMBERS", chunk)
    B, k, q, n = 2, 3, 4, 700
    g, h, response = random(B, outputs, k, n), random(*([] if shared else [B]), q, n, seed=1), random(B, outputs, n)
    weight = random(weights, n, seed=2).abs()
    total = weight.sum(-1)
    equations = normal_equations(g, h, response, weight, total)
    for b in range(B):
        w, hb = weight[b % weights], h if shared else h[b]
        gram, moment = torch.zeros(k * q, k * q, dtype=torch.float64), torch.zeros(k * q, dtype=torch.float64)
        for o in range(outputs):
            features = torch.stack([torch.kron(g[b, o, :, i], hb[:, i]) for i in range(n)])
            gram += features.T @ (w[:, None] * features)
            moment += features.T @ (w * response[b, o])
        torch.testing.assert_close(equations.gram[b], gram / w.sum(), rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(equations.moment[b, :, 0], moment / w.sum(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shared", [True, False])
def test_readout_equations(shared: bool) -> None:
    B, q, n, m = 3, 4, 20, 2
    h, response, weight = random(*([] if shared else [B]), q, n), random(B, m, n, seed=1), random(B, n, seed=2).abs()
    equations = readout_equations(h, response, weight, weight.sum(-1))
    assert (equations.gram.shape, equations.moment.shape) == ((B, q, q), (B, q, m))
    for b in range(B):
        states = h if shared else h[b]
        gram = sum(weight[b, i] * torch.outer(states[:, i], states[:, i]) for i in range(n))
        moment = sum(weight[b, i] * torch.outer(states[:, i], response[b, :, i]) for i in range(n))
        torch.testing.assert_close(equations.gram[b], gram / weight[b].sum())
        torch.testing.assert_close(equations.moment[b], moment / weight[b].sum())


@given(ladders(min_layers=1), st.lists(st.floats(1e-6, 1e2), min_size=3, max_size=3))
def test_balance_keeps_the_function_and_never_raises_the_penalty(p: LadderPolynomial, ridge: list[float]) -> None:
    x, depth = rows(6, p.in_features), len(p.W)
    blocks = blocks_of(p, x)
    before = blocks.polynomial().map(torch.clone)
    # One ridge weight for all layers, one for all gates, one for the readout, times the model's number.
    factor = torch.arange(1.0, blocks.count + 1, dtype=torch.float64)
    layer, gate, readout = (r * factor for r in ridge)
    balance(blocks, torch.stack([*[layer] * depth, *[gate] * depth, readout]))
    blocks.forward()
    after = blocks.polynomial()
    torch.testing.assert_close(after(x), before(x), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(blocks.f.mT, after(x), rtol=1e-8, atol=1e-8)
    for i in range(blocks.count):
        alpha = {f"{name}.{l}": r[i].item() for name, r in (("W", layer), ("V", gate)) for l in range(depth)}
        alpha["readout"] = readout[i].item()
        assert oracle.penalty(after[i], alpha) <= oracle.penalty(before[i], alpha) * (1 + 1e-12)
        expected = oracle.balanced(before[i], alpha)
        for name, t in after[i].tensors().items():
            torch.testing.assert_close(t, expected.tensors()[name], rtol=1e-8, atol=1e-10)


def test_balance_leaves_dead_units_alone_and_works_without_a_ridge() -> None:
    p = random_ladder(hidden=(3,), m=1)
    p.W[0][1], p.b[0][1] = 0.0, 0.0
    blocks = blocks_of(p, rows(5, 3))
    f = blocks.f
    balance(blocks, torch.zeros(3, 1, dtype=torch.float64))
    blocks.forward()
    torch.testing.assert_close(blocks.f, f)
    norms = [blocks.W[0][0].norm(dim=1), blocks.V[0][0].norm(dim=1), blocks.R[0, :, :-1].norm(dim=0)]
    torch.testing.assert_close(norms[0][[0, 2]], norms[1][[0, 2]])
    torch.testing.assert_close(norms[0][[0, 2]], norms[2][[0, 2]])
    assert norms[0][1] == 0
    assert norms[1][1] == torch.cat([p.V[0][1], p.c[0][1:2]]).norm()
