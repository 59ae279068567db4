"""What can be done with the small ladders that the defaults give: are they read, proven, encrypted and exported?

The tables of `compact_defaults`, their first splits. For each model: whether it is encrypted; how much wider proven
ranges are than found ones when every column moves by 1 % of its range; whether the highest prediction is proven within
1 % of the predictions' spread in a minute; what a formula of 30 terms leaves unexplained; DuckDB beside `predict`.

Run: POLYLADDER_DATA=... python -m benchmarks.compact_rooms        (what is stored already is not run again)
"""

from __future__ import annotations

import json
import time
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from benchmarks.compact_defaults import MASKED, PUBLISHED, split_of
from benchmarks.record import RESULTS, record
from polyladder import LPNNRegressor, certify, compress, encrypt, maximize, to_source

NAME = "compact_rooms"
ROWS, TRIES, SCORED = 20, 2_000, 100_000
RADIUS = 0.01

Array = np.ndarray[Any, Any]


def measured(name: str) -> dict[str, Any]:
    """All of it for one table."""
    X, y, X_test, _ = split_of(name, 0)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    model = LPNNRegressor(random_state=0).fit(frame, y)
    some = pd.DataFrame(X_test[:ROWS], columns=frame.columns)
    formula = compress(model, frame, terms=30)
    return {
        "table": name,
        "weights": model.polynomial_.n_weights,
        "order": model.order_,
        "encrypted": encrypted(model),
        "proven_over_found": looseness(model, some, X),
        "optimum": optimum(model, X.shape[1]),
        "formula_unexplained": formula.shares[0],
        **scored(model, frame),
    }


def encrypted(model: LPNNRegressor) -> str:
    """Empty where it can be encrypted, else why not."""
    try:
        encrypt(model)
    except ValueError as error:
        return str(error)
    return ""


def looseness(model: LPNNRegressor, rows: pd.DataFrame, X: Array) -> float:
    """The median over rows of the proven width over the widest found among corners and points of the box."""
    proven = certify(model, rows, RADIUS)
    wide = np.asarray(proven.upper).reshape(-1) - np.asarray(proven.lower).reshape(-1)
    rng, reach, ratios = np.random.default_rng(0), RADIUS * np.ptp(X, 0), []
    for row, width in zip(rows.to_numpy(), wide, strict=True):
        moves = rng.uniform(-1, 1, (TRIES, len(row)))
        moves[: TRIES // 2] = np.sign(moves[: TRIES // 2])
        points = np.clip(row + reach * moves, X.min(0), X.max(0))
        found = np.ptp(model.predict(pd.DataFrame(points, columns=rows.columns)))
        if found > 0:
            ratios.append(width / found)
    return float(np.median(ratios)) if ratios else float("nan")


def optimum(model: LPNNRegressor, columns: int) -> dict[str, float] | None:
    """The gap that is left after a minute, as a share of the range of the targets; None of many columns."""
    if columns > 10:
        return None
    start = time.perf_counter()
    found = maximize(model, max_seconds=60)
    spread = float(model.target_.high[0] - model.target_.low[0])
    gap = float(np.asarray(found.bound).reshape(-1)[0] - np.asarray(found.value).reshape(-1)[0])
    return {"gap": gap / spread, "seconds": time.perf_counter() - start}


def scored(model: LPNNRegressor, frame: pd.DataFrame) -> dict[str, float]:
    """Seconds of `predict` and of DuckDB for many rows."""
    rows = frame.sample(SCORED, replace=True, random_state=0).reset_index(drop=True)
    start = time.perf_counter()
    model.predict(rows)
    predicting = time.perf_counter() - start
    text = str(to_source(model, "sql", table="rows", key="id"))
    connection = duckdb.connect(config={"threads": 2})
    connection.register("frame", rows.assign(id=np.arange(SCORED)))
    connection.execute("CREATE TABLE rows AS SELECT * FROM frame")
    start = time.perf_counter()
    connection.execute(text).fetchnumpy()
    return {"predict_seconds": predicting, "duckdb_seconds": time.perf_counter() - start, "sql_bytes": len(text)}


def main() -> None:
    """Measure what is not stored yet, and print all."""
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {each["table"] for each in stored}
    for name in (*PUBLISHED, *MASKED, "friedman1"):
        if name not in done:
            figures = measured(name)
            record(NAME, figures, ("polyladder", "torch", "numpy", "duckdb"))
            stored.append(figures)
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
