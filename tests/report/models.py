"""Small fitted estimators of every kind that a page can carry."""

import numpy as np
import pandas as pd
import torch

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.estimators.bayesian import BayesianLPNNClassifier, BayesianLPNNRegressor
from polyladder.fitted.features import Features

HOSTILE = ["<b>width</b>", '"><img src=x onerror=hacked()>', "</script><script>hacked()</script>", "{{script}} & 'q'"]


def numbers(n=140, seed=0):
    """Columns of several shapes: one with many equal values, one skewed, one with negative values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "flat (m)": rng.uniform(2, 9, n),
            "often zero": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, 3.0, n)).round(2),
            "signed": rng.normal(0, 2, n),
        }
    )
    y = 3 * np.sin(X["flat (m)"]) + np.sqrt(X["often zero"]) * X["signed"] + rng.normal(0, 0.3, n)
    return X, y.to_numpy()


def mixed(n=160, seed=1, names=("size", "weight", "color", "always")):
    """Numbers, numbers with gaps, categories with gaps and a constant."""
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=n), rng.gamma(2.0, 2.0, n)
    color = rng.choice(["red", "green", "blue"], n)
    y = np.sin(size) + np.log1p(weight) + (color == "red") * size + rng.normal(0, 0.1, n)
    weight[rng.random(n) < 0.15] = np.nan
    gaps = [None if r < 0.1 else c for c, r in zip(color, rng.random(n), strict=True)]
    columns = [size, weight, pd.Series(gaps, dtype=object), np.ones(n)]
    return pd.DataFrame(dict(zip(names, columns, strict=True))), y


def regressor(features="standard", **settings):
    chosen = {"order": 4, "width": 4, "n_estimators": 2, "max_iter": 6, "random_state": 0} | settings
    return LPNNRegressor(features=features, **chosen)


def classes(y, count):
    return np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, np.arange(1, count) / count))]


def make(name):
    """(estimator, rows, target) by name."""
    if name in ("standard", "quantile", "yeo-johnson", "piecewise"):
        X, y = numbers()
        return regressor(name).fit(X, y), X, y
    if name == "mixed":
        X, y = mixed()
        return regressor("yeo-johnson").fit(X, y), X, y
    if name == "spread":
        X, y = mixed()
        # Spreads over the red rows only have widths of their own; the others have too few.
        return regressor("piecewise").fit(X, y).calibrate(*mixed(220, seed=2), by="color"), X, y
    if name == "cyclic":
        X, y = mixed()
        return regressor(Features("piecewise", periods={"weight": 12})).fit(X, y), X, y
    if name == "unclipped":
        X, y = numbers()
        return regressor(clip=False, guard=False).fit(X, y), X, y
    if name == "two outputs":
        X, y = numbers()
        return regressor().fit(X, np.stack([y, -2 * y + X["signed"]], 1)), X, np.stack([y, -2 * y + X["signed"]], 1)
    X, y = numbers()
    if name in ("two classes", "three classes"):
        labels = classes(y, 2 if name == "two classes" else 3)
        model = LPNNClassifier(order=3, width=5, max_iter=8, random_state=0)
        return model.fit(X, labels), X, labels
    settings = {"order": 3, "width": 4, "chains": 2, "warmup": 6, "draws": 9, "random_state": 0}
    if name == "posterior":
        return BayesianLPNNRegressor(**settings).fit(X, y), X, y
    labels = classes(y, 2 if name == "posterior of two classes" else 3)
    return BayesianLPNNClassifier(**settings).fit(X, labels), X, labels


def carded(model, X, y, target):
    """The estimator with a card, as if half of the rows had been held out."""
    held_out = {"observed": y[::2].tolist(), "predicted": model.predict(X.iloc[::2]).tolist()}
    if hasattr(model, "classes_"):
        held_out["probability"] = model.predict_proba(X.iloc[::2]).tolist()
    scores = [{"model": "LPNNRegressor", "rmse": 0.5, "seconds": 0.1}, {"model": "mean", "rmse": 2.0, "seconds": 0.0}]
    selection = {"order_path": [[2, 0.5], [3, 0.3], [4, 0.31]], "order_note": "By cross-validation.", "sentence": ""}
    model.card_ = make_card(model, X, target=target, scores=scores, held_out=held_out, selection=selection, seed=0)
    return model


def as_rows(X, columns, rows):
    """Rows of the page (categories by position, None missing) as a frame like X."""
    frame = pd.DataFrame([[cell(c, v) for c, v in zip(columns, row, strict=True)] for row in rows], columns=X.columns)
    return frame.astype({name: kind for name, kind in X.dtypes.items() if kind.kind == "f"})


def cell(column, value):
    if column["kind"] == "constant":
        return 1.0
    if column["kind"] == "category":
        return label(column, value)
    return np.nan if value is None else value


def label(column, position):
    name = column["categories"][position]
    return None if name == "missing" else name


def some_rows(columns, count, seed=0):
    """Values for the page: inside and outside the ranges, at their ends, at repeated values, missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        row = []
        for c in columns:
            if c["kind"] == "category":
                row.append(int(rng.integers(len(c["categories"]))))
            elif c["kind"] == "constant":
                row.append(None)
            else:
                low, high = c["low"], c["high"]
                choices = [low, high, c["start"], rng.uniform(low, high), rng.uniform(low - 1, high + 1), max(low, 0.0)]
                row.append(None if c["flag"] is not None and rng.random() < 0.3 else float(rng.choice(choices)))
        rows.append(row)
    return rows


torch.set_num_threads(1)
