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


def moved(X: pl.DataFrame, steps: dict[str, float], count: int, seed: int = 0) -> pl.DataFrame:
    """Random rows around each row, ``count`` of them one after the other."""
    rng = np.random.default_rng(seed)
    many = X[np.repeat(np.arange(len(X)), count)]
    changed = {
        name: many[name].to_numpy() + step * np.clip(rng.uniform(-1.3, 1.3, len(many)), -1, 1)
        for name, step in steps.items()
    }
    return many.with_columns(**changed)
