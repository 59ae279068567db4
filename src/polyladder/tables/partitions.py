"""Rows in parts, here or on other machines. They offer one operation, a fold: compute for each part, then join.

That is enough to fit rows that no machine holds at once: every number that is learned is a sum over rows, and so a sum
over parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows with their targets.

    Attributes:
        first: number of its first row among all, the same in every pass.
        X: rows: an array, a frame, or tensors once they are coded. Shape (n, d).
        y: targets. Shape (n,) or (n, m).
        weight: of the rows, or None. Shape (n,).
    """

    first: int
    X: Any
    y: Any
    weight: Any = None


class Partitions(Protocol):
    """Rows in parts that can be passed over again and again, always the same."""

    def fold(self, of_part: Callable[[Part], T], join: Callable[[T, T], T]) -> T:
        """Compute ``of_part`` for every part, where it is stored, and join the results in the order of the parts.

        Args:
            of_part: a function without side effects that can be pickled, together with its data.
            join: joins two results into one; associative.
        """


@dataclass(frozen=True, eq=False)
class LocalPartitions:
    """Batches in this process, one after another: while one is in use, the next is read and coded.

    Attributes:
        batches: gives the same tuples (X, y) or (X, y, weight) each time it is iterated over.
    """

    batches: Iterable[Any]

    def __post_init__(self) -> None:
        if isinstance(self.batches, Iterator):
            raise TypeError(
                f"batches must give its rows again in every pass; got {type(self.batches).__name__}, which is empty "
                "after one. Give an object whose __iter__ starts over, such as a list."
            )

    def parts(self) -> Iterator[Part]:
        """One pass over the parts; empty ones are left out."""
        first = 0
        for batch in self.batches:
            if not isinstance(batch, tuple) or len(batch) not in (2, 3):
                raise TypeError(f"A batch must be a tuple (X, y) or (X, y, weight); got {type(batch).__name__}.")
            if len(batch[0]):
                yield Part(first, *batch)
            first += len(batch[0])

    def fold(self, of_part: Callable[[Part], T], join: Callable[[T, T], T]) -> T:
        """See `Partitions`."""
        found: list[T] = []
        parts: Iterable[Part] = self.parts()
        while isinstance(of_part, Composed):
            # Rows are coded by the thread that reads them.
            parts, of_part = map(of_part.first, parts), of_part.last
        for part in ahead(parts):
            result = of_part(part)
            found = [join(found[0], result) if found else result]
        if not found:
            raise ValueError("batches must hold rows; there are none.")
        return found[0]


@dataclass(frozen=True, eq=False)
class Coded:
    """Parts that are changed where they are stored before anything is computed: features are made, or rows left out.

    Attributes:
        source: the parts as they are.
        code: turns a part into another; a function that can be pickled.
    """

    source: Partitions
    code: Callable[[Part], Part]

    def fold(self, of_part: Callable[[Part], T], join: Callable[[T, T], T]) -> T:
        """See `Partitions`."""
        return self.source.fold(Composed(of_part, self.code), join)


@dataclass(frozen=True, eq=False)
class Composed:
    """First one function of a part, then another; a lambda could not be pickled."""

    last: Callable[[Part], Any]
    first: Callable[[Part], Part]

    def __call__(self, part: Part) -> Any:
        """The result of both."""
        return self.last(self.first(part))


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items, each fetched by another thread while the one before it is used."""
    source = iter(items)
    nothing = object()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, source, nothing)
        while (item := waiting.result()) is not nothing:
            waiting = pool.submit(next, source, nothing)
            yield item  # type: ignore[misc]


def row_keys(part: Part, seed: int) -> NDArray[np.float64]:
    """A pseudorandom number in [0, 1) for each row. It depends on the row's number alone, not on how rows are divided.

    It is the finalizer of SplitMix64, in whole numbers that wrap around.
    """
    z = np.arange(part.first, part.first + len(part.X), dtype=np.uint64) + np.uint64(1)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) / 2.0**53
