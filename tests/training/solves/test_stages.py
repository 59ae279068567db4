import pytest
import torch

from polyladder import fit_alternating, random_start
from polyladder.training.solves.stages import Stage, fit_in_stages
from tests.ladders import rows

N = 400


def table() -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(N, 3)
    return x, x[:, :1] * x[:, 1:2] + 0.1 * rows(N, 1, seed=3)


def test_one_stage_on_all_rows_is_a_plain_fit() -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 2)
    staged, losses = fit_in_stages(start, x, y, (Stage(1.0, 5),))
    plain = fit_alternating(start, x, y, sweeps=5)
    assert staged == plain.polynomial
    assert torch.equal(losses, plain.training_loss)


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_stages_end_near_a_fit_to_all_rows(alpha: float | str) -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 2)
    staged, losses = fit_in_stages(start, x, y, (Stage(0.25, 8), Stage(1.0, 6)), alpha=alpha, tolerance=0.0)
    plain = fit_alternating(start, x, y, alpha=alpha, sweeps=14, tolerance=0.0)
    assert losses.shape == (2, 14)

    def error(p: torch.Tensor) -> float:
        return (p - y).square().mean().item()

    assert error(staged(x)) < 1.2 * error(plain.polynomial(x))
    if alpha != "auto":
        assert (losses[:, 8:].diff() <= 1e-12).all()  # on the rows of one stage the objective never rises


def test_a_ladder_goes_through_stages_alone_as_among_others() -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 3)
    stages = (Stage(0.3, 4), Stage(1.0, 3))
    together, _ = fit_in_stages(start, x, y, stages)
    alone, _ = fit_in_stages(start[1:2], x, y, stages)
    torch.testing.assert_close(together(x)[1], alone(x)[0], rtol=1e-6, atol=1e-7)


def test_rows_of_weight_zero_are_in_no_part() -> None:
    x, y = table()
    weight = torch.zeros(N, dtype=torch.float64)
    weight[:40] = 1.0
    start = random_start(3, (3,), 1, 0, 1)
    y[40:] = 1e6
    staged, _ = fit_in_stages(start, x, y, (Stage(0.5, 3), Stage(1.0, 2)), sample_weight=weight)
    assert (staged(x[:40])[0] - y[:40]).abs().max() < 3
