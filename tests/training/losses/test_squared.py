import torch

from polyladder.training.losses.squared import SQUARED
from tests.ladders import rows


def test_its_bound_is_the_loss_itself() -> None:
    f, y, other = rows(9, 2), rows(9, 2, seed=2), rows(9, 2, seed=3)
    response, weight = SQUARED.bound(f, y)
    torch.testing.assert_close(weight[0] * (other - response).square().sum(-1), SQUARED.each(other, y).sum(-1))
    assert SQUARED.quadratic


def test_standards_are_mean_and_spread_and_equal_numbers_stay_equal() -> None:
    y = torch.tensor([[float(i), 0.1] for i in range(5)], dtype=torch.float64)
    mean, scale = SQUARED.standards(y, torch.tensor([0.1, 0.2, 0.3, 0.2, 0.2], dtype=torch.float64))
    assert mean.tolist() == [2.2, 0.1]
    torch.testing.assert_close(scale, torch.tensor([1.56**0.5, 0.0], dtype=torch.float64))
