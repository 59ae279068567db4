"""How much of what another library's model gains over ridge is kept by the ladder that `compress` distills from it?

Published split 0 of concrete and kin8nm, mask 0 of sml and airfoil. Two teachers with their own defaults:
CatBoost, whose trees have steps, and RealMLP, a smooth network. The student learns from the teacher's answers at the
training rows and between them, never from the targets. Ridge (scaled inputs, its weight chosen by leave-one-out),
teacher and student are then held against the test rows. Of the gain in RMSE the student keeps

    (error of ridge - error of student) / (error of ridge - error of teacher).

Seconds are those of one processor core: other work beside it counts for little. 100,000 rows to predict are drawn from
the training rows; the shortest of several runs counts.

    pip install -c constraints.txt catboost==1.2.10 pytabkit==1.7.3
    POLYLADDER_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.distilled_teachers

What is stored already is not run again; a teacher that is not installed is left out, with a sentence.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.compact_defaults import split_of
from benchmarks.record import RESULTS, record
from polyladder import compress

TABLES = ("concrete", "airfoil", "sml", "kin8nm")
NAME = "distilled_teachers"
PREDICTED, REPEATS = 100_000, 3
RIDGE_WEIGHTS = np.logspace(-4, 4, 17)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Library:
    """Where a teacher comes from.

    Attributes:
        package: that is installed and imported.
        version: that was measured with.
        build: the teacher, not fitted yet, from the imported package.
    """

    package: str
    version: str
    build: Callable[[Any], Any]


TEACHERS = {
    "CatBoost": Library(
        "catboost",
        "1.2.10",
        lambda package: package.CatBoostRegressor(
            random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
        ),
    ),
    "RealMLP": Library(
        "pytabkit",
        "1.7.3",
        lambda package: package.RealMLP_TD_Regressor(random_state=0, n_threads=1, device="cpu"),
    ),
}


def measured(table: str, name: str, package: Any) -> dict[str, Any]:
    """Ridge, one teacher and its student on one table."""
    X, y, X_test, y_test = split_of(table, 0)
    ridge = make_pipeline(StandardScaler(), RidgeCV(RIDGE_WEIGHTS)).fit(X, y)
    start = time.process_time()
    teacher = TEACHERS[name].build(package).fit(X, y)
    fitted = time.process_time()
    student = compress(teacher, X)
    distilled = time.process_time()
    rows = X[np.random.default_rng(0).integers(0, len(X), PREDICTED)]
    models = {"ridge": ridge, "teacher": teacher, "student": student}
    predicted = {word: np.asarray(model.predict(X_test)).reshape(-1) for word, model in models.items()}
    errors = {word: float(root_mean_squared_error(y_test, answers)) for word, answers in predicted.items()}
    return {
        "table": table,
        "teacher": name,
        "rows": len(X),
        "columns": X.shape[1],
        "rmse": errors,
        "r2": {word: float(r2_score(y_test, answers)) for word, answers in predicted.items()},
        "gain_kept": (errors["ridge"] - errors["student"]) / (errors["ridge"] - errors["teacher"]),
        "teacher_seconds": fitted - start,
        "distill_seconds": distilled - fitted,
        "rows_per_second": {word: PREDICTED / seconds_of(models[word], rows) for word in ("teacher", "student")},
        "weights": student.polynomial_.n_weights,
        "order": student.order_,
        "sentence": student.selection_.compact,
    }


def seconds_of(model: Any, rows: Array) -> float:
    """Processor seconds that predicting takes, the shortest of several runs."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        model.predict(rows)
        taken.append(time.process_time() - start)
    return min(taken)


def installed(name: str, library: Library) -> Any:
    """The package of a teacher, or None after the sentence that says how to install it."""
    try:
        return importlib.import_module(library.package)
    except ModuleNotFoundError as error:
        if error.name != library.package:
            raise
    wanted = f"pip install -c constraints.txt {library.package}=={library.version}"
    print(f"{name} is left out: {library.package} must be installed. {wanted}", file=sys.stderr)
    return None


def as_markdown(stored: list[dict[str, Any]]) -> list[str]:
    """The lines of the table in docs/compress.md, without its head."""
    lines = []
    for each in stored:
        errors = [f"{each['rmse'][word]:#.3g} ({each['r2'][word]:.3f})" for word in ("ridge", "teacher", "student")]
        rates = [f"{each['rows_per_second'][word] / 1e3:,.0f}" for word in ("teacher", "student")]
        cells = [
            *(each["table"], each["teacher"], *errors, f"{each['gain_kept']:.1%}", f"{each['weights']:,}"),
            *(str(each["order"]), f"{each['distill_seconds']:.0f}", *rates),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure what is not stored yet, and print the table."""
    threadpool_limits(1)
    torch.set_num_threads(1)
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["table"], each["teacher"]) for each in stored}
    for name, library in TEACHERS.items():
        package = installed(name, library)
        for table in TABLES:
            if package is not None and (table, name) not in done:
                figures = measured(table, name, package)
                record(NAME, figures, ("polyladder", "torch", "numpy", "scikit-learn", library.package))
                stored.append(figures)
                print(f"{table} {name}: {figures['sentence']}", file=sys.stderr, flush=True)
    print("\n".join(as_markdown(stored)))


if __name__ == "__main__":
    main()
