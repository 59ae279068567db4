import pytest
import torch

from polyladder.training.losses.loss import Loss
from polyladder.training.solves.quadratic_bound import quadratic_bound
from tests.ladders import rows
from tests.training.losses.cases import EVERY, target_for


@pytest.mark.parametrize("loss", EVERY)
def test_outputs_come_before_rows(loss: Loss) -> None:
    m = 1 if loss.name == "logistic" else 3
    y, f = target_for(loss, rows(6, m)), rows(12, m, seed=2).reshape(2, 6, m)
    bound = quadratic_bound(loss, y, rows(6, 4), m)
    assert bound.noise == loss.noise
    torch.testing.assert_close(bound.value(f.mT.contiguous()), loss.each(f, y).sum(-1))
    torch.testing.assert_close(bound.scatter(f.mT.contiguous()), loss.scatter(f, y))
    response, curvature = bound.quadratic(f.mT.contiguous())
    torch.testing.assert_close(response, loss.bound(f, y)[0].mT)
    assert response.shape == (2, m, 6)
    assert curvature.shape in ((2, 6), (1, 6))


def test_several_log_odds_are_refused() -> None:
    with pytest.raises(ValueError, match="must have 1 output for the loss 'logistic'; got 2"):
        quadratic_bound("logistic", torch.zeros(4, 2), rows(4, 3), 2)
