import numpy as np
import torch
from scipy.stats import norm

from polyladder.fitted.answers.probit import Probit


def test_two_classes_are_a_normal_distribution_and_never_surer_than_that():
    f = torch.tensor([[[0.3], [50.0]], [[-1.0], [50.0]]], dtype=torch.float64)
    found = Probit(("no", "yes")).probabilities(f).numpy()
    expected = [norm.cdf([0.3, -1.0]).mean(), norm.cdf(6.0)]
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(1), 1.0)


def test_several_classes_are_the_largest_of_noisy_outputs():
    f = torch.tensor([[[0.5, 0.0, -0.7]]], dtype=torch.float64)
    noisy = f.numpy()[0, 0] + np.random.default_rng(0).standard_normal((400_000, 3))
    drawn = np.bincount(noisy.argmax(1), minlength=3) / 400_000
    answer = Probit((1, 2, 3))
    np.testing.assert_allclose(answer.probabilities(f).numpy()[0], drawn, atol=5 * 0.5 / np.sqrt(400_000))
    assert answer.predict(f).tolist() == [1]
    np.testing.assert_allclose((answer.weights * answer.nodes**2).sum(), 1.0)
