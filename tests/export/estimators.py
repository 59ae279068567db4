"""The estimators that every export is tested on, fitted once, and rows to compare at."""

from functools import cache, partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import (
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelRegressor,
)
from polyladder.export.interval import with_interval
from polyladder.fitted.answers import Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.features import Features
from polyladder.fitted.model import FittedModel, fitted_model
from polyladder.fitted.plan import Feature
from polyladder.fitted.spread import Spread
from polyladder.fitted.steps import Affine, Clip, Fill, IsMissing, Ramp
from polyladder.predictive.conformal import Calibrated
from tests.ladders import random_ladder

ROWS = 10_000
FEWER = 2000
"""Rows of a posterior of three classes, each of whose answers is an integral for every draw, and of intervals."""
PERIODS = {"flat (m)": 7.0, "often zero": 12}
NAMES = (
    "numbers",
    "quantile",
    "yeo-johnson",
    "ramps",
    "cyclic",
    "gaps and categories",
    "two outputs",
    "two classes",
    "three classes",
    "one versus rest",
    "posterior",
    "posterior of two classes",
    "posterior of three classes",
    "machine",
    "kernel",
)
QUICK = ("numbers", "cyclic", "gaps and categories", "three classes", "piecewise", "intervals")
"""Those that between them have every kind of step and answer but posteriors; the others are marked slow."""


def each(*names):
    """The names as parameters of a test."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


def table(n, seed):
    """Numbers of several shapes, gaps, categories and a constant; further rows go beyond the training range."""
    rng = np.random.default_rng(seed)
    wide = 1.0 if seed == 0 else 1.3
    frame = pd.DataFrame(
        {
            "flat (m)": rng.uniform(2, 9 * wide, n),
            "often zero": np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2.0, 3.0 * wide, n)).round(2),
            'signed "s"': rng.normal(0, 2 * wide, n),
        }
    )
    y = 3 * np.sin(frame["flat (m)"]) + np.sqrt(frame["often zero"]) * frame['signed "s"'] + rng.normal(0, 0.3, n)
    return frame, y.to_numpy()


def with_gaps(n, seed):
    frame, y = table(n, seed)
    rng = np.random.default_rng(seed + 100)
    color = rng.choice(["red", "it's", "blue"], n)
    frame["color"] = [None if r < 0.1 else c for c, r in zip(color, rng.random(n), strict=True)]
    frame["always"] = 1.0
    frame.loc[rng.random(n) < 0.15, "often zero"] = np.nan
    return frame, y + (color == "red")


def classes(y, count):
    return np.array(["low", "middle's", "high"])[np.digitize(y, np.quantile(y, np.arange(1, count) / count))]


@cache
def fitted(name):
    """A fitted estimator by name, and `ROWS` rows, or `FEWER`."""
    torch.set_num_threads(1)
    X, y = table(160, 0)
    ladder = {"order": 4, "width": 4, "n_estimators": 2, "max_iter": 5, "random_state": 0}
    bayes = {"order": 3, "width": 4, "chains": 2, "warmup": 6, "draws": 9, "random_state": 0}
    small = {"max_iter": 5, "random_state": 0}
    two, three = classes(y, 2), classes(y, 3)
    both = np.stack([y, X["flat (m)"] - 2 * y], 1)
    model = {
        "numbers": lambda: LPNNRegressor(**ladder).fit(X, y),
        "quantile": lambda: LPNNRegressor(features="quantile", **ladder).fit(X, y),
        "yeo-johnson": lambda: LPNNRegressor(features="yeo-johnson", **ladder).fit(X, y),
        "ramps": lambda: LPNNRegressor(features="piecewise", **ladder).fit(X, y),
        "cyclic": lambda: LPNNRegressor(features=Features(periods=PERIODS), **ladder).fit(*with_gaps(160, 0)),
        "selected": lambda: LPNNRegressor(effort="low", random_state=0).fit(*with_gaps(160, 0)),
        "gaps and categories": lambda: LPNNRegressor(**ladder).fit(*with_gaps(160, 0)),
        "two outputs": lambda: LPNNRegressor(**ladder).fit(X, both),
        "two classes": lambda: LPNNClassifier(order=3, width=5, max_iter=8, random_state=0).fit(X, two),
        "three classes": lambda: LPNNClassifier(order=3, width=5, max_iter=8, random_state=0).fit(X, three),
        "one versus rest": lambda: FactorizationMachineClassifier(multiclass="ovr", **small).fit(X, three),
        "posterior": lambda: BayesianLPNNRegressor(**bayes).fit(X, y),
        "posterior of two classes": lambda: BayesianLPNNClassifier(**bayes).fit(X, two),
        "posterior of three classes": lambda: BayesianLPNNClassifier(**bayes).fit(X, three),
        "machine": lambda: FactorizationMachineRegressor(**small).fit(X, y),
        "kernel": lambda: PolynomialKernelRegressor(**small).fit(X, y),
    }[name]()
    count = FEWER if name == "posterior of three classes" else ROWS
    return model, (with_gaps if name in ("gaps and categories", "selected", "cyclic") else table)(count, 1)[0]


@cache
def answers(name):
    """What the estimator itself says, in the layout of the exports. Shape (rows, answers)."""
    model, rows = fitted(name)
    if hasattr(model, "classes_"):
        return model.predict_proba(rows)
    if name == "posterior":
        return np.stack(model.predict(rows, return_std=True), 1)
    return model.predict(rows).reshape(len(rows), -1)


def piecewise():
    """A model whose numeric column becomes three ramps and an indicator, made by hand; with rows and their answers."""
    edges = (0.0, 0.5, 1.5, 4.0)
    ramps = tuple(Feature(0, (Fill(1.0), Ramp(low, high), Affine(0.5, 0.25))) for low, high in pairwise(edges))
    other = (Feature(0, (IsMissing(),)), Feature(1, (Clip(-1.0, 1.0),)))
    columns = (Column("a", "number"), Column("b", "number", (), -1.0, 1.0))
    ladder = random_ladder(d=5, hidden=(4, 3), m=1, batch_shape=(2,))
    model = FittedModel(columns, (*ramps, *other), ladder, Numbers(((-1.0,), (2.0,))))
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.uniform(-1, 5, ROWS), "b": rng.normal(size=ROWS)})
    rows.loc[rng.random(ROWS) < 0.2, "a"] = np.nan
    filled = rows["a"].fillna(1.0).to_numpy()
    z = [(np.interp(filled, [low, high], [0, 1]) - 0.5) / 0.25 for low, high in pairwise(edges)]
    z += [rows["a"].isna().to_numpy(), rows["b"].clip(-1, 1).to_numpy()]
    f = ladder(torch.tensor(np.stack(z, 1))).mean(0).clamp(-1.0, 2.0)
    return model, rows, f.numpy()


def spread_model():
    """A model of two numbers whose errors have scales, made by hand; and rows, many beyond the training ranges."""
    ranges = ((0.0, 4.0), (-1.0, 1.0))
    inside = [(Fill(low + 1.0), Clip(low, high), Affine(low + 1.0, 1.5)) for low, high in ranges]
    own = (Feature(0, inside[0]), Feature(0, (IsMissing(),)), Feature(1, inside[1]))
    columns = (
        Column("a", "number", (), *ranges[0], ranges[0], 1.0, 1.0, inputs=(0, 1), main=0, flag=1),
        Column("b", "number", (), *ranges[1], ranges[1], 0.0, 0.0, inputs=(2,), main=2),
    )
    beyond = tuple(
        Feature(at, (Fill(low + 1.0), Clip(end + least, end + most), Affine(end, high - low)))
        for at, (low, high) in enumerate(ranges)
        for end, least, most in ((high, 0.0, 3 * (high - low)), (low, -3 * (high - low), 0.0))
    )
    double = partial(torch.tensor, dtype=torch.float64)
    spread = Spread(
        log_scale=random_ladder(3, (4,), 2, seed=1),
        low=double([-0.5, -2.0]),
        high=double([0.4, -0.1]),
        beyond=beyond,
        growth=double([[2.5, 0.3], [-0.7, -2.0], [0.1, 0.4], [-0.9, -0.2]]),
        degrees=double([5.0, np.inf]),
        widths=Calibrated(double([0.5, 0.95]), double([[0.6, 0.7], [2.2, 1.9]])),
        rows=100,
    )
    ladders = random_ladder(3, (4, 3), 2, (2,))
    answer = Numbers(((-1.0, -2.0), (2.0, 1.5)), spread=spread)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.uniform(-9, 13, FEWER), "b": rng.normal(0, 2, FEWER)})
    rows.loc[rng.random(FEWER) < 0.2, "a"] = np.nan
    return FittedModel(columns, own, ladders, answer), rows


def with_intervals(model, rows):
    """The model as exports with 90 % intervals write it, the rows, and what its distribution says of them."""
    model, rows = fitted_model(model), rows[:FEWER]
    said = model.predict_distribution(rows)
    expected = np.concatenate([each.reshape(len(rows), -1) for each in (said.mean, *said.interval(0.9), said.scale)], 1)
    return with_interval(model, 90), rows, expected


def case(name):
    """(model, rows, answers) by name, those made by hand among them."""
    if name == "piecewise":
        return piecewise()
    if name.endswith("intervals"):
        return with_intervals(*(spread_model() if name == "intervals" else fitted(name.removesuffix(" intervals"))))
    return (*fitted(name), answers(name))


def error(found, expected):
    """The largest difference, relative to the size of the answers."""
    return float(np.abs(np.asarray(found, dtype=np.float64) - expected).max() / np.abs(expected).max())
