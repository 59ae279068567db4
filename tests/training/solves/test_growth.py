import pytest
import torch
from hypothesis import given

from polyladder import LadderPolynomial, fit_alternating
from polyladder.training.solves import growth
from polyladder.training.solves.alternating import random_start
from polyladder.training.solves.growth import Growth, add_rung, grow
from tests.ladders import ladders, random_ladder, rows


@given(ladders(max_layers=2))
def test_a_rung_without_noise_changes_nothing(p: LadderPolynomial) -> None:
    x = rows(5, p.in_features)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "NOISE", 0.0)
        longer = add_rung(p, seed=0)
    assert longer.order == p.order + 1
    torch.testing.assert_close(longer(x), p(x), rtol=1e-14, atol=1e-14)


def test_noise_touches_the_new_rung_alone_and_belongs_to_the_model() -> None:
    p = random_ladder(hidden=(4, 5), batch_shape=(2, 3))
    longer = add_rung(p, seed=7)
    assert longer.hidden == (4, 5, 5)
    assert all(torch.equal(a, b) for a, b in zip(longer.W[:2], p.W, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(longer.V[:2], p.V, strict=True))
    assert torch.equal(longer.readout, p.readout)
    identity = torch.eye(5, dtype=torch.float64)
    assert (longer.W[2] - identity).abs().max() > 0
    assert (longer.W[2] - identity).std().item() == pytest.approx(growth.NOISE / 5**0.5, rel=0.25)
    assert longer.V[2].std().item() == pytest.approx(growth.NOISE / 3**0.5, rel=0.25)
    assert add_rung(p, seed=7) == longer
    assert add_rung(p[1, 2], seed=7 + 5) == longer[1, 2]


def walk(errors: list[float], **options: float) -> tuple[Growth, list[int | None]]:
    """Grow on prescribed errors; also the order of each start that was handed in."""
    starts: list[int | None] = []

    def fit(order: int, start: LadderPolynomial | None) -> tuple[LadderPolynomial, float]:
        starts.append(None if start is None else start.order)
        return random_ladder(hidden=(2,) * (order - 1)), errors[order - 2]

    return grow(fit, range(2, 2 + len(errors)), seed=0, **options), starts


def test_growth_stops_after_patience_and_keeps_its_path() -> None:
    path, starts = walk([5.0, 3.0, 2.0, 2.1, 1.999, 0.1, 0.1])
    assert path.orders == (2, 3, 4, 5, 6)
    assert path.errors == (5.0, 3.0, 2.0, 2.1, 1.999)
    assert path.order == 4
    assert starts == [None, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("errors", "options", "orders", "order"),
    [
        ([5.0, 4.0, 3.0], {}, (2, 3, 4), 4),  # falls to the end
        ([5.0, 5.0, 5.0, 1.0], {}, (2, 3, 4), 2),
        ([5.0, 6.0, 4.0, 3.0, 3.0, 3.0, 1.0], {}, (2, 3, 4, 5, 6, 7), 5),  # one bad order is forgiven
        ([5.0, 4.9, 1.0], {"patience": 1, "gain": 0.1}, (2, 3), 2),
        ([5.0, 4.9, 1.0], {"patience": 1, "gain": 0.01}, (2, 3, 4), 4),
        ([5.0, 4.9, 4.8, 4.7], {"gain": 0.0}, (2, 3, 4, 5), 5),
    ],
)
def test_when_growth_stops(errors: list[float], options: dict[str, float], orders: tuple[int, ...], order: int) -> None:
    path, _ = walk(errors, **options)
    assert path.orders == orders
    assert path.order == order


def test_growth_finds_the_order_of_a_known_polynomial() -> None:
    x = rows(300, 2)
    y = (x[:, :1] * x[:, 1:] ** 2 - x[:, :1] ** 3) / 3 + 0.05 * rows(300, 1, seed=2)

    def fit(order: int, start: LadderPolynomial | None) -> tuple[LadderPolynomial, float]:
        first = random_start(2, (4,), 1, 0, 1)[0] if start is None else start
        p = fit_alternating(first, x, y, alpha=1e-4, rows=torch.arange(200)).polynomial
        return p, float((p(x) - y).square()[200:].mean())

    path = grow(fit, range(2, 7), seed=0)
    assert path.orders == (2, 3, 4, 5)
    assert path.order == 3
    assert path.errors[0] > 100 * path.errors[1]
    assert max(path.errors[1:]) < 1.5 * 0.05**2
