"""One predictive distribution of each kind, for tests of what they share."""

import math

import numpy as np
import torch

from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.mixture import StudentMixture
from polyladder.predictive.mixture_predictive import MixturePredictive
from polyladder.predictive.number_predictive import NumberPredictive
from polyladder.predictive.student import StudentPredictive
from tests.ladders import rows

COUNT = 5


def student(*degrees: float, flat: bool = True) -> StudentPredictive:
    m = len(degrees)
    return StudentPredictive(
        10 * rows(COUNT, m), rows(COUNT, m, seed=2).abs() + 0.2, torch.tensor(degrees).double(), flat
    )


def mixture(m: int = 1, by_row: bool = True) -> MixturePredictive:
    center = 2 * rows(3, COUNT * m).reshape(3, COUNT, m)
    scale = rows(3, COUNT * m if by_row else m, seed=2).abs().reshape(3, -1, m) + 0.3
    degrees = torch.tensor([3.0, 8.0, math.inf]).double().reshape(3, 1, 1).expand(3, 1, m)
    share = rows(3, COUNT, seed=4).softmax(0)
    return MixturePredictive(StudentMixture(center, scale, degrees, share), m == 1)


def classes() -> ClassPredictive:
    return ClassPredictive(torch.softmax(2 * rows(COUNT, 4), 1), np.array(["a", "b", "c", "d"]))


NUMBERS: dict[str, NumberPredictive] = {
    "normal": student(math.inf),
    "student": student(2.5),
    "two outputs": student(1.5, math.inf, flat=False),
    "mixture": mixture(),
    "mixture of two outputs": mixture(2, by_row=False),
}
