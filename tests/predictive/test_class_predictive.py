from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.conformal import Thresholds, class_scores, class_thresholds
from tests.ladders import rows
from tests.predictive.predictives import classes

P = torch.tensor(
    [[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0]], dtype=torch.float64
)
LABELS = np.array(["a", "b", "c", "d"])


def test_means_deviations_and_modes() -> None:
    said = ClassPredictive(P, LABELS)
    np.testing.assert_array_equal(said.mean, P)
    np.testing.assert_allclose(said.std**2, P * (1 - P))
    assert said.mode.tolist() == ["a", "d", "a", "a"]


def test_densities_are_probabilities_of_labels() -> None:
    said = ClassPredictive(P, LABELS)
    np.testing.assert_allclose(said.pdf(["b", "b", "d", "a"]), [0.3, 0.2, 0.25, 1])
    np.testing.assert_allclose(said.pdf("a"), P[:, 0])
    np.testing.assert_allclose(said.log_likelihood(["b", "b", "d", "a"]), np.log([0.3, 0.2, 0.25, 1]))
    assert said.logpdf("b")[3] == -np.inf
    numbers = ClassPredictive(P[:, :2] / P[:, :2].sum(1, keepdim=True), np.array([0, 1]))
    np.testing.assert_array_equal(numbers.pdf(np.ones(4)), numbers.mean[:, 1])


def test_the_score_is_half_of_briers_and_of_two_classes_the_crps_of_the_number() -> None:
    said = classes()
    y = np.array(["b", "d", "a", "c", "c"])
    np.testing.assert_allclose(said.crps(y), ((said.mean - (y[:, None] == LABELS)) ** 2).sum(1) / 2)
    two = ClassPredictive(torch.tensor([[0.3, 0.7], [0.9, 0.1]], dtype=torch.float64), np.array([0, 1]))
    # The distribution function of the number is P(0) between 0 and 1, so that the integral there is one square.
    np.testing.assert_allclose(two.crps([1, 1]), [0.3**2, 0.9**2])
    np.testing.assert_allclose(two.crps([0, 0]), [0.7**2, 0.1**2])


def test_sets_are_the_smallest_that_reach_the_level() -> None:
    said = ClassPredictive(rows(50, 5).exp().double().softmax(1), np.arange(5))
    for level in (0.01, 0.5, 0.9, 0.999):
        for p, inside in zip(said.mean, said.sets(level), strict=True):
            enough = [k for k in range(1, 6) if max(sum(c) for c in combinations(p, k)) >= level]
            assert inside.sum() == enough[0]
            assert p[inside].min() >= p[~inside].max(initial=0)
    assert ClassPredictive(P, LABELS).sets(0.8).tolist()[:2] == [[True, True, False, False], [False, True, True, True]]


def test_calibrated_sets_are_those_whose_score_passes() -> None:
    p = rows(200, 4, seed=3).softmax(1)
    label = torch.multinomial(p, 1, generator=torch.Generator().manual_seed(0))[:, 0]
    found = class_thresholds(class_scores(p, label), [0.5, 0.8, 0.9])
    new = torch.cat([p[:40], P])
    said = ClassPredictive(new, LABELS, found)
    for level in (0.5, 0.65, 0.9):
        scores = torch.stack([class_scores(new, torch.full((44,), c)) for c in range(4)], 1)
        inside = said.sets(level)
        np.testing.assert_array_equal(inside, scores <= found.at(level) + 1e-9)
        assert inside[range(44), new.argmax(1)].all()
    assert said.sets(0.95).all()


def test_calibrated_sets_hold_what_they_promise_where_probabilities_do_not() -> None:
    generator = torch.Generator().manual_seed(1)
    truth = rows(3000, 6, seed=8).softmax(1)
    label = torch.multinomial(truth, 1, generator=generator)[:, 0]
    proud = (truth**3) / (truth**3).sum(1, keepdim=True)
    half, rest = slice(1500), slice(1500, None)
    found = class_thresholds(class_scores(proud[half], label[half]), [0.8, 0.9])
    for level in (0.8, 0.9):
        shares = [
            np.take_along_axis(
                ClassPredictive(proud[rest], np.arange(6), t).sets(level), label[rest, None].numpy(), 1
            ).mean()
            for t in (None, found)
        ]
        assert shares[0] < level - 0.05
        assert abs(shares[1] - level) < 0.035


@pytest.mark.parametrize(
    "thresholds", [None, Thresholds(torch.tensor([0.5, 0.9]).double(), torch.tensor([0.6, 0.7]).double())]
)
def test_sets_are_nested(thresholds: Thresholds | None) -> None:
    said = ClassPredictive(torch.cat([P, rows(50, 4).softmax(1)]), LABELS, thresholds)
    sets = [said.sets(level) for level in np.linspace(0.01, 0.99, 50)]
    assert all((small <= large).all() for small, large in pairwise(sets))
    assert sets[0].any(1).all()
    assert sets[0].sum() < sets[-1].sum()


def test_draws_have_the_probabilities() -> None:
    said = ClassPredictive(P, LABELS)
    drawn = said.sample(4000, random_state=0)
    assert drawn.shape == (4000, 4)
    for c, label in enumerate(LABELS):
        np.testing.assert_allclose((drawn == label).mean(0), P[:, c], atol=5 * 0.5 / 4000**0.5)
    assert (drawn[:, 3] == "a").all()


@pytest.mark.parametrize("name", ["quantile", "interval", "cdf"])
def test_what_takes_an_order_is_refused_with_the_way_out(name: str) -> None:
    said = classes()
    call = {"quantile": said.quantile, "interval": said.interval, "cdf": said.cdf}[name]
    with pytest.raises(TypeError, match=rf"{name} must be of numbers; classes have no order. Use sets\(level\)"):
        call(0.5)


def test_labels_and_probabilities_that_do_not_fit_are_refused() -> None:
    said = classes()
    with pytest.raises(ValueError, match=r"y must hold labels of \['a', 'b', 'c', 'd'\]; got \['e', 'f'\]"):
        said.logpdf(["a", "e", "f", "a", "e"])
    with pytest.raises(ValueError, match=r"y must be one label or have shape \(5,\); got shape \(2,\)"):
        said.crps(["a", "b"])
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        said.sets(1.0)
    with pytest.raises(ValueError, match="one label for each class"):
        ClassPredictive(P, LABELS[:3])
    with pytest.raises(ValueError, match=r"at least 0 and sum to 1; got \[0.5, 0.6\] in row 1"):
        ClassPredictive(torch.tensor([[0.5, 0.5], [0.5, 0.6]], dtype=torch.float64), LABELS[:2])


def test_it_shows_itself_in_a_line() -> None:
    said = ClassPredictive(P, LABELS)
    assert repr(said) == "ClassPredictive(4 rows of 4 classes; most probable: a in 3, b in 0, c in 0, d in 1)"
    assert repr(said[:0]).startswith("ClassPredictive(0 rows of 4 classes")
