import torch
from hypothesis import given

from polyladder import LadderPolynomial, merge
from polyladder.models.merge import unmerge
from tests.ladders import ladders, random_ladder, rows


@given(ladders(max_layers=3, dtypes=(torch.float64, torch.float32)))
def test_merge_undoes_unmerge(p: LadderPolynomial) -> None:
    net = unmerge(p)
    assert merge(net) == p
    assert net.batch_shape == p.batch_shape
    x = rows(4, p.in_features, dtype=p.dtype)
    torch.testing.assert_close(net(x), p(x), rtol=1e-4, atol=1e-4)


def test_the_network_trains_and_the_polynomial_stays() -> None:
    p = random_ladder()
    before = p.map(torch.clone)
    net = unmerge(p)
    net(rows(4, 3)).square().sum().backward()
    assert all(t.grad is not None and t.grad.abs().sum() > 0 for t in net.parameters())
    with torch.no_grad():
        for t in net.parameters():
            t.zero_()
    assert p == before


def test_unmerge_draws_nothing_from_the_global_stream() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    unmerge(random_ladder())
    assert torch.equal(torch.rand(2), expected)
