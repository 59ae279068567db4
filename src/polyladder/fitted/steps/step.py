"""What every step is: a function from the numbers of one column to other numbers, with all that readers ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from polyladder.fitted.steps.operations import Operations, T

Array = np.ndarray[Any, np.dtype[np.float64]]
Span = tuple[float, float]


class Step:
    """A rising function of one number, unless a subclass says otherwise. Subclasses are frozen dataclasses of numbers.

    ``apply`` takes arrays of any shape. The numbers of a step may themselves be arrays that go with those (`together`).
    """

    straight: ClassVar[bool] = True
    """Whether it is affine between its breaks."""

    def apply(self, x: Array) -> Array:
        """The values at x; what is missing is NaN."""
        raise NotImplementedError

    def inverse(self, y: Array) -> Array:
        """The x of each value, where a value has one: the nearest end otherwise. By default the value itself."""
        return y

    def slope(self, x: Array) -> Array:
        """The derivative at x, by default one. Where there is a knot, either side's."""
        return np.ones_like(x)

    def span(self, low: float, high: float) -> Span:
        """The least and greatest value while x lies in [low, high], which may be infinite."""
        with np.errstate(invalid="ignore"):
            ends = self.apply(np.array([low, high], dtype=np.float64))
        return float(ends[0]), float(ends[1])

    @property
    def bends(self) -> tuple[float, ...]:
        """Where it is not smooth."""
        return ()

    def breaks(self, low: float, high: float) -> list[float]:
        """Where in (low, high) it is not smooth."""
        return [x for x in self.bends if low < x < high]

    def named(self, name: str) -> str:
        """What the value is called that the step makes of one with this name."""
        return name

    def written(self, x: T, language: Operations[T]) -> T:
        """The step as an expression of x, for languages that have no words of their own for it."""
        raise ValueError(f"{type(self).__name__} cannot be written in this language.")

    @classmethod
    def together(cls, steps: Sequence[Self]) -> Callable[[Array], Array]:
        """Steps of this kind, each for one of several columns that are given with rows last. Shape (columns, n).

        What is given may be overwritten: in place, a step takes half the time.
        """
        return cls.stacked(steps).apply

    @classmethod
    def stacked(cls, steps: Sequence[Self]) -> Self:
        """Steps of this kind as one, whose numbers are arrays of shape (columns, 1)."""
        numbers = ([vars(step)[field.name] for step in steps] for field in fields(cls))  # type: ignore[arg-type]
        return cls(*(np.array(column)[:, None] for column in numbers))


def applied(steps: Iterable[Step], x: Array) -> Array:
    """Values after one step and the next."""
    for step in steps:
        x = step.apply(x)
    return x


def undone(steps: Sequence[Step], y: Array) -> Array:
    """Values back through steps to where they come from."""
    for step in reversed(steps):
        y = step.inverse(y)
    return y
