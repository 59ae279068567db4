"""All inputs of a model from the columns of a table: what several inputs share is worked out once, columns together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.fitted.column import Column
from polyladder.fitted.steps import IsCategory, Step
from polyladder.fitted.steps.step import Array

Places = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Feature:
    """One input of the ladders: a column, and the steps that its value takes."""

    column: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Group:
    """Steps of one kind that are taken together.

    Attributes:
        sources: which of the values before are read. Shape (k,).
        apply: all of the steps, on values with rows last. Shape (k, n).
    """

    sources: Places
    apply: Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Plan:
    """The order in which steps are taken.

    Attributes:
        numeric: positions in the table of the columns of numbers that are read.
        depths: for each number of steps taken before, the groups of the next steps; their values follow each other.
        ends: for each number of steps, which of the values are inputs, and which inputs. Shapes (k,).
        texts: positions of the columns of texts that are read, with their categories, and the inputs of those.
        count: how many inputs there are.
    """

    numeric: tuple[int, ...]
    depths: tuple[tuple[Group, ...], ...]
    ends: tuple[tuple[Places, Places], ...]
    texts: tuple[tuple[int, dict[str | None, int], Places], ...]
    count: int

    def __call__(self, numbers: Array, categories: dict[int, np.ndarray[Any, Any]]) -> Array:
        """The inputs of rows, in memory with rows last. Shape (n, inputs).

        Args:
            numbers: the columns of numbers that are read. Shape (n, numeric).
            categories: the columns of texts, by position. Each has shape (n,).
        """
        n = len(numbers)
        found = np.empty((self.count, n))
        values = np.ascontiguousarray(numbers.T)
        for depth, (reached, inputs) in enumerate(self.ends):
            found[inputs] = values[reached]
            if depth < len(self.depths):
                values = np.concatenate([group.apply(values[group.sources]) for group in self.depths[depth]])
        for position, known, inputs in self.texts:
            codes = np.array([known.get(text, -1) for text in categories[position]], dtype=np.intp)
            found[inputs] = codes == np.arange(len(known))[:, None]
        return found.T


def plan_of(columns: Sequence[Column], features: Sequence[Feature]) -> Plan:
    """The plan of all inputs."""
    numeric = tuple(sorted({f.column for f in features if columns[f.column].kind == "number"}))
    paths = {k: (f.column, *f.steps) for k, f in enumerate(features) if columns[f.column].kind == "number"}
    depths, ends = [], []
    here: dict[tuple[Any, ...], int] = {(i,): place for place, i in enumerate(numeric)}
    while here:
        depth = len(next(iter(here)))
        done = {k: here[path] for k, path in paths.items() if len(path) == depth}
        ends.append((places(done.values()), places(done.keys())))
        longer = dict.fromkeys(path[: depth + 1] for path in paths.values() if len(path) > depth)
        groups: dict[type[Step], list[tuple[Any, ...]]] = {}
        for path in longer:
            step: Step = path[-1]
            groups.setdefault(type(step), []).append(path)
        depths.append(
            tuple(
                Group(places(here[path[:-1]] for path in each), kind.together([path[-1] for path in each]))
                for kind, each in groups.items()
            )
        )
        here = {path: place for place, path in enumerate(path for each in groups.values() for path in each)}
    return Plan(numeric, tuple(depths[: len(ends) - 1]), tuple(ends), text_plans(columns, features), len(features))


def text_plans(
    columns: Sequence[Column], features: Sequence[Feature]
) -> tuple[tuple[int, dict[str | None, int], Places], ...]:
    """For each column of texts that is read, the number of each category and its input."""
    found = []
    for i, column in enumerate(columns):
        own = [(k, f.steps[0]) for k, f in enumerate(features) if f.column == i] if column.kind == "category" else []
        if own:
            known = {step.category: place for place, (_, step) in enumerate(own) if isinstance(step, IsCategory)}
            found.append((i, known, places(k for k, _ in own)))
    return tuple(found)


def places(found: Any) -> Places:
    """Positions as an array."""
    return np.array(list(found), dtype=np.intp)
