"""Steps down until every model has stopped, with models whose every step is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from polyladder.training.solves.descent import DescentOptions, Objective, descend, mean_loss
from polyladder.training.solves.quadratic_bound import quadratic_bound
from polyladder.training.solves.ridge import Ridge
from tests.ladders import rows

N = 6


def objective(models: int = 2, groups: int = 1, loss: Any = "squared") -> Objective:
    y = rows(N, 1, seed=3)[:, 0]
    bound = quadratic_bound(loss, y if loss == "squared" else (y > 0).double(), rows(N, 2), 1)
    alpha = torch.arange(1.0, groups * models + 1, dtype=torch.float64).reshape(groups, models)
    weight = rows(N, models, seed=4).abs().T.contiguous()
    return Objective(bound, weight, Ridge(alpha, torch.zeros(models, dtype=torch.float64)))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_objective_is_the_mean_loss_plus_ridge(loss: str) -> None:
    each, y = objective(2, 3, loss), rows(N, 1, seed=3)[:, 0].numpy()
    f, norms = rows(2, N, seed=5).unsqueeze(1), rows(3, 2, seed=6).abs()
    value = each.value(f, norms)
    for b in range(2):
        g, w = f[b, 0].numpy(), each.weight[b].numpy()
        losses = (g - y) ** 2 if loss == "squared" else np.log1p(np.exp(-np.where(y > 0, 1, -1) * g))
        mean = (w * losses).sum() / w.sum()
        assert mean_loss(each.bound, each.weight, f)[b].item() == pytest.approx(mean, rel=1e-12)
        ridge = sum(each.ridge.alpha[g, b].item() * norms[g, b].item() for g in range(3))
        assert value[b].item() == pytest.approx(mean + ridge, rel=1e-12)
    part = each.select(torch.tensor([False, True]))
    torch.testing.assert_close(part.value(f[1:], norms[:, 1:]), value[1:])
    torch.testing.assert_close(part.rows, each.weight.sum(-1)[1:])


def test_noise_is_what_is_left_over_the_rows_that_are_free() -> None:
    each, f = objective(), rows(2, N, seed=5).unsqueeze(1)
    n, errors = each.weight.sum(-1), mean_loss(each.bound, each.weight, f)
    determined = torch.tensor([0.0, 0.5], dtype=torch.float64) * n
    torch.testing.assert_close(each.noise(f, determined), errors * torch.tensor([1.0, 2.0]))
    # More weights than rows: at most four fifths of them count as determined.
    torch.testing.assert_close(each.noise(f, 2 * n), 5 * errors)
    assert objective(loss="logistic").noise(f, determined).tolist() == [0.5, 0.5]


@dataclass
class Planned:
    """Models of one constant output each, which take their values from a list: a step is the next of them."""

    values: Tensor  # (B, steps + 1)
    at: int = 0

    @property
    def f(self) -> Tensor:
        return self.values[:, self.at, None, None].expand(-1, 1, N)

    def step(self, objective: Objective, estimating: bool) -> tuple[Tensor, Tensor]:
        self.at += 1
        none = torch.zeros(len(self.values), dtype=torch.float64)
        return none.unsqueeze(0), none

    def norms(self) -> Tensor:
        return torch.zeros(1, len(self.values), dtype=torch.float64)

    def weights(self) -> list[Tensor]:
        return [self.values[:, self.at : self.at + 1]]

    def restless(self) -> Tensor:
        return torch.zeros(len(self.values), dtype=torch.bool)

    def select(self, keep: Tensor) -> Planned:
        return Planned(self.values[keep], self.at)


def run(values: list[list[float]], steps: int, **options: Any) -> tuple[list[float], dict[str, Any]]:
    """Descend towards the target 0 with the given outputs: the loss of an output v is v squared."""
    held_out = options.pop("held_out", None)
    bound = quadratic_bound("squared", torch.zeros(N, dtype=torch.float64), rows(N, 2), 1)
    weight = torch.ones(1, N, dtype=torch.float64)
    chosen = DescentOptions(**{"alpha": 0.0, "noise_inflation": 0.0, "steps": steps, "tolerance": 0.0, **options})
    models = Planned(torch.tensor(values, dtype=torch.float64))
    found, record = descend(models, bound, weight, chosen, (len(values),), held_out)
    return found[0].flatten().tolist(), record


def test_a_model_stops_once_it_gains_less_than_the_tolerance() -> None:
    values = [[4.0, 2.0, 1.0, 0.999, 0.5], [4.0, 3.0, 2.0, 1.0, 0.1]]
    found, record = run(values, 4, tolerance=0.01)
    assert found == [0.999, 0.1]
    assert record["steps"].tolist() == [3, 4]
    assert record["stopped"].tolist() == [True, False]
    curve = record["training_loss"]
    torch.testing.assert_close(curve[1], torch.tensor([9.0, 4.0, 1.0, 0.01], dtype=torch.float64))
    assert curve[0, 3].isnan()


@pytest.mark.parametrize(("renewal", "stops"), [(1, 5), (3, 7)])
def test_the_tolerance_is_the_gain_of_one_step_however_many_lie_between_two_estimates(renewal: int, stops: int) -> None:
    # A loss that each of four steps lowers by a tenth, and each later one by 0.8 %: below 1 % a step, though three of
    # them together gain more than 1 %.
    losses = [0.9 ** min(k, 4) * 0.992 ** max(k - 4, 0) for k in range(11)]
    options = {"alpha": "auto", "renewal": renewal, "warm_up": 1, "tolerance": 0.01}
    _, record = run([[loss**0.5 for loss in losses]], 10, **options)
    assert record["steps"].tolist() == [stops]
    assert record["stopped"].tolist() == [True]


def test_a_model_that_is_no_longer_finite_keeps_its_last_weights() -> None:
    found, record = run([[4.0, 2.0, 1e200, 0.0], [4.0, 3.0, 2.0, 1.0]], 3)
    assert found == [2.0, 1.0]
    assert record["diverged"].tolist() == [True, False]
    assert record["steps"].tolist() == [1, 3]


def test_validation_keeps_the_best_and_ends_by_patience() -> None:
    values = [[4.0, 1.0, 2.0, 3.0, 0.0], [4.0, 2.0, 1.0, 1.5, 0.5]]
    held_out = torch.ones(1, N, dtype=torch.float64)
    found, record = run(values, 4, held_out=held_out, patience=2)
    assert found == [1.0, 0.5]
    assert record["best"].tolist() == [1, 4]
    assert record["steps"].tolist() == [3, 4]
    with pytest.raises(ValueError, match="patience must be a positive integer; got 0"):
        run(values, 4, held_out=held_out, patience=0)


def test_every_step_is_told() -> None:
    told: list[tuple[int, list[float]]] = []
    run([[3.0, 2.0, 1.0]], 2, progress=lambda step, losses: told.append((step, losses.tolist())))
    assert told == [(1, [4.0]), (2, [1.0])]
