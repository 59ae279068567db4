import pytest
import torch

from polyladder.polynomial import layout
from polyladder.polynomial.layout import Layout
from tests.ladders import random_ladder, rows


@pytest.mark.parametrize("hidden", [(3,), (4, 2), (3, 3, 3)])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("members", [1, 4])
@pytest.mark.parametrize("n", [1, 200])
def test_a_layout_computes_what_its_ladders_do(
    hidden: tuple[int, ...], outputs: int, members: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "CACHE_NUMBERS", 1)  # chunks of 64 rows, the last one shorter
    p, x = random_ladder(d=2, hidden=hidden, m=outputs, batch_shape=(members,)), rows(n, 2)
    expected, found = p(x), Layout.of(p)
    torch.testing.assert_close(found.members(x), expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.mean(x), expected.mean(0), rtol=1e-12, atol=1e-12)
    states = torch.cat([h.clone() for _, h in found.last_states(x)], -1)
    torch.testing.assert_close(states.mT, p.hidden_states(x)[-1], rtol=1e-12, atol=1e-12)


def test_single_precision_is_near() -> None:
    p, x = random_ladder(d=5, hidden=(6, 6, 6), m=1, batch_shape=(8,)), rows(500, 5)
    exact = Layout.of(p).mean(x)
    single = Layout.of(p.to(torch.float32)).mean(x.float())
    assert (single - exact).abs().max() < 1e-5 * exact.abs().max()
