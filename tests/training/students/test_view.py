"""The few directions along which a function changes."""

import pytest
import torch

from polyladder.polynomial.units import MeanOfParts, mean_of, unit_sum
from polyladder.training.kernels.directions import Directions, power_ladder
from polyladder.training.students.view import View, leading_view, slopes_at
from tests.ladders import random_ladder, rows

STRETCH = torch.tensor([1.0, 5.0, 0.2, 1.0, 2.0, 1.0], dtype=torch.float64)
Z = rows(400, 6) * STRETCH + 3.0
KNOWN = torch.linalg.qr(rows(6, 2, seed=4)).Q
"""Two orthogonal directions. Shape (6, 2)."""


def gradients(z: torch.Tensor) -> torch.Tensor:
    """Of sin(a . z) + (b . z)^2 for the two known directions. Shape (n, 1, 6)."""
    a, b = KNOWN.mT
    return ((z @ a).cos().unsqueeze(-1) * a + 2 * (z @ b).unsqueeze(-1) * b).unsqueeze(1)


def test_two_directions_are_found_and_the_others_dropped() -> None:
    view = leading_view(Z, gradients(Z), 1e-9, 6)
    assert view.matrix.shape == (6, 2)
    within = KNOWN @ torch.linalg.lstsq(KNOWN, view.matrix).solution
    torch.testing.assert_close(within, view.matrix, rtol=1e-6, atol=1e-7)
    assert torch.linalg.matrix_rank(view.matrix) == 2
    # What changes across them alone is not seen.
    across = torch.eye(6, dtype=torch.float64) - KNOWN @ KNOWN.mT
    torch.testing.assert_close(view(Z), view(Z + rows(400, 6, seed=9) @ across), rtol=1e-6, atol=1e-6)


def test_coordinates_are_uncorrelated_and_scaled_by_what_they_count() -> None:
    w = leading_view(Z, gradients(Z), 1e-9, 6)(Z)
    covariance = w.mT @ w / len(w)
    assert w.mean(0).abs().max() < 1e-9
    assert abs(covariance[0, 1]) < 1e-9
    assert covariance[0, 0] == pytest.approx(1)
    assert covariance[0, 0] > covariance[1, 1] >= 0.1**2 - 1e-12


@pytest.mark.parametrize(("least", "most", "kept"), [(1e-9, 1, 1), (1e9, 6, 1), (0.0, 6, 6)])
def test_how_many_are_kept(least: float, most: int, kept: int) -> None:
    slopes = gradients(Z) + 1e-3 * rows(400, 6, seed=7).unsqueeze(1)
    assert leading_view(Z, slopes, least, most).matrix.shape[1] == kept


def test_what_is_lost_without_the_last_directions_is_bounded() -> None:
    # Of a line the variance that is lost is known.
    slope = torch.tensor([1.0, 0.1, 0.0, 0.0, 0.0, 0.3], dtype=torch.float64)
    second = torch.tensor([0.0, 0.0, 0.0, 0.5, 0.0, 0.0], dtype=torch.float64)
    slopes = torch.stack([slope, second]).expand(400, 2, 6)
    variances = torch.stack([(Z @ slope).var(correction=0), (Z @ second).var(correction=0)])
    smaller = float(variances.min()) / 2
    assert leading_view(Z, slopes, 1.2 * smaller, 6).matrix.shape[1] == 1
    assert leading_view(Z, slopes, 0.8 * smaller, 6).matrix.shape[1] == 2


def test_what_is_lost_counts_over_all_directions_that_are_left_out() -> None:
    # Six outputs, each along an axis of its own and of the same variance 1: in the mean each direction has 1/6.
    z = torch.linalg.qr(rows(400, 6) - rows(400, 6).mean(0)).Q * 20
    slopes = torch.eye(6, dtype=torch.float64).expand(400, 6, 6)
    assert leading_view(z, slopes, 2.5 / 6, 6).matrix.shape[1] == 4


@pytest.mark.parametrize("repeated", [False, True])
def test_inputs_that_do_not_vary_are_no_direction(repeated: bool) -> None:
    z = Z.clone()
    z[:, 0] = z[:, 1] if repeated else 2.0
    view = leading_view(z, gradients(z), 0.0, 6)
    assert view.matrix.shape[1] <= 5
    assert torch.isfinite(view.matrix).all()
    assert view(z).square().mean(0).max() < 1 + 1e-9


def test_a_function_that_does_not_change() -> None:
    view = leading_view(Z, torch.zeros(10, 1, 6, dtype=torch.float64), 0.0, 6)
    assert view.matrix.shape == (6, 1)
    assert torch.isfinite(view(Z)).all()


def a_view(k: int) -> View:
    return leading_view(Z, rows(300, 6, seed=3).unsqueeze(1), 0.0, k)


def test_a_folded_ladder_is_the_ladder_through_the_view() -> None:
    view = a_view(2)
    ladder = random_ladder(d=2)
    torch.testing.assert_close(view.folded(ladder)(Z), ladder(view(Z)), rtol=1e-10, atol=1e-10)


def test_a_ladder_seen_from_all_coordinates_is_the_same() -> None:
    view = a_view(6)
    ladder = random_ladder(d=6)
    torch.testing.assert_close(view.seen(ladder)(view(Z)), ladder(Z), rtol=1e-9, atol=1e-8)


def test_a_ladder_seen_from_some_has_the_most_likely_inputs() -> None:
    # The inputs that w leaves open are those of the regression of z on w.
    view = a_view(2)
    w = view(Z)
    fitted = Z.mean(0) + w @ torch.linalg.lstsq(w, Z - Z.mean(0)).solution
    ladder = random_ladder(d=6)
    torch.testing.assert_close(view.seen(ladder)(w), ladder(fitted), rtol=1e-8, atol=1e-8)


def test_slopes_of_a_mean_of_ladders_are_differences() -> None:
    directions = rows(9, 6, seed=8).numpy() / 3
    kernel = power_ladder(Directions(directions, directions @ directions.T, 3), 3, rows(9, 2, seed=5).numpy())
    units = unit_sum(kernel)
    assert units is not None
    teacher = MeanOfParts((units, *mean_of(random_ladder(d=6, batch_shape=(2,))).parts))
    z, step = rows(20, 6, seed=6), 1e-5
    slopes = slopes_at(teacher, z)
    assert slopes.shape == (20, 2, 6)
    for j, unit in enumerate(step * torch.eye(6, dtype=torch.float64)):
        expected = (teacher(z + unit) - teacher(z - unit)) / (2 * step)
        torch.testing.assert_close(slopes[..., j], expected, rtol=1e-5, atol=1e-6)
