"""C exports, compiled by gcc and called by ctypes."""

import ctypes
import shutil
import subprocess
import warnings

import numpy as np
import pytest

FLAGS = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fPIC", "-shared"]


def compiler():
    found = shutil.which("gcc")
    if found is None:
        warnings.warn("C exports were not tested: there is no gcc.", stacklevel=2)
        pytest.skip("there is no gcc: C exports are not tested")
    return found


def library(source, folder, flags=FLAGS):
    """The shared library of a source that was written into a folder."""
    place = source.write(folder / "ladder.c", force=True)
    binary = folder / "ladder.so"
    done = subprocess.run([compiler(), *flags, place, "-o", binary, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(binary))


def coded(loaded, model, rows):
    """Rows as numbers, texts by the codes that the library knows. Shape (n, columns)."""
    columns = []
    for i, column in enumerate(model.columns):
        values = rows[column.name] if hasattr(rows, "columns") else rows[:, i]
        if column.kind == "category" and column.categories:
            code = {
                v: loaded.ladder_code(i, None if v is None else v.encode()) for v in [None, *column.categories, "?"]
            }
            columns.append([code[None if v is None or v != v else v] for v in values])
        else:
            columns.append(values)
    return np.stack([np.asarray(c, dtype=np.float64) for c in columns], 1)


def call(loaded, rows, answers, dtype=np.float64):
    """The answers of a library for rows, one call each."""
    rows = np.ascontiguousarray(rows, dtype=dtype)
    out = np.empty((len(rows), answers), dtype=dtype)
    predict = loaded.ladder_predict
    predict.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    predict.restype = None
    for i in range(len(rows)):
        predict(rows[i].ctypes.data, out[i].ctypes.data)
    return out
