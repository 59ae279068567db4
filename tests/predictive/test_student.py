import math

import numpy as np
import pytest
import torch
from torch import Tensor

from polyladder.predictive.calibration import crps_gaussian
from polyladder.predictive.conformal import Calibrated
from polyladder.predictive.student import StudentPredictive
from tests.predictive.predictives import student

ONE = torch.ones(1, 1, dtype=torch.float64)


def calibrated(levels: list[float], widths: list[float]) -> Calibrated:
    return Calibrated(torch.tensor(levels).double(), torch.tensor(widths).double().unsqueeze(1))


def test_the_crps_of_normals_is_that_of_the_calibration_page() -> None:
    said = student(math.inf)
    y = np.linspace(-20, 20, len(said))
    np.testing.assert_allclose(said.crps(y), crps_gaussian(y, said.mean, said.std))


def test_standard_deviations_are_infinite_up_to_two_degrees() -> None:
    said = student(1.5, 2.0, 4.0, math.inf, flat=False)
    assert np.isinf(said.std[:, :2]).all()
    np.testing.assert_allclose(said.std[:, 2], said.scale[:, 2] * math.sqrt(2))
    np.testing.assert_allclose(said.std[:, 3], said.scale[:, 3])


def test_outputs_are_independent() -> None:
    said = student(3.0, math.inf, flat=False)
    y = said.quantile(0.2)
    np.testing.assert_allclose(said.log_likelihood(y), said.logpdf(y).sum(1))


def test_calibrated_widths_are_the_intervals_at_their_levels_and_linear_between() -> None:
    said = StudentPredictive(5 * ONE, 2 * ONE, torch.tensor([math.inf]).double(), True, calibrated([0.5, 0.9], [1, 3]))
    for level, half in ((0.5, 1.0), (0.7, 2.0), (0.9, 3.0)):
        low, high = said.interval(level)
        assert low.item() == pytest.approx(5 - 2 * half)
        assert high.item() == pytest.approx(5 + 2 * half)
    assert said.quantile(0.75).item() == pytest.approx(5 + 2 * 0.67449, rel=1e-4)  # the normal's


@pytest.mark.parametrize("widths", [[0.1, 0.2], [1.0, 1.0], [5.0, 9.0]])
def test_calibrated_intervals_are_nested_whatever_the_widths(widths: list[float]) -> None:
    said = StudentPredictive(ONE, ONE, torch.tensor([4.0]).double(), True, calibrated([0.4, 0.8], widths))
    half = [said.interval(level)[1].item() - 1 for level in np.linspace(0.01, 0.999, 100)]
    assert (np.diff(half) >= 0).all()
    assert half[0] < widths[0]


def test_targets_are_numbers_of_each_row_or_one_for_all() -> None:
    said, pair = student(4.0), student(4.0, math.inf, flat=False)
    assert said.cdf(0.0).shape == (5,)
    assert pair.cdf(0.0).shape == (5, 2)
    assert pair.cdf(np.zeros((7, 3, 5, 2))).shape == (7, 3, 5, 2)
    assert pair.quantile([0.1, 0.2, 0.3]).shape == (3, 5, 2)
    assert pair[:0].cdf(np.zeros((7, 0, 2))).shape == (7, 0, 2)
    np.testing.assert_array_equal(said.cdf([[0.0] * 5, [1.0] * 5])[1], said.cdf(1.0))
    with pytest.raises(ValueError, match=r"y must be a number or have shape \(..., 5\); got shape \(5, 1\)"):
        said.cdf(np.zeros((5, 1)))
    with pytest.raises(ValueError, match=r"y must be a number or have shape \(..., 5, 2\); got shape \(5,\)"):
        pair.crps(np.zeros(5))
    with pytest.raises(ValueError, match=r"y must have shape \(5,\); got shape \(\)"):
        said.log_likelihood(0.0)


@pytest.mark.parametrize("level", [0, 1, 90, -0.1, math.nan])
def test_levels_are_probabilities(level: float) -> None:
    said = student(4.0)
    with pytest.raises(ValueError, match="level must be between 0 and 1; got"):
        said.interval(level)
    with pytest.raises(ValueError, match="q must be between 0 and 1; got"):
        said.quantile([0.5, level])
    with pytest.raises(ValueError, match="q must be a number or a sequence"):
        said.quantile([[0.5]])


@pytest.mark.parametrize(
    ("center", "scale", "degrees", "flat", "message"),
    [
        (
            torch.ones(3),
            torch.ones(3),
            torch.ones(1),
            True,
            r"center must have shape \(n, 1\), as the answers are flat",
        ),
        (torch.ones(3, 2), torch.ones(3, 2), torch.ones(2), True, r"center must have shape \(n, 1\)"),
        (torch.ones(3, 2), torch.ones(1, 2), torch.ones(2), False, r"scale must have shape \(3, 2\)"),
        (torch.ones(3, 2), torch.ones(3, 2), torch.ones(3), False, r"degrees must have shape \(2,\)"),
        (torch.ones(3, 1), torch.zeros(3, 1), torch.ones(1), True, "scale must be positive; got 0"),
        (torch.ones(3, 1), torch.ones(3, 1), torch.ones(1), True, "degrees must be more than 1, to have a mean; got 1"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    center: Tensor, scale: Tensor, degrees: Tensor, flat: bool, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        StudentPredictive(center, scale, degrees, flat)


def test_widths_of_other_outputs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"widths must be of 2 outputs; got shape \(1, 1\)"):
        StudentPredictive(
            ONE.expand(3, 2), ONE.expand(3, 2), torch.full((2,), 4.0).double(), False, calibrated([0.5], [1.0])
        )


def test_it_shows_itself_in_a_line() -> None:
    said = student(math.inf)
    assert repr(said).startswith("StudentPredictive(5 rows: mean ")
    assert repr(said[:0]) == "StudentPredictive(0 rows)"
    assert "5 rows of 2 outputs" in repr(student(3.0, 4.0, flat=False))
