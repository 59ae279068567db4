"""Rows that come in batches, as often as they are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Batches:
    X: Any
    y: Any
    size: int

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for i in range(0, len(self.X), self.size):
            yield self.X[i : i + self.size], self.y[i : i + self.size]
