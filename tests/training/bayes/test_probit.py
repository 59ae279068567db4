import pytest
import torch
from scipy import stats

from polyladder import fit_alternating
from polyladder.analysis.argmax import argmax_probability
from polyladder.training.bayes.gibbs import sample_gibbs
from polyladder.training.bayes.probit import SeveralClasses, TwoClasses, class_probabilities, normal_above
from polyladder.training.bayes.streams import Streams
from polyladder.training.solves.alternating import random_start
from tests.ladders import rows


@pytest.mark.parametrize("bound", [-40.0, -2.0, 0.0, 1.5, 8.0, 60.0])
def test_truncated_normals_have_their_distribution(bound: float) -> None:
    uniform = Streams(0, (1,)).uniform(4000)[0]
    z = normal_above(torch.full_like(uniform, bound), uniform)
    assert (z >= bound).all()
    assert stats.kstest(z.numpy(), stats.truncnorm(bound, float("inf")).cdf).pvalue > 1e-3


@pytest.mark.parametrize("m", [2, 3, 5])
def test_class_probabilities_agree_with_the_general_quadrature(m: int) -> None:
    f = 2 * rows(20, m)
    found = class_probabilities(f)
    expected = argmax_probability(f, torch.eye(m, dtype=torch.float64).expand(20, m, m), nodes=4096)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(found.sum(-1), torch.ones(20, dtype=torch.float64))


def test_two_outputs_differ_by_noise_of_variance_two() -> None:
    f = 3 * rows(50, 2)
    expected = torch.special.ndtr((f[:, 0] - f[:, 1]) / 2**0.5)
    torch.testing.assert_close(class_probabilities(f)[:, 0], expected, atol=1e-8, rtol=0)


def test_one_output_gives_the_two_signs() -> None:
    f = rows(5, 1)
    torch.testing.assert_close(class_probabilities(f), torch.special.ndtr(torch.cat([-f, f], 1)))


def test_latent_values_say_what_was_seen() -> None:
    f, weight, streams = rows(2, 60).reshape(2, 1, 60), torch.ones(1, 60, dtype=torch.float64), Streams(0, (2,))
    sign = rows(1, 60, seed=5).sign().unsqueeze(0)
    z, precision = TwoClasses(sign).renew(f, weight, streams)
    assert (z * sign > 0).all()
    assert (precision == 1).all()
    f = rows(6, 60).reshape(2, 3, 60)
    label = rows(60, 3, seed=6).argmax(1).unsqueeze(0)
    classes = SeveralClasses(label, f)
    for _ in range(3):
        z, _ = classes.renew(f, weight, streams)
        assert (z.argmax(1) == label).all()


def test_classes_are_learned() -> None:
    x = rows(200, 2)
    label = (x[:, 0] * x[:, 1] > 0).long()
    start = random_start(2, (3,), 1, range(2), 2)
    start = fit_alternating(start, x, label, loss="logistic", sweeps=6).polynomial
    found = sample_gibbs(start, x, label, likelihood="probit", warmup=20, draws=30)
    right = class_probabilities(found.weights(x)).mean((0, 1))[:, 1]
    assert (((right > 0.5) == (label > 0)).double().mean()) > 0.95
    assert (found.noise == 1).all()
    assert found.degrees.isinf().all()
