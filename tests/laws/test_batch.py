"""Law: a model of a batch is built and computes as if it were alone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder import LPNN, merge, stack
from tests.ladders import BATCH_SHAPES, rows


@pytest.mark.parametrize("batch_norm", [True, False])
@pytest.mark.parametrize("training", [True, False])
@given(batch_shape=st.sampled_from(BATCH_SHAPES[1:]), hidden=st.lists(st.integers(1, 5), max_size=3))
def test_batch(batch_norm: bool, training: bool, batch_shape: tuple[int, ...], hidden: list[int]) -> None:
    count = torch.Size(batch_shape).numel()
    seeds = [7 * i + 3 for i in range(count)]
    options = {"hidden": hidden, "out_features": 2, "batch_norm": batch_norm, "dtype": torch.float64}
    batch = LPNN(3, **options, batch_shape=batch_shape, seed=seeds).train(training)
    alone = [LPNN(3, **options, seed=seed).train(training) for seed in seeds]
    x = rows(6, 3)
    expected = torch.stack([net(x) for net in alone]).reshape(*batch_shape, 6, 2)
    torch.testing.assert_close(batch(x), expected)
    last = batch[(-1,) * len(batch_shape)]
    torch.testing.assert_close(merge(last)(x), alone[-1].eval()(x))
    torch.testing.assert_close(merge(batch)(x)[(-1,) * len(batch_shape)], alone[-1](x))
    if len(batch_shape) == 1:
        joined = stack([batch[i] for i in range(count)])
        assert all(torch.equal(t, joined.state_dict()[name]) for name, t in batch.state_dict().items())


def test_own_rows_for_every_model() -> None:
    net = LPNN(3, (4, 4), 1, batch_norm=True, batch_shape=(2, 3), seed=0, dtype=torch.float64)
    x = rows(6 * 5, 3).reshape(2, 3, 5, 3)
    y = net(x)
    alone = LPNN(3, (4, 4), 1, batch_norm=True, seed=4, dtype=torch.float64)
    torch.testing.assert_close(y[1, 1], alone(x[1, 1]))
    torch.testing.assert_close(net.norms[1].variance[1, 1], alone.norms[1].variance)
