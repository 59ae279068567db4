"""Do the rows that a fit leaves out make probabilities of classes truer, and sets of classes hold what they say?

Fourteen tables, one to ten random splits of each. Of each split the defaults are fitted; log loss and calibration error
on test rows are taken with the temperature that was found and without it, and the coverage and the mean size of sets
with the calibrated thresholds and from the probabilities alone.

Run: POLYLADDER_DATA=... python -m benchmarks.class_sets        (what is stored already is not run again)
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from benchmarks.record import RESULTS, record
from polyladder import LPNNClassifier, expected_calibration_error

NAME = "class_sets"
LEVELS = (0.8, 0.9, 0.95, 0.99)
TEST_ROWS = 6_000

Array = np.ndarray[Any, Any]
Rows = tuple[pd.DataFrame, Array]


def data(*place: str) -> Path:
    return Path(os.environ["POLYLADDER_DATA"]).joinpath(*place)


def numbers(file: str, target: int = -1, most: int | None = None) -> Rows:
    """A table of numbers whose target is a column."""
    table = pd.read_csv(data(*file.split("/")), sep=None, engine="python", header=None, nrows=most).dropna(axis=1)
    y = table.iloc[:, target]
    return table.drop(columns=table.columns[target]), y.to_numpy()


def mixed(name: str, target: str, *dropped: str) -> Rows:
    """A table of numbers and texts."""
    table = pd.read_csv(data("tables", f"{name}.csv.gz"), index_col=0)
    table = table[table[target].notna()]
    X = table.drop(columns=[target, *dropped])
    texts = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(texts, object)).where(X.notna(), None), table[target].to_numpy()


def toy(load: Callable[..., Any]) -> Rows:
    X, y = load(return_X_y=True)
    return pd.DataFrame(X), y


def xor() -> Rows:
    """A product of two columns among four, 15 % of the labels wrong."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 4))
    y = X[:, 0] * X[:, 1] > 0
    return pd.DataFrame(X), np.where(rng.random(4000) < 0.15, ~y, y).astype(int)


def noise() -> Rows:
    rng = np.random.default_rng(6)
    return pd.DataFrame(rng.normal(size=(3000, 6))), rng.integers(0, 3, 3000)


SETS: dict[str, tuple[Callable[[], Rows], int, int]] = {
    "iris": (partial(toy, load_iris), 105, 10),
    "birthwt": (partial(mixed, "birthwt", "low", "bwt"), 130, 10),
    "cancer": (partial(toy, load_breast_cancer), 400, 8),
    "wine": (partial(numbers, "wine-quality-red/data.txt.gz"), 1400, 5),
    "xor": (xor, 300, 5),
    "noise": (noise, 300, 5),
    "Chile": (partial(mixed, "Chile", "vote"), 1700, 4),
    "Hdma": (partial(mixed, "Hdma", "deny"), 1600, 4),
    "digits": (partial(toy, load_digits), 1200, 3),
    "skin": (partial(numbers, "skin/Skin_NonSkin.txt.gz"), 3000, 3),
    "letter": (partial(numbers, "letter/letter-recognition.data.gz", 0), 2000, 3),
    "letter6000": (partial(numbers, "letter/letter-recognition.data.gz", 0), 6000, 2),
    "skin30000": (partial(numbers, "skin/Skin_NonSkin.txt.gz"), 30_000, 3),
    "covtype": (partial(numbers, "covtype/covtype.data.xz", most=60_000), 12_000, 2),
}
"""How each table is read, its training rows and its splits."""


def probabilities(scores: Array) -> Array:
    wide = np.c_[np.zeros(len(scores)), scores] if scores.ndim == 1 else scores
    grown = np.exp(wide - wide.max(1, keepdims=True))
    return grown / grown.sum(1, keepdims=True)


def measured(name: str, split: int) -> dict[str, Any]:
    """One split of one table."""
    read, count, _ = SETS[name]
    X, y = read()
    order = np.random.default_rng(100 + split).permutation(len(y))
    train, test = order[:count], order[count : count + TEST_ROWS]
    test = test[np.isin(y[test], np.unique(y[train]))]
    start = time.process_time()
    model = LPNNClassifier(random_state=0).fit(X.iloc[train], y[train])
    found: dict[str, Any] = {"set": name, "split": split, "n": len(train), "test": len(test)}
    found["seconds"], factor = time.process_time() - start, model.selection_.factor
    scores, own = model.decision_function(X.iloc[test]), np.searchsorted(model.classes_, y[test])
    rows = np.arange(len(test))
    for word, p in (("before", probabilities(scores / factor)), ("after", probabilities(scores))):
        found[f"ll_{word}"] = float(-np.log(np.maximum(p[rows, own], 1e-15)).mean())
        found[f"ece_{word}"] = expected_calibration_error(p.max(1), p.argmax(1) == own)
    said = model.predict_distribution(X.iloc[test])
    for level in LEVELS:
        for word, each in (("", said), ("p", replace(said, thresholds=None))):
            sets = each.sets(level)
            found[f"{word}cov{level}"] = float(sets[rows, own].mean())
            found[f"{word}size{level}"] = float(sets.sum(1).mean())
    return found | {"factor": factor, "sentence": model.selection_.sentence}


def main() -> None:
    """Measure what is not stored yet."""
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["set"], each["split"]) for each in stored}
    for name, (_, _, splits) in SETS.items():
        for split in range(splits):
            if (name, split) not in done:
                figures = measured(name, split)
                record(NAME, figures, ("polyladder", "torch", "numpy", "scikit-learn"))
                print(json.dumps(figures), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
