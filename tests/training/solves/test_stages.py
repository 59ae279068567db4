import pytest
import torch

from polyladder import fit_alternating, random_start
from polyladder.training.solves.stages import Stage, fit_in_stages, joined
from tests.ladders import random_ladder, rows

N = 400


def table() -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(N, 3)
    return x, x[:, :1] * x[:, 1:2] + 0.1 * rows(N, 1, seed=3)


def test_one_stage_on_all_rows_is_a_plain_fit() -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 2)
    staged = fit_in_stages(start, x, y, (Stage(1.0, 5),))
    plain = fit_alternating(start, x, y, sweeps=5)
    assert staged.polynomial == plain.polynomial
    assert torch.equal(staged.losses, plain.training_loss)


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_stages_end_near_a_fit_to_all_rows(alpha: float | str) -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 2)
    fit = fit_in_stages(start, x, y, (Stage(0.25, 8), Stage(1.0, 6)), alpha=alpha, tolerance=0.0)
    staged, losses = fit.polynomial, fit.losses
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
    together = fit_in_stages(start, x, y, stages).polynomial
    alone = fit_in_stages(start[1:2], x, y, stages).polynomial
    torch.testing.assert_close(together(x)[1], alone(x)[0], rtol=1e-6, atol=1e-7)


def test_rows_of_weight_zero_are_in_no_part() -> None:
    x, y = table()
    weight = torch.zeros(N, dtype=torch.float64)
    weight[:40] = 1.0
    start = random_start(3, (3,), 1, 0, 1)
    y[40:] = 1e6
    staged = fit_in_stages(start, x, y, (Stage(0.5, 3), Stage(1.0, 2)), sample_weight=weight).polynomial
    assert (staged(x[:40])[0] - y[:40]).abs().max() < 3


def test_a_stage_for_little_noise_leaves_the_others_as_they_are() -> None:
    x = rows(N, 3)
    y = torch.cat([x[:, :1] * x[:, 1:2], rows(N, 1, seed=3)], 1).sum(1, keepdim=True) / 1.4
    start = random_start(3, (4, 4), 1, 0, 3)
    alpha = torch.tensor([1e-6, 1e-6, 1e2], dtype=torch.float64)
    first = fit_in_stages(start, x, y, (Stage(1.0, 4),), alpha=alpha, tolerance=0.0).polynomial
    noise = (first(x) - y).square().mean((1, 2))
    limit = noise[:2].max().item() * 1.001
    assert noise[2] > limit
    stages = (Stage(1.0, 4), Stage(1.0, 3, noise_below=limit))
    fit = fit_in_stages(start, x, y, stages, alpha=alpha, tolerance=0.0)
    found, losses = fit.polynomial, fit.losses
    assert found[2] == first[2]
    assert losses[:2].isfinite().all()
    assert losses[2, 4:].isnan().all()
    whole = fit_in_stages(start[:2], x, y, (Stage(1.0, 7),), alpha=1e-6, tolerance=0.0).polynomial
    torch.testing.assert_close(found[:2](x), whole(x), rtol=1e-6, atol=1e-7)
    none = fit_in_stages(start, x, y, (Stage(1.0, 4), Stage(1.0, 3, noise_below=0.0)), alpha=1e-6, tolerance=0.0)
    assert none.losses.shape == (3, 4)
    assert none.polynomial == fit_in_stages(start, x, y, (Stage(1.0, 4),), alpha=1e-6, tolerance=0.0).polynomial


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_stages_one_by_one_are_stages_in_one_go(alpha: float | str) -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, 0, 3)
    stages = (Stage(0.25, 3), Stage(0.5, 2), Stage(1.0, 3))
    whole = fit_in_stages(start, x, y, stages, alpha=alpha)
    step = fit_in_stages(fit_in_stages(start, x, y, stages[:1], alpha=alpha), x, y, stages[1:], alpha=alpha)
    assert step.polynomial == whole.polynomial
    assert torch.equal(step.losses, whole.losses)
    assert torch.equal(step.noise, whole.noise)
    assert (step.precision is None) == (alpha != "auto")


def test_parts_of_a_fit_go_on_and_are_joined() -> None:
    x, y = table()
    begun = fit_in_stages(random_start(3, (4, 4), 1, 0, 3), x, y, (Stage(0.5, 3),))
    whole = fit_in_stages(begun, x, y, (Stage(1.0, 2),))
    parts = [fit_in_stages(begun[part], x, y, (Stage(1.0, 2),)) for part in torch.arange(3).tensor_split(2)]
    together = joined(parts)
    assert len(together) == 3
    torch.testing.assert_close(together.polynomial(x), whole.polynomial(x), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(together.precision, whole.precision, rtol=1e-4, atol=1e-9)
    short = joined([parts[0], begun[torch.tensor([2])]])
    assert short.losses.shape == whole.losses.shape
    assert short.losses[2, 3:].isnan().all()


def test_relaxed_sweeps_go_further() -> None:
    x = rows(N, 3)
    y = random_ladder(3, (5, 5, 5), 1, seed=5)(x)
    y = y / y.std()
    start = random_start(3, (5, 5, 5), 1, 0, 6)

    def log_loss(relaxation: float) -> float:
        fit = fit_alternating(start, x, y, alpha=1e-6, sweeps=10, tolerance=0.0, relaxation=relaxation)
        assert (fit.training_loss.diff() <= 1e-12).all()
        return fit.training_loss[:, -1].log().mean().item()

    assert log_loss(1.6) < log_loss(1.0) - 0.3
    with pytest.raises(ValueError, match=r"relaxation must be at least 1 and less than 2; got 2"):
        fit_alternating(start, x, y, relaxation=2.0)
