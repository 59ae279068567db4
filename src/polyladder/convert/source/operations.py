"""Arithmetic as text, alike in most languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TextOperations:
    """Expressions of a language.

    Attributes:
        number: a constant, as the language writes it.
        sine_name: what its sine is called.
    """

    number: Callable[[float], str]
    sine_name: str

    def minus(self, a: str, b: str) -> str:
        """A difference."""
        return f"({a} - {b})"

    def times(self, a: str, b: str) -> str:
        """A product."""
        return f"({a} * {b})"

    def sine(self, a: str) -> str:
        """The sine."""
        return f"{self.sine_name}({a})"
