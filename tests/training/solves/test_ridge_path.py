"""A path of ridge weights: equal beginnings are computed once, and nobody's result depends on the others."""

from typing import Any

import pytest
import torch

from polyladder import random_start
from polyladder.training.solves import ridge_path
from polyladder.training.solves.ridge_path import different, divided, fit_ridge_path
from polyladder.training.solves.stages import RELAXATION, Stage, fit_in_stages
from tests.ladders import rows

N = 120
ALPHA = torch.tensor([1e-6, 1e-3, 1e-1, 1e2], dtype=torch.float64)


def table() -> tuple[torch.Tensor, torch.Tensor]:
    x = rows(N, 3)
    return x, x[:, :1] * x[:, 1:2] + 0.1 * rows(N, 1, seed=3)


def test_the_path_is_estimated_sweeps_and_then_given_ones() -> None:
    x, y = table()
    start = random_start(3, (4, 4), 1, [5] * 4, 4)
    options: dict[str, Any] = {"tolerance": 0.0, "relaxation": RELAXATION}
    path = fit_ridge_path(start, x, y, (Stage(1.0, 9),), alpha=ALPHA, **options)
    assert path.sweeps.tolist() == [9] * 4
    assert path.losses.shape == (4, 2)
    assert (path.losses.diff() <= 1e-12).all()
    for i, alpha in enumerate(ALPHA):
        begun = fit_in_stages(start[i : i + 1], x, y, (Stage(1.0, 7),), **options).polynomial
        ended = fit_in_stages(begun, x, y, (Stage(1.0, 2),), alpha=alpha[None], **options)
        torch.testing.assert_close(path.polynomial[i](x), ended.polynomial[0](x), rtol=1e-7, atol=1e-8)
        torch.testing.assert_close(path.losses[i], ended.losses[0], rtol=1e-7, atol=1e-9)
    # A large ridge weight shrinks, a small one does not.
    spread = path.polynomial(x).std(1).squeeze(-1)
    assert spread[0] > 0.9 * y.std()
    assert spread[3] < 1e-3 * y.std()


def test_a_ladder_does_not_depend_on_the_rest_of_the_path() -> None:
    x, y = table()
    start = random_start(3, (4,), 1, [0, 1, 0, 1], 4)
    stages = (Stage(0.5, 3), Stage(1.0, 4))
    path = fit_ridge_path(start, x, y, stages, alpha=ALPHA)
    for i in range(4):
        alone = fit_ridge_path(start[i : i + 1], x, y, stages, alpha=ALPHA[i : i + 1])
        torch.testing.assert_close(path.polynomial[i](x), alone.polynomial[0](x), rtol=1e-7, atol=1e-8)


def test_equal_starts_make_their_first_sweeps_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def counted(start: Any, x: Any, y: Any, stages: tuple[Stage, ...], **options: Any) -> Any:
        made.append((len(start), sum(stage.sweeps for stage in stages)))
        return fit_in_stages(start, x, y, stages, **options)

    monkeypatch.setattr(ridge_path, "fit_in_stages", counted)
    start = random_start(3, (4,), 1, [7, 8] * 4, 8)
    fit_ridge_path(start, *table(), (Stage(1.0, 7),), alpha=ALPHA.repeat(2))
    assert made == [(2, 6), (8, 1)]


def test_what_belongs_to_the_given_ridge_weight() -> None:
    assert divided((Stage(1.0, 1),)) == ((), (Stage(1.0, 1),))
    assert divided((Stage(1.0, 7),)) == ((Stage(1.0, 6),), (Stage(1.0, 1),))
    assert divided((Stage(1.0, 20),)) == ((Stage(1.0, 17),), (Stage(1.0, 3),))
    little = Stage(1.0, 3, 0.01)
    assert divided((Stage(0.5, 6), Stage(1.0, 2), little)) == (
        (Stage(0.5, 6), Stage(1.0, 1)),
        (Stage(1.0, 1), little),
    )


def test_different_ladders() -> None:
    ladders = random_start(3, (4,), 1, [9, 2, 9, 4, 2], 5)
    first, equal = different(ladders)
    assert len(first) == 3
    assert all(ladders[int(first[k])] == ladders[i] for i, k in enumerate(equal))
