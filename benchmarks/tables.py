"""How do the defaults of the command do on real mixed tables, beside boosted trees, a linear model and a constant?

Eight tables with categories, missing values, heavy tails and columns that give the answer away. A fifth of the rows is
left out, five times. `polyladder fit` and `polyladder predict` see the files as they are; the others see categories as
codes (trees) or one column per level (linear), medians for missing numbers, and no names, ids or leaks. The error is
the RMSE over the target's deviation, or the log loss.

Run: POLYLADDER_DATA=... python benchmarks/tables.py        (what is stored already is not run again)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.record import RESULTS, record

SPLITS = 5


@dataclass(frozen=True)
class Declared:
    """A table: its target, whether that is a class, what nobody may see, and names that only the command copes with."""

    target: str
    classes: bool = False
    leaks: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


TABLES = {
    "Caschool": Declared("testscr", leaks=("readscr", "mathscr"), names=("district",)),
    "Computers": Declared("price"),
    "SLID": Declared("wages"),
    "Forbes2000": Declared("marketvalue", names=("name",)),
    "diamonds": Declared("price"),
    "Chile": Declared("vote", classes=True),
    "Hdma": Declared("deny", classes=True),
    "birthwt": Declared("low", classes=True, leaks=("bwt",)),
}


def rivals(classes: bool) -> dict[str, Any]:
    """Boosted trees, a linear model and a constant, by name."""
    words, numbers = make_column_selector(dtype_include=object), make_column_selector(dtype_exclude=object)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    levels = OneHotEncoder(handle_unknown="ignore", min_frequency=2)
    coded = make_column_transformer((codes, words), remainder="passthrough")
    scaled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    wide = make_column_transformer((levels, words), (scaled, numbers))
    if classes:
        return {
            "boosting": make_pipeline(coded, HistGradientBoostingClassifier(random_state=0)),
            "linear": make_pipeline(wide, LogisticRegressionCV(max_iter=2000, scoring="neg_log_loss")),
            "constant": DummyClassifier(strategy="prior"),
        }
    return {
        "boosting": make_pipeline(coded, HistGradientBoostingRegressor(random_state=0)),
        "linear": make_pipeline(wide, RidgeCV(np.logspace(-3, 4, 15))),
        "constant": DummyRegressor(),
    }


def by_command(train: pd.DataFrame, test: pd.DataFrame, declared: Declared) -> pd.DataFrame:
    """What the command predicts of the test rows, with its defaults."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_csv(folder / "train.csv", index=False)
        test.drop(columns=declared.target).to_csv(folder / "test.csv", index=False)
        drops = [word for leak in declared.leaks for word in ("--drop", leak)]
        fit = ["fit", "train.csv", "-t", declared.target, "-o", "model.ladder", "--no-compare", *drops]
        for arguments in (fit, ["predict", "model.ladder", "test.csv", "-o", "out.csv"]):
            command = [sys.executable, "-m", "polyladder", *arguments]
            subprocess.run(
                command, cwd=folder, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
        return pd.read_csv(folder / "out.csv")


def one_split(table: str, split: int, source: Path) -> dict[str, Any]:
    """Errors and seconds of all models on one split."""
    declared = TABLES[table]
    frame = pd.read_csv(source / f"{table}.csv.gz").dropna(subset=[declared.target])
    order = np.random.default_rng(split).permutation(len(frame))
    test, train = frame.iloc[order[: len(frame) // 5]], frame.iloc[order[len(frame) // 5 :]]
    hidden = [declared.target, *declared.leaks, *declared.names, frame.columns[0]]
    errors, seconds = {}, {}
    began = time.perf_counter()
    answer = by_command(train, test, declared)
    seconds["command"] = time.perf_counter() - began
    labels = sorted(frame[declared.target].unique())
    if declared.classes:
        shares = answer[[f"probability of {label}" for label in labels]].to_numpy()
        errors["command"] = log_loss(test[declared.target], shares, labels=labels)
    else:
        errors["command"] = relative(test[declared.target], answer["prediction"])
    for name, model in rivals(declared.classes).items():
        began = time.perf_counter()
        with threadpool_limits(1):
            model.fit(train.drop(columns=hidden), train[declared.target])
        seconds[name] = time.perf_counter() - began
        unseen = test.drop(columns=hidden)
        if declared.classes:
            errors[name] = log_loss(test[declared.target], model.predict_proba(unseen), labels=labels)
        else:
            errors[name] = relative(test[declared.target], model.predict(unseen))
    return {"table": table, "split": split, "errors": errors, "seconds": seconds}


def relative(y: Any, predicted: Any) -> float:
    """RMSE over the deviation of the test rows' targets."""
    return float(np.sqrt(np.mean((np.asarray(y) - np.asarray(predicted)) ** 2)) / np.std(y))


def stored() -> list[dict[str, Any]]:
    """The figures so far."""
    path = RESULTS / "tables.jsonl"
    return [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    source = Path(os.environ["POLYLADDER_DATA"]) / "tables"
    done = {(row["table"], row["split"]) for row in stored()}
    for table in TABLES:
        for split in range(SPLITS):
            if (table, split) not in done:
                record("tables", one_split(table, split, source), ("polyladder", "scikit-learn", "torch"))
    print(f"{'table':<12}" + "".join(f"{name:>12}" for name in ("command", "boosting", "linear", "constant")))
    for table in TABLES:
        rows = [row["errors"] for row in stored() if row["table"] == table]
        means = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
        print(f"{table:<12}" + "".join(f"{value:>12.4g}" for value in means.values()))


if __name__ == "__main__":
    main()
