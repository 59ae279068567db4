import pytest
import torch

from polyladder.training.losses.logistic import Logistic


def test_sure_predictions_do_not_overflow() -> None:
    f = torch.tensor([[1000.0], [-1000.0]], dtype=torch.float64)
    assert Logistic().rows(f, torch.tensor([[1.0], [1.0]], dtype=torch.float64)).tolist() == [0.0, 1000.0]


def test_the_bound_is_tighter_than_the_uniform_one_away_from_zero() -> None:
    f = torch.tensor([[0.0], [8.0]], dtype=torch.float64)
    weight = Logistic().bound(f, torch.ones(2, 1, dtype=torch.float64))[1]
    assert weight[0].item() == 0.125
    assert weight[1].item() < 0.04


def test_block_solves_are_for_one_output() -> None:
    Logistic().check_outputs(1)
    with pytest.raises(ValueError, match="must have 1 output for the loss 'logistic'; got 2"):
        Logistic().check_outputs(2)


def test_certain_shares_have_finite_scores() -> None:
    assert Logistic().link(torch.tensor([0.0, 1.0])).isfinite().all()
