import math

import numpy as np
import torch

from polyladder.fitted.answers import Banded

ANSWER = Banded(
    guard=((0.0, -9.0), (9.0, 9.0)),
    log_scales=((0.0, -1.0), (1.0, 2.0)),
    most=3.0,
    widths=(2.0, 1.5),
    degrees=(4.5, math.inf),
    percentage=90,
)


def test_numbers_and_scales_by_hand() -> None:
    """Held, not held and grown; the mean over two ladders."""
    rows = [[-4.0, 5.0, 0.5, -7.0, 0.0, 0.25], [1.0, 2.0, 8.0, 1.0, 10.0, 0.0]]
    apart = torch.tensor([1.0, -2.0, 0.5, 3.0, -1.0, 2.0], dtype=torch.float64)
    outputs = torch.stack([torch.tensor(rows, dtype=torch.float64) + sign * apart for sign in (1, -1)])
    first, second = math.exp(0.5), math.exp(-1.0 + 0.25)
    third, fourth = math.exp(1.0 + 3.0), math.exp(1.0)
    expected = [
        [0.0, 5.0, -2 * first, 5 - 1.5 * second, 2 * first, 5 + 1.5 * second, first, second],
        [1.0, 2.0, 1 - 2 * third, 2 - 1.5 * fourth, 1 + 2 * third, 2 + 1.5 * fourth, third, fourth],
    ]
    np.testing.assert_allclose(ANSWER.predict(outputs), expected, rtol=1e-14)


def test_its_note_says_what_intervals_hold_and_how_errors_are_distributed() -> None:
    assert ANSWER.note == (
        "Intervals, from low to high, are made to hold 90 % of new observations. "
        "Distribution of errors divided by the scale: Student, 4.5 degrees of freedom; normal."
    )
    assert ANSWER.label("price", 3) == "price"
