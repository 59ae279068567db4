"""Small fitted estimators of a table with numbers, whole numbers, categories and missing cells."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from polyladder import LPNNClassifier, LPNNRegressor

ROWS = 160


def mixed_table(rows: int = ROWS, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": rng.integers(0, 6, rows),
            "still": np.ones(rows),
            "c": rng.uniform(-1, 1, rows),
            "k": rng.choice(["x", "y", "z"], rows),
        }
    )
    a, b, c = (frame[name].to_numpy() for name in "abc")
    return frame, a * c + b**2 / 10 + (frame["k"] == "x").to_numpy()


@lru_cache
def regressor(features: str = "standard", **options: Any) -> LPNNRegressor:
    X, y = mixed_table()
    model = LPNNRegressor(order=3, width=4, n_estimators=2, max_iter=4, random_state=0, features=features, **options)
    return model.fit(X, y)


@lru_cache
def classifier(classes: int = 2) -> LPNNClassifier:
    X, y = mixed_table()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]
    labels = labels if classes == 3 else np.where(y > np.median(y), "high", "low")
    return LPNNClassifier(order=3, width=4, max_iter=8, random_state=0).fit(X, labels)


def steep_table(rows: int = 240) -> tuple[pl.DataFrame, np.ndarray]:
    """Wide ranges, whole numbers, missing cells, a column of one category, and a few rows far above the others."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "radius": np.exp(rng.uniform(np.log(100), np.log(50_000), rows)),
            "rooms": rng.integers(1, 13, rows),
            "age": [None if rng.uniform() < 0.15 else float(a) for a in rng.uniform(0, 90, rows)],
            "kind": rng.choice(["a", "b", "c", "d"], rows),
            "land": ["here"] * rows,
        }
    )
    rooms, age = frame["rooms"].to_numpy(), frame["age"].fill_null(30.0).to_numpy()
    spike = 400.0 * ((rooms >= 11) & (frame["kind"] == "c").to_numpy()) + 60.0 * frame["age"].is_null().to_numpy()
    return frame, spike + 5 * np.log(frame["radius"].to_numpy()) + rooms - 0.2 * age


@lru_cache
def steep(**options: Any) -> LPNNRegressor:
    """A model with ramps of `steep_table`."""
    X, y = steep_table()
    given = {"order": 3, "width": 4, "n_estimators": 2, "max_iter": 4, "features": "piecewise", "missing": "impute"}
    return LPNNRegressor(**{**given, **options}, random_state=0).fit(X, y)


def moved(X: pl.DataFrame, steps: dict[str, float], count: int, seed: int = 0) -> pl.DataFrame:
    """Random rows around each row, ``count`` of them one after the other."""
    rng = np.random.default_rng(seed)
    many = X[np.repeat(np.arange(len(X)), count)]
    changed = {
        name: many[name].to_numpy() + step * np.clip(rng.uniform(-1.3, 1.3, len(many)), -1, 1)
        for name, step in steps.items()
    }
    return many.with_columns(**changed)
