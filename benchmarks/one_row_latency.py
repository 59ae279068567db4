"""How long does one row take: exported C, ONNX Runtime, NumPy source, the polynomial, the estimator, and two rivals?

A default `LPNNRegressor` on Friedman's first function (10 columns, 2,000 rows). All take turns in one run, one thread.
C is compiled with -O3 -march=native and called by ctypes, whose own cost is shown by a function that does nothing, and
also by a loop in C. The arithmetic limit is one multiply-add for each weight, each read once: as many numbers, times
numbers that stay in registers, added up in 64 sums that do not wait for each other. The shortest of 30 rounds counts.

Run: python benchmarks/one_row_latency.py
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from record import record
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor
from threadpoolctl import threadpool_limits

from polyladder import LPNNRegressor, to_onnx, to_source

LOOPS = 1000

EXTRA = """
void ladder_predict(const REAL *row, REAL *answers);
void nothing(const REAL *row, REAL *answers) { (void)row; (void)answers; }
void loop(const REAL *row, REAL *answers, int n) { int i; for (i = 0; i < n; i++) ladder_predict(row, answers); }
"""

DOT = """
double dot(const double *a, const double *b, int n, int times)
{
    double total = 0;
    int t, i;
    for (t = 0; t < times; t++) {
        double sum[64] = {0};
        for (i = 0; i + 64 <= n; i += 64) {
            int k;
            for (k = 0; k < 64; k++) sum[k] += a[i + k] * b[k];
        }
        total += sum[t & 63];
        __asm__ volatile("" : : "r"(a), "r"(b), "r"(sum) : "memory");
    }
    return total;
}
"""


def compiled(name: str, text: str, folder: Path, *flags: str) -> ctypes.CDLL:
    (folder / f"{name}.c").write_text(text)
    binary = folder / f"{name}.so"
    base = [
        "gcc",
        "-O3",
        "-march=native",
        "-fPIC",
        "-shared",
        *flags,
        str(folder / f"{name}.c"),
        "-o",
        str(binary),
        "-lm",
    ]
    subprocess.run(base, check=True)
    return ctypes.CDLL(str(binary))


def shortest(rivals: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each rival's shortest round; they take turns. Of microseconds, the median would be other programs'."""
    seconds = dict.fromkeys(rivals, float("inf"))
    for _ in range(rounds):
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def main() -> None:
    torch.set_num_threads(1)
    X, y = make_friedman1(2000, noise=0.5, random_state=0)
    model = LPNNRegressor(random_state=0).fit(X, y)
    mlp = MLPRegressor(hidden_layer_sizes=(100,), max_iter=50, random_state=0).fit(X, y)
    trees = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    row = np.ascontiguousarray(X[:1])
    z = model.inputs(row)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        double = compiled("ladder64", str(to_source(model, "c")) + EXTRA.replace("REAL", "double"), folder)
        single = compiled(
            "ladder32", str(to_source(model, "c", numbers="float32")) + EXTRA.replace("REAL", "float"), folder
        )
        arithmetic = compiled("dot", DOT, folder, "-ffast-math", "-funroll-loops")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(to_onnx(model, folder / "m.onnx"), options)
        module: dict[str, object] = {}
        exec(str(to_source(model, "numpy")), module)
    out64, row32 = np.empty(1), row.astype(np.float32)
    out32 = np.empty(1, dtype=np.float32)
    here, there = ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(out64.ctypes.data)
    here32, there32 = ctypes.c_void_p(row32.ctypes.data), ctypes.c_void_p(out32.ctypes.data)
    weights = model.members_.n_weights * len(model.members_)
    a, b = np.random.default_rng(0).normal(size=(2, weights))
    arithmetic.dot.restype = ctypes.c_double
    double.ladder_predict(here, there)
    assert abs(out64[0] - model.predict(row)[0]) < 1e-10
    predict = module["predict"]

    def repeated(call, times=200):
        def run():
            for _ in range(times):
                call()

        return run, times

    rivals = {
        "an empty C function, ctypes": repeated(lambda: double.nothing(here, there)),
        "C float64, ctypes": repeated(lambda: double.ladder_predict(here, there)),
        "C float64, loop in C": (lambda: double.loop(here, there, LOOPS), LOOPS),
        "C float32, loop in C": (lambda: single.loop(here32, there32, LOOPS), LOOPS),
        "arithmetic limit": (
            lambda: arithmetic.dot(ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data), weights, LOOPS),
            LOOPS,
        ),
        "ONNX Runtime float64": repeated(lambda: session.run(None, {"rows": row})),
        "NumPy source": repeated(lambda: predict(row), 50),
        "LadderPolynomial, one wide ladder": repeated(lambda: model.polynomial_(z), 50),
        "estimator.predict": repeated(lambda: model.predict(row), 20),
        "MLPRegressor (100,)": repeated(lambda: mlp.predict(row), 20),
        "HistGradientBoosting": repeated(lambda: trees.predict(row), 20),
    }
    with threadpool_limits(1):
        seconds = shortest({name: run for name, (run, _) in rivals.items()}, rounds=30)
    print(f"{weights:,} weights in {len(model.members_)} ladders of order {model.order_}")
    each = {name: seconds[name] / times for name, (_, times) in rivals.items()}
    for name, value in each.items():
        print(f"{name:36} {1e6 * value:10.2f} us")
    figures = {"weights": weights, "seconds": each}
    record("one_row_latency", figures, ("numpy", "torch", "onnxruntime", "scikit-learn"))
    print(f"C float64 / arithmetic limit: {each['C float64, loop in C'] / each['arithmetic limit']:.2f}")
    print(f"estimator.predict / C by ctypes: {each['estimator.predict'] / each['C float64, ctypes']:.0f}")


if __name__ == "__main__":
    main()
