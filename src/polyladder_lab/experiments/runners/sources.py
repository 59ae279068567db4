"""Rows of a measurement: its data, its split, and the training rows that are held out to compare settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, train_test_split

from polyladder_lab.datasets.dataset import Dataset, load_dataset
from polyladder_lab.datasets.folders import VARIABLE, data_folders
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Array
from polyladder_lab.experiments.runners.smooth import draw_smooth
from polyladder_lab.experiments.runners.synthetic import DRAWN, draw


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


@lru_cache(maxsize=2)
def masked(name: str) -> tuple[Array, Array]:
    """A table of numbers, the target last, and its test masks, one column per split; from a folder of the data."""
    for folder in data_folders():
        place = folder / name
        if place.is_dir():
            table, masks = (np.loadtxt(place / f"{f}.csv.gz", delimiter=",", ndmin=2) for f in ("data", "test_mask"))
            return table, masks
    raise FileNotFoundError(f"{name} must be a folder of {VARIABLE}, with data.csv.gz and test_mask.csv.gz; got none.")


def fits_of(measurement: Measurement) -> list[Fit]:
    """The fits of a measurement: one for each fold while settings are compared, otherwise one."""
    features, target, classes, train, test = rows_of(measurement)
    if measurement.selection is None:
        parts = [(train, test)]
    elif "folds" in measurement.selection:
        folds = KFold(
            measurement.selection["folds"], shuffle=True, random_state=measurement.declared_seed + measurement.split
        )
        parts = [(train[inside], train[held]) for inside, held in folds.split(train)]
    else:
        share, seed = measurement.selection["holdout"], measurement.declared_seed + measurement.split
        classes_of = target[train] if classes else None
        parts = [tuple(train_test_split(train, test_size=share, random_state=seed, stratify=classes_of))]
    return [
        Fit(
            features,
            target,
            classes,
            inside,
            held,
            (measurement.data, measurement.split, measurement.selection is None, fold),
        )
        for fold, (inside, held) in enumerate(parts)
    ]


def rows_of(measurement: Measurement) -> tuple[Array, Array, int, Array, Array]:
    """Features, target, number of classes, training rows and test rows of a measurement's split."""
    if measurement.splits["kind"] == "drawn":
        if measurement.data not in DRAWN:
            raise ValueError(f"data must be one of {', '.join(DRAWN)} where it is drawn; got {measurement.data!r}.")
        x, y = draw(measurement.data, measurement.declared_seed + measurement.split)
        return x, y, 0, np.arange(len(x) // 2), np.arange(len(x) // 2, len(x))
    if measurement.splits["kind"] == "smooth":
        x, y, rows = draw_smooth(measurement.data, measurement.declared_seed + measurement.split)
        return x, y, 0, np.arange(rows), np.arange(rows, len(x))
    if measurement.splits["kind"] == "masks":
        table, masks = masked(measurement.data)
        if measurement.split >= masks.shape[1]:
            raise ValueError(f"splits of {measurement.data} must be at most its {masks.shape[1]} masks; got more.")
        tested = masks[:, measurement.split] > 0
        return table[:, :-1], table[:, -1], 0, np.flatnonzero(~tested), np.flatnonzero(tested)
    data = dataset(measurement.data)
    classes = len(data.class_names)
    if measurement.splits["kind"] == "random" and measurement.data not in measurement.splits.get("own_test", ()):
        train, test = train_test_split(
            np.arange(len(data.target)),
            test_size=measurement.splits["test"],
            random_state=measurement.declared_seed + measurement.split,
        )
    elif measurement.split < len(data.splits):
        train, test = data.splits[measurement.split]
    else:
        raise ValueError(f"splits of {measurement.data} must be at most the {len(data.splits)} published; got more.")
    return data.features, data.target, classes, train, test
