import pytest
import torch
from scipy import stats

from polyladder.training.bayes.streams import Streams


def test_a_model_draws_the_same_whoever_its_neighbors_are() -> None:
    together, alone = Streams(5, (2, 2)), Streams([8, 5], (2,))
    for draw in (
        lambda s: s.normal(3, 2),
        lambda s: s.uniform(4),
        lambda s: s.gamma(torch.ones(1, 2) * 3, torch.ones(1)),
    ):
        four, two = draw(together), draw(alone)
        assert four.dtype == torch.float64
        assert len(four) == 4
        assert torch.equal(two[0], four[3])
        assert torch.equal(two[1], four[0])
        assert not torch.equal(four[0], four[1])


def test_a_copy_draws_the_same_and_disturbs_nothing() -> None:
    streams = Streams(0, (3,))
    streams.normal(2)
    copied = streams.copy()
    ahead = copied.normal(5)
    assert torch.equal(streams.normal(5), ahead)


def test_streams_beyond_some_uniform_draws_are_those_that_have_made_them() -> None:
    streams = Streams(0, (3,))
    streams.gamma(torch.ones(1, 5), torch.ones(1))
    beyond = streams.beyond(7)
    assert torch.equal(beyond.uniform(3), streams.uniform(10)[:, 7:])
    assert torch.equal(beyond.normal(4), streams.normal(4))


def test_draws_have_their_distributions() -> None:
    streams = Streams(1, (4,))
    assert streams.normal(5, 2).shape == (4, 5, 2)
    assert stats.kstest(streams.normal(2000).flatten(), "norm").pvalue > 1e-4
    uniform = streams.uniform(2000)
    assert stats.kstest(uniform.flatten(), "uniform").pvalue > 1e-4
    assert ((uniform > 0) & (uniform < 1)).all()


def test_gamma_draws_broadcast_shapes_and_rates() -> None:
    streams = Streams(2, (2,))
    shape = torch.tensor([0.5, 4.0]).repeat_interleave(3000).double().unsqueeze(0)
    rate = torch.tensor([[2.0], [5.0]], dtype=torch.float64)
    drawn = streams.gamma(shape, rate)
    assert drawn.shape == (2, 6000)
    for i in range(2):
        for j, expected in enumerate((0.5, 4.0)):
            sample = drawn[i, 3000 * j : 3000 * (j + 1)]
            assert stats.kstest(sample, stats.gamma(expected, scale=1 / rate[i].item()).cdf).pvalue > 1e-4


def test_without_a_seed_no_two_runs_are_alike() -> None:
    assert not torch.equal(Streams(None, (1,)).normal(3), Streams(None, (1,)).normal(3))


def test_seeds_are_one_per_model() -> None:
    with pytest.raises(ValueError, match="seed must be one integer or 3 of them, one per model; got 2"):
        Streams([1, 2], (3,))
