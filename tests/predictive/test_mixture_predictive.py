import math

import numpy as np
import pytest
import torch

from polyladder.predictive.calibration import crps_draws, crps_mixture
from polyladder.predictive.mixture import StudentMixture
from polyladder.predictive.mixture_predictive import MixturePredictive, half_spread
from polyladder.predictive.standard_student import half_difference
from tests.ladders import rows
from tests.predictive.predictives import mixture


def normals(apart: float) -> StudentMixture:
    center, scale = apart * rows(20, 30).unsqueeze(-1), rows(20, 30, seed=2).abs().unsqueeze(-1) + 0.5
    return StudentMixture.equal(center, scale, torch.full((20, 1, 1), math.inf).double())


@pytest.mark.parametrize(("apart", "error"), [(0.0, 1e-5), (0.3, 1e-5), (5.0, 1e-4), (200.0, 5e-2)])
def test_the_crps_of_normals_is_the_sum_over_pairs(apart: float, error: float) -> None:
    m, y = normals(apart), rows(30, 1, seed=5)
    pairs = crps_mixture(y, m.center, m.scale)[:, 0]
    np.testing.assert_allclose(MixturePredictive(m, True).crps(y[:, 0]), pairs, rtol=error)


@pytest.mark.parametrize("degrees", [2.2, 4.0, 50.0])
def test_of_one_component_the_spread_has_a_closed_form(degrees: float) -> None:
    nu = torch.tensor([[[degrees]]]).double()
    one = StudentMixture.equal(rows(1, 3).unsqueeze(-1), torch.full((1, 3, 1), 2.5).double(), nu)
    torch.testing.assert_close(half_spread(one), 2.5 * half_difference(nu[0]).expand(3, 1), rtol=1e-4, atol=0)


def test_the_crps_is_that_of_many_draws() -> None:
    said = mixture(2)
    y = said.quantile(0.9)
    drawn = said.sample(20_000, random_state=0)
    np.testing.assert_allclose(said.crps(y), crps_draws(y, drawn), rtol=0.03)


def test_outputs_share_their_draw() -> None:
    """Two components far apart in both outputs: the outputs of a new observation come from the same one."""
    center = torch.tensor([[[0.0, 0.0]], [[50.0, 50.0]]]).double()
    said = MixturePredictive(
        StudentMixture.equal(center, torch.ones(2, 1, 2).double(), torch.full((2, 1, 2), math.inf).double()), False
    )
    both, crossed = said.log_likelihood([[0.0, 0.0]]), said.log_likelihood([[0.0, 50.0]])
    assert both.item() == pytest.approx(math.log(0.5 / (2 * math.pi)))
    assert crossed.item() < -1000
    np.testing.assert_allclose(said.logpdf([[0.0, 50.0]]), math.log(0.5 / math.sqrt(2 * math.pi)))
    drawn = said.sample(200, random_state=0)
    assert (np.abs(drawn[..., 0] - drawn[..., 1]) < 10).all()
    np.testing.assert_allclose(said.covariance, [[[626, 625], [625, 626]]])


@pytest.mark.parametrize("by_row", [True, False])
def test_rows_keep_their_scales_and_shares(by_row: bool) -> None:
    said = mixture(2, by_row)
    y = said.quantile(0.7)
    np.testing.assert_allclose(said[[3, 1]].log_likelihood(y[[3, 1]]), said.log_likelihood(y)[[3, 1]])
    np.testing.assert_allclose(said[2:].interval(0.8), [side[2:] for side in said.interval(0.8)])
