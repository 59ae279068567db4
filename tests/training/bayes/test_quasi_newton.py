"""L-BFGS for many models: known minima, no step up, each model as if alone."""

import torch
from scipy.optimize import rosen, rosen_der

from polyladder.training.bayes.quasi_newton import descend
from tests.ladders import rows


def bowls(point: torch.Tensor, curvature: torch.Tensor, bottom: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    away = point - bottom
    return 0.5 * (curvature * away.square()).sum(1), curvature * away


def valley(point: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    points = point.numpy()
    return torch.from_numpy(rosen(points.T)), torch.from_numpy(rosen_der(points.T).T.copy())


def test_finds_the_bottom_of_uneven_bowls() -> None:
    curvature = torch.logspace(-2, 3, 8, dtype=torch.float64)
    bottom = rows(3, 8)
    found = descend(lambda p: bowls(p, curvature, bottom), 0 * bottom, 200, torch.full((3,), 1e-14).double())
    assert torch.allclose(found.points, bottom, atol=1e-4)
    assert (found.values[:, -1] < 1e-10).all()


def test_follows_a_curved_valley_without_a_step_up() -> None:
    start = torch.tensor([[-1.2, 1.0, 0.5], [0.0, 0.0, 0.0]], dtype=torch.float64)
    found = descend(valley, start, 300, torch.full((2,), 1e-16).double())
    assert (found.values.diff() <= 0).all()
    assert torch.allclose(found.points, torch.ones_like(start), atol=1e-4)


def test_a_model_of_a_batch_goes_as_it_goes_alone() -> None:
    start = torch.tensor([[-1.2, 1.0], [3.0, -2.0], [1.0, 1.0]], dtype=torch.float64)
    tolerance = torch.full((3,), 1e-6).double()
    together = descend(valley, start, 60, tolerance)
    for i in range(3):
        alone = descend(valley, start[i : i + 1], 60, tolerance[:1])
        assert torch.equal(together.points[i], alone.points[0])
        assert torch.equal(together.values[i, : alone.values.shape[1]], alone.values[0])


def test_never_enters_where_the_value_is_not_finite() -> None:
    def barrier(point: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (point - point.log()).sum(1), 1 - 1 / point

    start = torch.tensor([[1e-3, 0.9]], dtype=torch.float64)
    found = descend(barrier, start, 100, torch.tensor([1e-15]).double())
    assert torch.allclose(found.points, torch.ones_like(start), atol=1e-5)


def test_progress_hears_every_step_and_a_model_that_cannot_gain_ends() -> None:
    heard: list[int] = []
    flat = torch.zeros(2, 4, dtype=torch.float64)
    found = descend(lambda p: (0 * p.sum(1), 0 * p), flat, 50, torch.ones(2).double(), lambda i, _: heard.append(i))
    assert torch.equal(found.points, flat)
    assert heard == [1]
