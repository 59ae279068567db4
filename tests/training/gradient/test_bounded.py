import pytest
import torch

from polyladder import certify
from polyladder.training.gradient.attacked import attacked_rows
from polyladder.training.gradient.bounded import bounded_losses, reaches
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.training.gradient.moving_rows import LOSSES, case, moved_rows, target_for


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_row_of_the_box_has_a_larger_loss(loss: Loss, batch_shape: tuple[int, ...]) -> None:
    p, x, target, radius = case(loss, batch_shape)
    bound = bounded_losses(p, loss, x, target, radius)
    assert bound.shape == (*batch_shape, len(x))
    tried = [attacked_rows(p, loss, x, target, radius, 3), *(moved_rows(p, x, radius, seed) for seed in range(40))]
    for moved in tried:
        assert (loss.rows(p(moved), target) <= bound * (1 + 1e-12)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_without_a_radius_it_is_the_loss(loss: Loss) -> None:
    p, x, target, radius = case(loss, (2,))
    torch.testing.assert_close(bounded_losses(p, loss, x, target, 0 * radius), loss.rows(p(x), target))


@pytest.mark.parametrize("loss", LOSSES)
def test_of_affine_functions_it_is_the_worst_loss_for_two_classes_or_one_number(loss: Loss) -> None:
    loss = Huber((0.7,)) if isinstance(loss, Huber) else loss
    p, x = random_ladder(4, (), 2 if loss.name == "softmax" else 1, seed=5), rows(9, 4)
    y = rows(9, 1, seed=2)
    target = (y[:, 0] > 0).long() if loss.name == "softmax" else target_for(loss, y)
    radius = torch.full((1, 1), 0.3, dtype=torch.float64)
    worst = loss.rows(p(attacked_rows(p, loss, x, target, radius, 1)), target)
    torch.testing.assert_close(bounded_losses(p, loss, x, target, radius), worst)


def test_what_is_found_and_proven_of_ranges_lies_within_reach() -> None:
    p, x = random_ladder(4, (5, 5), 2, seed=7), rows(6, 4)
    for radius in (1e-4, 0.05):
        reach = reaches(p, x, torch.full((1, 1), radius, dtype=torch.float64), p.readout.unsqueeze(-3))
        proven = certify(p, x, radius)
        assert (proven.highest <= p(x) + reach * (1 + 1e-9)).all()
        assert (proven.upper <= p(x) + reach * (1 + 1e-9)).all()
    # For small boxes the linear part is all, and it is exact.
    tiny = reaches(p, x, torch.full((1, 1), 1e-7, dtype=torch.float64), p.readout.unsqueeze(-3))
    torch.testing.assert_close(p(x) + tiny, certify(p, x, 1e-7).highest, rtol=1e-9, atol=1e-9)


def test_gradients_are_differences() -> None:
    p, x, target, radius = case(Softmax())
    p.V[1].requires_grad_()
    (slope,) = torch.autograd.grad(bounded_losses(p, Softmax(), x, target, radius).sum(), p.V[1])
    step = torch.zeros_like(p.V[1])
    step[2, 1] = 1e-6
    with torch.no_grad():
        up, down = (
            bounded_losses(
                type(p)(p.W, p.b, (p.V[0], p.V[1] + s * step, p.V[2]), p.c, p.readout, p.offset),
                Softmax(),
                x,
                target,
                radius,
            ).sum()
            for s in (1, -1)
        )
    torch.testing.assert_close(slope[2, 1], (up - down) / 2e-6, rtol=1e-5, atol=1e-6)
