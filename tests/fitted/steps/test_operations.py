"""What a step writes with a language's operations is what it computes."""

import math
from dataclasses import dataclass

import pytest

from polyladder.fitted.steps import Clip
from polyladder.fitted.steps.operations import Operations
from tests.convert.source.test_operations import Wave


@dataclass
class Arithmetic:
    """Numbers themselves as the smallest of languages."""

    def number(self, value: float) -> float:
        return value

    def minus(self, a: float, b: float) -> float:
        return a - b

    def times(self, a: float, b: float) -> float:
        return a * b

    def sine(self, a: float) -> float:
        return math.sin(a)


def test_a_step_is_written_as_it_is_applied() -> None:
    language: Operations[float] = Arithmetic()
    for x in (-3.0, 0.0, 11.5):
        assert Wave(1.0, 0.4).written(x, language) == pytest.approx(Wave(1.0, 0.4).apply(x))


def test_steps_that_every_language_knows_need_not_be_written() -> None:
    with pytest.raises(ValueError, match="Clip cannot be written in this language"):
        Clip(0.0, 1.0).written(1.0, Arithmetic())
