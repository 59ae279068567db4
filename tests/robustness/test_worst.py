import pytest
import torch

from polyladder.robustness.worst import aim_at
from tests.ladders import random_ladder, rows


def test_margins_of_classes_and_distances_of_numbers() -> None:
    three, outputs = random_ladder(2, (3,), 3), rows(4, 3)
    y = torch.tensor([0, 2, 1, 1])
    margins = aim_at(three, y, 4, None)
    own = outputs.gather(1, y.unsqueeze(1))
    others = outputs.scatter(1, y.unsqueeze(1), -torch.inf)
    torch.testing.assert_close(margins.value(outputs), others.amax(1) - own[:, 0])
    one, target, outputs = random_ladder(2, (3,), 1), rows(4, 1, seed=2)[:, 0], rows(4, 1)
    error = outputs[:, 0] - target
    for goal, expected in (("up", error), ("down", -error), ("away", error.abs()), (None, error.abs())):
        torch.testing.assert_close(aim_at(one, target, 4, goal).value(outputs), expected)  # type: ignore[arg-type]


def test_what_counts_as_a_success() -> None:
    value, clean = torch.tensor([-1.0, 0.5, 2.0]), torch.tensor([-2.0, 1.0, 1.0])
    margins = aim_at(random_ladder(2, (3,), 3), torch.tensor([0, 1, 2]), 3, "margin")
    assert margins.success(value, clean, 1.0).tolist() == [False, True, True]
    numbers = aim_at(random_ladder(2, (3,), 1), clean, 3, "up")
    assert numbers.success(value, clean, None).tolist() == [True, False, True]
    assert numbers.success(value, clean, 1.0).tolist() == [False, False, True]


def test_numbers_have_one_output() -> None:
    with pytest.raises(ValueError, match="model must have one output to be attacked as a number; got 3"):
        aim_at(random_ladder(2, (3,), 3), torch.zeros(2), 2, None)
