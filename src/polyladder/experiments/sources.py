"""Rows of a task: its data, its split, and what of the training rows is held out to compare settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, train_test_split

from polyladder.data.dataset import Dataset, load_dataset
from polyladder.experiments.drawn import DRAWN, draw
from polyladder.experiments.plan import Task

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Fit:
    """The rows of one fit.

    Attributes:
        features: of the whole data set. Shape (n, d).
        target: numbers, or class codes. Shape (n,).
        classes: how many classes there are; 0 for regression.
        train: row numbers to train on.
        test: row numbers to measure on: held-out training rows, or the test rows of the split.
        name: of the data set, the split and the fold; fits of the same name have the same rows.
    """

    features: Array
    target: Array
    classes: int
    train: Array
    test: Array
    name: tuple[Any, ...]


@lru_cache(maxsize=2)
def dataset(name: str) -> Dataset:
    """A data set of the catalog, kept between the groups of a column."""
    return load_dataset(name)


def fits_of(task: Task) -> list[Fit]:
    """The fits of a task: one for each fold while settings are compared, otherwise one."""
    features, target, classes, train, test = rows_of(task)
    if task.selection is None:
        parts = [(train, test)]
    elif "folds" in task.selection:
        folds = KFold(task.selection["folds"], shuffle=True, random_state=task.declared_seed + task.split)
        parts = [(train[inside], train[held]) for inside, held in folds.split(train)]
    else:
        share, seed = task.selection["holdout"], task.declared_seed + task.split
        classes_of = target[train] if classes else None
        parts = [tuple(train_test_split(train, test_size=share, random_state=seed, stratify=classes_of))]
    return [
        Fit(features, target, classes, inside, held, (task.data, task.split, task.selection is None, fold))
        for fold, (inside, held) in enumerate(parts)
    ]


def rows_of(task: Task) -> tuple[Array, Array, int, Array, Array]:
    """Features, target, number of classes, training rows and test rows of a task's split."""
    if task.splits["kind"] == "drawn":
        if task.data not in DRAWN:
            raise ValueError(f"data must be one of {', '.join(DRAWN)} where it is drawn; got {task.data!r}.")
        x, y = draw(task.data, task.declared_seed + task.split)
        return x, y, 0, np.arange(len(x) // 2), np.arange(len(x) // 2, len(x))
    data = dataset(task.data)
    classes = len(data.class_names)
    if task.splits["kind"] == "random" and task.data not in task.splits.get("own_test", ()):
        train, test = train_test_split(
            np.arange(len(data.target)), test_size=task.splits["test"], random_state=task.declared_seed + task.split
        )
    elif task.split < len(data.splits):
        train, test = data.splits[task.split]
    else:
        raise ValueError(f"splits of {task.data} must be at most the {len(data.splits)} published; got more.")
    return data.features, data.target, classes, train, test
