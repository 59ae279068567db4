import pytest
import torch

from polyladder.training.gradient.attacked import attacked_rows
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.squared import SQUARED
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.training.gradient.moving_rows import LOSSES, case, moved_rows


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_rise_with_every_step_and_rows_stay_near(loss: Loss, batch_shape: tuple[int, ...]) -> None:
    p, x, target, radius = case(loss, batch_shape)
    before = loss.rows(p(x), target)
    clean = before
    for steps in (1, 2, 4):
        found = attacked_rows(p, loss, x, target, radius, steps)
        assert found.shape == (*batch_shape, *x.shape)
        assert ((found - x).abs() <= radius * (1 + 1e-12)).all()
        after = loss.rows(p(found), target)
        assert (after >= before - 1e-9).all()
        before = after
    # Better than a corner drawn by chance nearly everywhere.
    for seed in (1, 3, 5):
        drawn = loss.rows(p(moved_rows(p, x, radius, seed)), target)
        assert (before >= drawn).double().mean() > 0.85
    assert (before > clean).all()


def test_of_an_affine_function_the_worst_row_is_found() -> None:
    p, x, y = random_ladder(4, (), 1, seed=5), rows(9, 4), rows(9, 1, seed=2)
    found = attacked_rows(p, SQUARED, x, y, torch.full((1, 1), 0.3, dtype=torch.float64), steps=1)
    worst = (p(x) - y).abs()[:, 0] + 0.3 * p.readout.abs().sum()
    torch.testing.assert_close(SQUARED.rows(p(found), y), worst.square())


def test_where_a_number_is_met_exactly_the_worse_side_is_taken() -> None:
    p, x = random_ladder(3, (4,), 1, seed=6), rows(20, 3)
    radius = torch.full((1, 1), 0.5, dtype=torch.float64)
    # A residual of 1e-9 has a sign, but which side is worse is up to the curvature.
    found = attacked_rows(p, SQUARED, x, p(x) - 1e-9, radius, steps=1)
    toward = (found - x).sign()
    for side in (1, -1):
        other = SQUARED.rows(p(x + side * radius * toward), p(x))
        assert (SQUARED.rows(p(found), p(x)) >= other - 1e-6).all()
