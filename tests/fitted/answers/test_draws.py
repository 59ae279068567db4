import numpy as np
import torch

from polyladder.fitted.answers.draws import Draws


def draws(guard=None, slopes=0):
    rng = np.random.default_rng(0)
    return Draws(
        guard, rng.uniform(1, 2, (5, 1)), np.array([[3.0], [5.0], [np.inf]] * 2)[:5], slopes * np.ones((5, 1, 4))
    )


def test_the_variance_is_that_of_a_student_distribution():
    answer = draws()
    found = answer.variance[:, 0]
    scales = answer.scales[:, 0] ** 2
    np.testing.assert_allclose(found, scales * [3.0, 5 / 3, 1.0, 3.0, 5 / 3])


def test_draws_outside_of_the_guard_are_not_believed():
    outputs = torch.tensor([[[0.0]], [[1.0]], [[2.0]], [[100.0]], [[-100.0]]], dtype=torch.float64)
    z = torch.zeros(1, 2, dtype=torch.float64)
    same = Draws(None, np.ones((5, 1)), np.full((5, 1), np.inf), np.zeros((5, 1, 0)))
    assert same.distribution(outputs, z).median().tolist() == [[1.0]]
    held = Draws(((-10.0,), (10.0,)), np.ones((5, 1)), np.full((5, 1), np.inf), np.zeros((5, 1, 0)))
    mixture = held.distribution(outputs, z)
    np.testing.assert_allclose(mixture.share[:, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0])
    assert held.shaped(mixture.median()).tolist() == [[1.0]]


def test_noise_tilts_with_the_inputs_and_not_without_bound():
    answer = draws(slopes=0.1)
    low, high = (answer.noise_scale(torch.full((1, 2), x, dtype=torch.float64)) for x in (-1.0, 1.0))
    assert (low > high).all()
    far = answer.noise_scale(torch.full((1, 2), 1e9, dtype=torch.float64))
    assert (far >= torch.from_numpy(answer.scales).unsqueeze(1) * np.exp(-answer.tilt / 2)).all()
