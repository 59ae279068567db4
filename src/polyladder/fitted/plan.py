"""All inputs of a model from the columns of a table: what several inputs share is worked out once, columns together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.fitted.steps import IsCategory, IsMissing, Ramp, Step
from polyladder.fitted.steps.step import Array
from polyladder.tables.table import Table

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
        complete: those of them that were never missing in training.
        depths: for each number of steps taken before, the groups of the next steps; their values follow each other.
        ends: for each number of steps, which of the values are inputs, and which inputs. Shapes (k,).
        texts: positions of the columns of texts that are read, with their categories, and the inputs of those.
        count: how many inputs there are.
    """

    numeric: tuple[int, ...]
    complete: tuple[int, ...]
    depths: tuple[tuple[Group, ...], ...]
    ends: tuple[tuple[Places, Places], ...]
    texts: tuple[tuple[int, dict[str | None, int], Places], ...]
    count: int

    def __call__(self, table: Table) -> Array:
        """The inputs of rows, in memory with rows last. Shape (n, inputs)."""
        place = {position: k for k, position in enumerate(table.positions)}
        found = np.empty((self.count, len(table)))
        values = np.ascontiguousarray(table.numbers[:, [place[i] for i in self.numeric]].T)
        for depth, (reached, inputs) in enumerate(self.ends):
            found[inputs] = values[reached]
            if depth < len(self.depths):
                # Taking the sources out makes copies, which the steps may overwrite.
                taken = [group.apply(values[group.sources]) for group in self.depths[depth]]
                values = taken[0] if len(taken) == 1 else np.concatenate(taken)
        for position, known, inputs in self.texts:
            codes = np.array([known.get(text, -1) for text in table.categories[position]], dtype=np.intp)
            found[inputs] = codes == np.arange(len(known))[:, None]
        return found.T

    def warn_of(self, table: Table) -> None:
        """Say which numbers are missing that never were in training, and which categories training did not see."""
        gone = dict(zip(table.positions, np.isnan(table.numbers).any(0), strict=True))
        lacking = [repr(table.names[i]) for i in self.complete if gone[i]]
        if lacking:
            say(
                f"Numbers are missing in {', '.join(lacking[:5])}{' ...' if len(lacking) > 5 else ''}, where training "
                "had all: each counts as the column's median."
            )
        for position, known, _ in self.texts:
            unseen = sorted("missing" if v is None else v for v in set(table.categories[position]) - set(known))
            if unseen:
                say(
                    f"Column {table.names[position]!r} holds categories that training did not see and that count as "
                    f"none: {', '.join(unseen[:5])}{' ...' if len(unseen) > 5 else ''}."
                )


def say(sentence: str) -> None:
    """Warn of rows that are about to be predicted."""
    warnings.warn(sentence, UserWarning, stacklevel=4)


def named(steps: Sequence[Step], name: str) -> str:
    """What the steps make of a column with this name."""
    for step in steps:
        name = step.named(name)
    return name


def feature_names(columns: Sequence[str], features: Sequence[Feature]) -> list[str]:
    """What each input is, by the names of the columns; the ramps of a column are counted from 1."""
    found, seen = [], dict.fromkeys(range(len(columns)), 0)
    for feature in features:
        name = named(feature.steps, columns[feature.column])
        if any(isinstance(step, Ramp) for step in feature.steps):
            seen[feature.column] += 1
            name = f"{name}, ramp {seen[feature.column]}"
        found.append(name)
    return found


def plan_of(features: Sequence[Feature]) -> Plan:
    """The plan of all inputs."""
    own = {k: feature for k, feature in enumerate(features) if not is_text(feature)}
    numeric = tuple(sorted({feature.column for feature in own.values()}))
    flagged = {feature.column for feature in own.values() if IsMissing() in feature.steps}
    depths: list[tuple[Group, ...]] = []
    ends: list[tuple[Places, Places]] = []
    # Where the value of each input, after some steps, stands among the values of that depth.
    first = {column: place for place, column in enumerate(numeric)}
    here = {k: first[feature.column] for k, feature in own.items()}
    while here:
        depth = len(ends)
        done = {k: place for k, place in here.items() if len(own[k].steps) == depth}
        ends.append((places(done.values()), places(done)))
        longer = {k: (place, own[k].steps[depth]) for k, place in here.items() if k not in done}
        groups: dict[type[Step], list[tuple[int, Step]]] = {}
        for taken in dict.fromkeys(longer.values()):
            groups.setdefault(type(taken[1]), []).append(taken)
        if groups:
            depths.append(tuple(group_of(kind, each) for kind, each in groups.items()))
        there = {taken: place for place, taken in enumerate(t for each in groups.values() for t in each)}
        here = {k: there[taken] for k, taken in longer.items()}
    complete = tuple(i for i in numeric if i not in flagged)
    return Plan(numeric, complete, tuple(depths), tuple(ends), text_plans(features), len(features))


def group_of(kind: type[Step], taken: Sequence[tuple[int, Step]]) -> Group:
    """Steps of one kind, each with the place of the value that it is taken from."""
    return Group(places(place for place, _ in taken), kind.together([step for _, step in taken]))


def is_text(feature: Feature) -> bool:
    """Whether an input is one category of a column of texts."""
    return bool(feature.steps) and isinstance(feature.steps[-1], IsCategory)


def text_plans(features: Sequence[Feature]) -> tuple[tuple[int, dict[str | None, int], Places], ...]:
    """For each column of texts that is read, the number of each category and its input."""
    found: dict[int, dict[str | None, int]] = {}
    for k, feature in enumerate(features):
        if feature.steps and isinstance(step := feature.steps[-1], IsCategory):
            found.setdefault(feature.column, {})[step.category] = k
    return tuple(
        (position, {category: place for place, category in enumerate(inputs)}, places(inputs.values()))
        for position, inputs in found.items()
    )


def places(found: Iterable[int]) -> Places:
    """Positions as an array."""
    return np.array(list(found), dtype=np.intp)
