"""Integrated gradients and interactions against exact rational calculus."""

import math

import pytest
import torch

from polyladder import LadderPolynomial, from_factorization_machine, integrated_gradients, interactions
from polyladder.analysis import attribution
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.expansion import expand, gradient, hessian, integrated_gradient, over_batch

N, D, M = 3, 3, 2


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_integrated_gradients_are_exact(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(2, [2] * (order - 1), M, batch_shape, seed=order)
    x, baseline = rows(2, 2), rows(2, 2, seed=5)

    def exact(q: LadderPolynomial) -> torch.Tensor:
        found = [
            [integrated_gradient(f, a, b) for f in expand(q)]
            for a, b in zip(x.tolist(), baseline.tolist(), strict=True)
        ]
        return torch.tensor(found, dtype=torch.float64)

    found = integrated_gradients(p, x, baseline)
    assert found.shape == (*batch_shape, 2, M, 2)
    expected = over_batch(p, exact)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11 * expected.abs().max().item())


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_contributions_add_up(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(4, [3] * (order - 1), M, batch_shape, seed=order)
    x, baseline = rows(5, 4), rows(1, 4, seed=5)[0]
    found = integrated_gradients(p, x, baseline).sum(-1)
    scale = p(x).abs().max().item()
    torch.testing.assert_close(found, p(x) - p(baseline.unsqueeze(0)), rtol=1e-9, atol=1e-11 * scale)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
def test_number_of_jacobians(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    exact = attribution.jacobian
    monkeypatch.setattr(attribution, "jacobian", lambda p, x: calls.append(1) or exact(p, x))
    integrated_gradients(random_ladder(D, [2] * (order - 1)), rows(N, D), torch.zeros(D))
    assert len(calls) == math.ceil(order / 2)


@pytest.mark.parametrize("order", [3, 4, 5, 6, 7])
def test_highest_power(order: int) -> None:
    # x^p from 0 to 1: the whole change of 1, and nothing below the highest degree that could hide a rule too short.
    ones = torch.ones(1, 1, dtype=torch.float64)
    zeros = torch.zeros(1, dtype=torch.float64)
    L = order - 1
    power = LadderPolynomial((ones,) * L, (zeros,) * L, (ones,) * L, (zeros,) * L, ones, zeros)
    x, start = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    assert integrated_gradients(power, x, start).item() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES[1:])
def test_rows_and_baselines_of_each_model(batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(D, (3, 2), M, batch_shape)
    count = torch.Size(batch_shape).numel()
    x = rows(count * N, D).reshape(*batch_shape, N, D)
    baseline = rows(count * N, D, seed=4).reshape(*batch_shape, N, D)
    last = (-1,) * len(batch_shape)
    together = integrated_gradients(p, x, baseline)
    torch.testing.assert_close(together[last], integrated_gradients(p[last], x[last], baseline[last]))
    shared = integrated_gradients(p, x[last], baseline)
    torch.testing.assert_close(shared[last], together[last])


def test_unused_input_gets_nothing() -> None:
    p = random_ladder(D, (3, 2), M)
    p.W[0][:, 1] = 0
    for V in p.V:
        V[:, 1] = 0
    found = integrated_gradients(p, rows(N, D), torch.zeros(D))
    assert not found[..., 1].any()
    assert found[..., 0].all()


def test_integrated_gradients_refuses_bad_input() -> None:
    p = random_ladder(D, (2,))
    with pytest.raises(ValueError, match=r"baseline must have shape \(3,\) or that of x, \(4, 3\); got shape \(2, 3\)"):
        integrated_gradients(p, rows(4, D), rows(2, D))
    with pytest.raises(TypeError, match=r"baseline must be a torch.Tensor; got float"):
        integrated_gradients(p, rows(4, D), 0.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\); got shape \(4, 2\)"):
        integrated_gradients(p, rows(4, 2), torch.zeros(D))


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_strengths_are_exact(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(2, [2] * (order - 1), M, batch_shape, seed=order)
    data = rows(3, 2) * torch.tensor([1.0, 3.0])
    found = interactions(p, data)

    def exact(q: LadderPolynomial, of_order: int) -> torch.Tensor:
        derivative = {1: gradient, 2: hessian}[of_order]
        values = torch.tensor([[derivative(f, row) for f in expand(q)] for row in data.tolist()], dtype=torch.float64)
        return values.square().mean(0).sqrt()

    spread = ((data - data.mean(0)) ** 2).mean(0).sqrt()
    single = over_batch(p, lambda q: exact(q, 1)) * spread
    pairs = over_batch(p, lambda q: exact(q, 2)) * spread * spread.unsqueeze(-1)
    assert found.single.shape == (*batch_shape, M, 2)
    assert found.pairs.shape == (*batch_shape, M, 2, 2)
    torch.testing.assert_close(found.single, single, rtol=1e-9, atol=1e-11 * single.max().item())
    torch.testing.assert_close(found.pairs, pairs, rtol=1e-9, atol=1e-11 * single.max().item())


def chain() -> LadderPolynomial:
    """3 + 2 x1 + x1 x2 - 4 x2 x3: x1 and x3 do not interact."""
    w = torch.tensor([2.0, 0.0, 0.0], dtype=torch.float64)
    factors = torch.tensor([[1.0, 1.0, 0.0], [0.0, -4.0, 1.0]], dtype=torch.float64)
    return from_factorization_machine(3.0, w, factors)


def test_ranking() -> None:
    data = rows(500, 3)
    data = (data - data.mean(0)) / data.std(0, correction=0)
    found = interactions(chain(), data, ["size", "age", "dose"])
    torch.testing.assert_close(
        found.pairs[0], torch.tensor([[0.0, 1, 0], [1, 0, 4], [0, 4, 0]], dtype=torch.float64), rtol=1e-9, atol=1e-12
    )
    assert found.ranked_pairs[0].tolist() == [[1, 2], [0, 1], [0, 2]]
    # df/dx1 = 2 + x2, df/dx2 = x1 - 4 x3, df/dx3 = -4 x2.
    assert found.single[0, 0].item() == pytest.approx(5**0.5)
    assert found.single[0, 2].item() == pytest.approx(4)
    assert found.ranked_features[0].tolist() == [1, 2, 0]
    lines = str(found).splitlines()
    assert lines[0].split() == ["input", "strength"]
    assert [line.split()[0] for line in lines[1:4]] == ["age", "dose", "size"]
    assert lines[5].split() == ["pair", "strength"]
    assert [line.rsplit(maxsplit=1)[0].strip() for line in lines[6:]] == ["age * dose", "size * age", "size * dose"]
    assert lines[6].split()[-1] == "4"
    assert len({len(line) for line in lines if line}) == 1
    assert len(found.table(top=1).splitlines()) == 5


def test_several_outputs_and_batches() -> None:
    both = str(interactions(random_ladder(D, (2,), 2), rows(5, D)))
    assert both.startswith("output 0\ninput")
    assert "\n\noutput 1\ninput" in both
    batch = interactions(random_ladder(D, (2,), 2, (4,)), rows(5, D))
    assert str(batch) == repr(batch) == "Interactions(batch_shape=(4,), 3 inputs, 2 outputs)"
    assert batch.ranked_pairs.shape == (4, 2, 3, 2)
    with pytest.raises(ValueError, match=r"table must be asked of a single polynomial; got batch_shape \(4,\)"):
        batch.table()


def test_one_input_has_no_pairs() -> None:
    found = interactions(random_ladder(1, (2,), 1), rows(5, 1))
    assert found.ranked_pairs.shape == (1, 0, 2)
    assert "pair" not in str(found)


def test_interactions_refuses_bad_input() -> None:
    p = random_ladder(D, (2,))
    with pytest.raises(ValueError, match="data must have at least 2 rows; got 1"):
        interactions(p, rows(1, D))
    with pytest.raises(ValueError, match="names must be 3 different names"):
        interactions(p, rows(4, D), ["a", "b"])
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\); got shape \(4, 2\)"):
        interactions(p, rows(4, 2))
