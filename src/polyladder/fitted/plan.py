"""All inputs of a model from the columns of a table: what several inputs share is worked out once, columns together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
                # Taking the sources out makes copies, which the steps may overwrite.
                taken = [group.apply(values[group.sources]) for group in self.depths[depth]]
                values = taken[0] if len(taken) == 1 else np.concatenate(taken)
        for position, known, inputs in self.texts:
            codes = np.array([known.get(text, -1) for text in categories[position]], dtype=np.intp)
            found[inputs] = codes == np.arange(len(known))[:, None]
        return found.T


def named(steps: Sequence[Step], name: str) -> str:
    """What the steps make of a column with this name."""
    for step in steps:
        name = step.named(name)
    return name


def plan_of(columns: Sequence[Column], features: Sequence[Feature]) -> Plan:
    """The plan of all inputs."""
    own = {k: feature for k, feature in enumerate(features) if columns[feature.column].kind == "number"}
    numeric = tuple(sorted({feature.column for feature in own.values()}))
    depths: list[tuple[Group, ...]] = []
    ends: list[tuple[Places, Places]] = []
    # Where the value of a column, after some steps, stands among the values of that depth.
    here = {Feature(i, ()): place for place, i in enumerate(numeric)}
    while here:
        depth = len(ends)
        done = {k: here[feature] for k, feature in own.items() if len(feature.steps) == depth}
        ends.append((places(done.values()), places(done.keys())))
        groups: dict[type[Step], list[Feature]] = {}
        for longer in dict.fromkeys(Feature(f.column, f.steps[: depth + 1]) for f in own.values()):
            if len(longer.steps) > depth:
                groups.setdefault(type(longer.steps[-1]), []).append(longer)
        if groups:
            depths.append(tuple(group_of(kind, here, each) for kind, each in groups.items()))
        here = {feature: place for place, feature in enumerate(f for each in groups.values() for f in each)}
    return Plan(numeric, tuple(depths), tuple(ends), text_plans(columns, features), len(features))


def group_of(kind: type[Step], here: Mapping[Feature, int], longer: Sequence[Feature]) -> Group:
    """The last steps, all of one kind, of values whose places before them are known."""
    sources = places(here[Feature(each.column, each.steps[:-1])] for each in longer)
    return Group(sources, kind.together([each.steps[-1] for each in longer]))


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


def places(found: Iterable[int]) -> Places:
    """Positions as an array."""
    return np.array(list(found), dtype=np.intp)
