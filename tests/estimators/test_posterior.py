import math

import numpy as np
import pytest
import torch
from scipy import stats

from polyladder.estimators.posterior import Diagnostics, Posterior, chain_by_chain, in_order, repeated
from polyladder.estimators.rows import TrainingRows
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED
from tests import ladders

DRAWS, M, D = 4, 2, 3


def posterior(sloping: bool) -> Posterior:
    g = torch.Generator().manual_seed(0)
    noise = 0.5 + torch.rand(DRAWS, M, generator=g, dtype=torch.float64)
    slopes = torch.randn(DRAWS, M, 2 * D if sloping else 0, generator=g, dtype=torch.float64)
    degrees = torch.tensor([[3.0, math.inf], [5.0, 4.0]], dtype=torch.float64).repeat(2, 1)
    return Posterior(ladders.random_ladder(D, (3,), M, (DRAWS,)), noise, degrees, slopes, (), 2)


def test_the_noise_is_the_same_everywhere_without_slopes() -> None:
    found = posterior(False)
    assert torch.equal(found.answer.noise_scale(ladders.rows(5, D)), found.noise.unsqueeze(1))


def test_the_noise_follows_inputs_and_their_squares() -> None:
    found, z = posterior(True), 2 * ladders.rows(5, D)
    scale = found.answer.noise_scale(z)
    assert scale.shape == (DRAWS, 5, M)
    for s in range(DRAWS):
        for n in range(5):
            held = z[n].clamp(-3, 3).numpy()
            raw = found.slopes[s].numpy() @ np.concatenate([held, (held**2 - 1) / 2])
            precision = np.exp(2 * np.tanh(raw / 2))
            np.testing.assert_allclose(scale[s, n], found.noise[s].numpy() / np.sqrt(precision), rtol=1e-12)


@pytest.mark.parametrize("sloping", [True, False])
def test_the_mixture_is_a_student_density_per_draw(sloping: bool) -> None:
    found, z, y = posterior(sloping), ladders.rows(5, D), ladders.rows(5, M, seed=3)
    scale = found.answer.noise_scale(z).expand(DRAWS, 5, M)
    density = np.zeros(5)
    for s in range(DRAWS):
        each = np.ones(5)
        for o in range(M):
            nu, center = found.degrees[s, o].item(), found.weights[s](z)[:, o].numpy()
            kind = stats.norm if math.isinf(nu) else stats.t(nu)
            each *= kind.pdf((y[:, o].numpy() - center) / scale[s, :, o].numpy()) / scale[s, :, o].numpy()
        density += each / DRAWS
    np.testing.assert_allclose(found.mixture(z).log_density(y), np.log(density), rtol=1e-10)


def test_draws_of_a_chain_follow_each_other() -> None:
    t = torch.arange(6).reshape(3, 2)  # three draws of two chains
    assert chain_by_chain(t).tolist() == [0, 2, 4, 1, 3, 5]
    assert chain_by_chain(torch.zeros(3, 2, 4, 5)).shape == (6, 4, 5)


def table(weight: list[float] | None) -> TrainingRows:
    z = torch.tensor([[2.0, 1.0], [1.0, 5.0], [1.0, 4.0]], dtype=torch.float64)
    given = None if weight is None else torch.tensor(weight, dtype=torch.float64)
    return TrainingRows(z, torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64), given, 1, SQUARED)


def test_whole_weights_repeat_rows() -> None:
    rows = repeated(table([2.0, 0.0, 1.0]))
    assert rows.z.tolist() == [[2, 1], [2, 1], [1, 4]]
    assert rows.y.flatten().tolist() == [1, 1, 3]
    assert rows.weight is None
    for other in (table(None), table([0.5, 1.0, 2.0])):
        assert repeated(other) is other


def test_the_order_of_rows_does_not_matter() -> None:
    rows = table([1.0, 2.0, 3.0])
    ordered = in_order(rows)
    for order in ([2, 0, 1], [1, 2, 0]):
        other = in_order(rows.take(torch.tensor(order)))
        assert torch.equal(other.z, ordered.z)
        assert torch.equal(other.y, ordered.y)
        assert other.weight is not None
        assert ordered.weight is not None
        assert torch.equal(other.weight, ordered.weight)
    pairs = {tuple(z) + tuple(y) for z, y in zip(ordered.z.tolist(), ordered.y.tolist(), strict=True)}
    assert pairs == {(2, 1, 1), (1, 5, 2), (1, 4, 3)}


def test_digits_beyond_single_precision_are_dropped() -> None:
    rows = table(None)
    nudged = TrainingRows(rows.z * (1 + 1e-12), rows.y * (1 - 1e-12), None, 1, SQUARED)
    assert torch.equal(in_order(nudged).z, in_order(rows).z)
    assert torch.equal(in_order(nudged).y, in_order(rows).y)
    classes = TrainingRows(rows.z, torch.tensor([2, 0, 1]), None, 3, Softmax())
    assert in_order(classes).y.dtype == torch.int64


def test_diagnostics_show_themselves_in_a_line() -> None:
    rhat = np.full((200, 1), 1.02)
    rhat[:11] = 1.69
    found = Diagnostics(rhat, np.linspace(7, 150, 200)[:, None], 200)
    assert repr(found) == (
        "Diagnostics(R-hat is up to 1.69 (median 1.02) and above 1.1 at 6% of 200 predictions; as few as 7 of 200 "
        "draws are effective (median 78))"
    )
    assert not found.settled
    # What is above 1.1 at one prediction in twenty is chance.
    assert Diagnostics(np.where(np.arange(200)[:, None] < 10, 1.69, rhat[-1]), found.effective_draws, 200).settled
    assert len(repr(posterior(False))) < 200


def test_draws_that_all_say_the_same_agree() -> None:
    same = Diagnostics(np.full((3, 1), np.nan), np.full((3, 1), 8.0), 8)
    assert same.settled
    assert same.summary == "all 8 draws predict the same"
    some = Diagnostics(np.array([[np.nan], [np.inf]]), np.array([[8.0], [4.0]]), 8)
    assert some.disagreeing == 0.5
    assert "up to inf" in some.summary
