"""How long does SQL of a default model take on 100,000 rows, beside reading the same table and `predict`?

A default `LPNNRegressor` on Friedman's first function (10 columns, 2,000 rows). DuckDB with one thread, the table in
its memory; reading is a sum over all columns. SQLite once, as it is much slower. The others take turns.

Run: python benchmarks/sql_rows.py
"""

from __future__ import annotations

import sqlite3
import time

import duckdb
import numpy as np
import pandas as pd
import torch
from record import record
from sklearn.datasets import make_friedman1
from timing import alternate

from polyladder import LPNNRegressor, to_source

ROWS = 100_000


def main() -> None:
    torch.set_num_threads(1)
    X, y = make_friedman1(2000, noise=0.5, random_state=0)
    names = [f"x{i}" for i in range(10)]
    model = LPNNRegressor(random_state=0).fit(pd.DataFrame(X, columns=names), y)
    frame = pd.DataFrame(make_friedman1(ROWS, random_state=1)[0], columns=names)
    frame.insert(0, "id", np.arange(ROWS))
    start = time.perf_counter()
    query = str(to_source(model, "sql", table="rows", key="id"))
    print(f"{model.members_.n_weights * len(model.members_):,} weights, {len(query) / 1024:.0f} kB of SQL, ", end="")
    print(f"written in {time.perf_counter() - start:.2f} s")
    database = duckdb.connect(config={"threads": 1})
    database.register("frame", frame)
    database.execute("CREATE TABLE rows AS SELECT * FROM frame")
    predicted = model.predict(frame[names])
    found = database.execute(query).fetchnumpy()
    order = np.argsort(found["id"])
    error = np.abs(found["prediction"][order] - predicted).max()
    print(f"largest difference to predict {error:.2g} of {np.abs(predicted).max():.3g}")
    total = " + ".join(f"SUM({name})" for name in names)
    seconds = alternate(
        {
            "DuckDB, the model": lambda: database.execute(query).fetchnumpy(),
            "DuckDB, reading the table": lambda: database.execute(f"SELECT {total} FROM rows").fetchall(),
            "DuckDB, fetching the table": lambda: database.execute("SELECT * FROM rows").fetchnumpy(),
            "estimator.predict": lambda: model.predict(frame[names]),
        },
        rounds=5,
    )
    for name, value in seconds.items():
        print(f"{name:28} {value:8.3f} s")
    with sqlite3.connect(":memory:") as other:
        frame[:10_000].to_sql("rows", other, index=False)
        start = time.perf_counter()
        other.execute(query).fetchall()
        seconds["SQLite, 10,000 rows"] = time.perf_counter() - start
    print(f"{'SQLite, 10,000 rows':28} {seconds['SQLite, 10,000 rows']:8.3f} s")
    figures = {"rows": ROWS, "characters": len(query), "largest difference": float(error), "seconds": seconds}
    record("sql_rows", figures, ("duckdb", "numpy", "torch"))


if __name__ == "__main__":
    main()
