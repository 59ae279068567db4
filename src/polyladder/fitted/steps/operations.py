"""What a language must be able to compute for steps that it has no words of its own for."""

from __future__ import annotations

from typing import Protocol, TypeVar

T = TypeVar("T")


class Operations(Protocol[T]):
    """Arithmetic of expressions: texts of a language, or values of a graph."""

    def number(self, value: float) -> T:
        """A constant."""

    def minus(self, a: T, b: T) -> T:
        """A difference."""

    def times(self, a: T, b: T) -> T:
        """A product."""

    def sine(self, a: T) -> T:
        """The sine."""
