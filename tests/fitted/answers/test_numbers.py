import numpy as np
import torch

from polyladder.fitted.answers.numbers import Numbers

OUTPUTS = torch.tensor([[[1.0], [5.0]], [[3.0], [-9.0]]], dtype=torch.float64)


def test_the_mean_of_the_members_is_held_to_the_guard():
    assert Numbers(None).predict(OUTPUTS).tolist() == [[2.0], [-2.0]]
    assert Numbers(((0.0,), (1.5,))).predict(OUTPUTS).tolist() == [[1.5], [0.0]]
    assert Numbers(None, flat=True).predict(OUTPUTS).tolist() == [2.0, -2.0]
    two = torch.stack([OUTPUTS[..., 0], -OUTPUTS[..., 0]], -1)
    assert np.array_equal(Numbers(((0.0, -1.0), (1.5, 9.0))).predict(two), [[1.5, -1.0], [0.0, 2.0]])
    assert Numbers(None).label("price", 0) == "price"
