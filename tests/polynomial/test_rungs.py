"""Units that keep to themselves give the states that the matrix products give."""

import pytest
import torch

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rungs import last_states
from tests.ladders import random_ladder


@pytest.mark.parametrize("batch", [(), (3,)])
def test_states_of_any_ladder(batch: tuple[int, ...]) -> None:
    ladder = random_ladder(4, (5, 5, 2), 1, batch_shape=batch, seed=0)
    x = torch.randn(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(last_states(ladder, x), ladder.hidden_states(x)[-1])


def test_states_of_diagonal_layers() -> None:
    p = random_ladder(4, (5, 5, 5), 1, batch_shape=(2,), seed=1)
    diagonal = torch.diag_embed(p.b[1])
    ladder = LadderPolynomial((p.W[0], diagonal, diagonal), p.b, (p.V[0],) * 3, (p.c[0],) * 3, p.readout, p.offset)
    x = torch.randn(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(last_states(ladder, x), ladder.hidden_states(x)[-1])
