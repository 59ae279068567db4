"""Exports with hostile names and cells in every language, run for real: right answers, or a sentence.

One model has many hostile columns at once, so that each language is started once per example.
"""

import atexit
import contextlib
import ctypes
import dataclasses
import functools
import json
import sqlite3
import subprocess
import tempfile
import warnings
from pathlib import Path

import duckdb
import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import strategies as st

from polyladder import LPNNClassifier, LPNNRegressor, to_source
from polyladder.convert.onnx.model import onnx_model
from polyladder.convert.source.sql_words import quoted
from polyladder.fitted.model import fitted_model
from polyladder.tables.booleans import NO, YES
from polyladder.tables.columns import MISSING, convert
from polyladder.tables.dates import ISO, TIMES
from tests.convert.onnx.run import run as run_onnx
from tests.convert.onnx.run import session
from tests.convert.source import postgres
from tests.convert.source.compiled import call, compiler, library
from tests.convert.source.rustc import ask, program
from tests.convert.source.test_sql_cells import literal
from tests.export import cells
from tests.export.test_javascript import node
from tests.fuzz import fuzz

pytestmark = pytest.mark.slow

ROWS = 40

ENDS = [
    "'",
    '"',
    "`",
    "\\",
    "\\\n",
    "\n",
    "\r",
    "\t",
    "\0",
    "*/",
    "/*",
    "??/",
    "//",
    "--",
    ";",
    "#",
    "%",
    "{",
    "}",
    "$",
    "$1",
]
ENDS += ['"""', "'''", "</script>", "${x}", "{name}", "\\x41", "\\u0041", "(?i)", ".*", "[", "=1+1"]
CODE = ["a*\\\n/\nint injected(void){return 1;}\n/*", "'); DROP TABLE rows; --", '"; DROP TABLE rows; --']
OWN = ["class", "int", "select", "null", "NaN", "None", "k", "r", "x0", "c0", "z0", "1st", "rows", "features", "id"]
OWN += ["__proto__", "constructor", "toString", "NA", "-", "?", " ", "  "]
LETTERS = ["\u2028", "\u2029", "\ufeff", "\u202e", "\x1b[31m", "é", "漢", "🙂", "a\u0301", "x" * 70, "y" * 300]
FRAGMENTS = [*ENDS, *CODE, *OWN, *LETTERS]
"""What ends strings, comments, names and lines in some language, what languages use themselves, and long names."""

CHARACTERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
TEXT = st.lists(st.sampled_from(FRAGMENTS) | CHARACTERS, max_size=4).map("".join)
NAMES = st.lists(TEXT, min_size=8, max_size=16, unique=True)
CATEGORIES = st.lists(TEXT, min_size=4, max_size=8, unique=True)

some = hypothesis.settings(fuzz, max_examples=max(2, fuzz.max_examples // 10))


@st.composite
def models(draw):
    """A fitted model whose columns, categories and classes have hostile names, and rows."""
    names, categories, labels = draw(NAMES), draw(CATEGORIES), draw(CATEGORIES)
    if draw(st.booleans()):
        # What some languages have to refuse is left out, so that they have something to run.
        names, categories, labels = (
            list({text.replace("\0", "").lower() or "none": None for text in texts})
            for texts in (names, categories, labels)
        )
        hypothesis.assume(min(map(len, (names, categories, labels))) > 1)
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=ROWS) for name in names}
    for name in names[::3]:
        table[name] = np.array(categories, dtype=object)[rng.integers(0, len(categories), ROWS)]
    X = pd.DataFrame(table)
    small = {"order": 2, "width": 2, "max_iter": 2, "random_state": 0}
    if draw(st.booleans()):
        y = np.array(labels, dtype=object)[np.arange(ROWS) % len(labels)]
        return LPNNClassifier(**small).fit(X, y), X
    return LPNNRegressor(n_estimators=1, **small).fit(X, rng.normal(size=ROWS)), X


def answers_of(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X).reshape(-1, 1)


def same(found, model, X):
    expected = answers_of(model, X)
    found = np.asarray(found, dtype=np.float64)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def has_nul(model):
    """Whether a language in which NUL ends a text cannot hold the model's texts."""
    return any("\0" in c for column in fitted_model(model).columns for c in column.categories)


@some
@hypothesis.given(models())
def test_c(made):
    model, X = made
    if has_nul(model):
        with pytest.raises(ValueError, match="without the character NUL for C"):
            to_source(model, "c")
        return
    columns = fitted_model(model).columns
    with tempfile.TemporaryDirectory() as folder:
        source = to_source(model, "c")
        source.write(Path(folder) / "ladder.c")
        # The header is compiled as well, and nothing but its functions is defined.
        (Path(folder) / "main.c").write_text('#include "ladder.h"\nint used = LADDER_COLUMNS;\n')
        flags = ["-O0", "-std=c99", "-trigraphs", "-Wall", "-Wno-overlength-strings", "-Werror", "-fPIC", "-shared"]
        command = [compiler(), *flags, "ladder.c", "main.c", "-o", "m.so", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        loaded = ctypes.CDLL(str(Path(folder) / "m.so"))
        with pytest.raises(AttributeError):
            _ = loaded.injected
        coded = [
            [loaded.ladder_code(i, v.encode()) for v in X[c.name]] if c.categories else X[c.name]
            for i, c in enumerate(columns)
        ]
        rows = np.ascontiguousarray(np.array(coded, dtype=np.float64).T)
        found = np.empty((len(rows), len(fitted_model(model).answer_names)))
        loaded.ladder_predict.argtypes = [ctypes.c_void_p] * 2
        for row, place in zip(rows, found, strict=True):
            loaded.ladder_predict(row.ctypes.data, place.ctypes.data)
    same(found, model, X)


@some
@hypothesis.given(models())
def test_numpy(made):
    model, X = made
    module = {}
    exec(compile(to_source(model, "numpy").text.encode(), "model.py", "exec"), module)
    same(module["predict"](X), model, X)
    same(module["predict"](X.to_numpy()), model, X)


ASK = """
const asked = JSON.parse(require("fs").readFileSync("asked.json", "utf-8"));
console.log(JSON.stringify(asked.map((rows, i) => rows.map(require(`./${i}.js`).predict))));
"""


@some
@hypothesis.given(st.lists(models(), min_size=3, max_size=3))
def test_javascript(several):
    with tempfile.TemporaryDirectory() as folder:
        for i, (model, _) in enumerate(several):
            to_source(model, "javascript").write(Path(folder) / f"{i}.js")
        (Path(folder) / "asked.json").write_text(json.dumps([X.to_dict("records") for _, X in several]))
        done = subprocess.run([node(), "-"], input=ASK, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for found, (model, X) in zip(json.loads(done.stdout), several, strict=True):
        same(found, model, X)


@some
@hypothesis.given(st.lists(models(), min_size=2, max_size=2))
def test_rust(several):
    with tempfile.TemporaryDirectory() as folder:
        binary = program([to_source(model, "rust") for model, _ in several], Path(folder))
        found = ask(binary, [X.to_numpy(dtype=object).tolist() for _, X in several])
    for got, (model, X) in zip(found, several, strict=True):
        same(got, model, X)


@some
@hypothesis.given(models())
def test_onnx(made):
    model, X = made
    names = [column.name for column in fitted_model(model).columns]
    empty = any("" in column.categories for column in fitted_model(model).columns)
    if "" in names or empty or {"prediction", "label", "probabilities"} & set(names):
        with pytest.raises(ValueError, match="for ONNX"):
            onnx_model(fitted_model(model))
        return
    written = onnx_model(fitted_model(model))
    found = run_onnx(written, X)
    same(found["probabilities"] if "label" in found else found["prediction"], model, X)


def sql_rows(run, X):
    """The answers of a query over a table made of a frame, by statements that hold its names and texts."""
    kinds = ["DOUBLE PRECISION" if kind.kind == "f" else "TEXT" for kind in X.dtypes]
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(X.columns, kinds, strict=True))
    run(f"CREATE TABLE rows (key INTEGER, {columns})")
    for i, row in enumerate(X.itertuples(index=False, name=None)):
        run(f"INSERT INTO rows VALUES ({i}, {', '.join(map(literal, row))})")


@some
@hypothesis.given(models(), st.sampled_from(["sqlite", "duckdb"]))
def test_sql(made, database):
    model, X = made
    names = [*X.columns, *map(str, getattr(model, "classes_", ()))]
    folded = {name.lower() for name in X.columns}
    if has_nul(model) or "" in X.columns or "\0" in "".join(names) or len(folded) < len(X.columns):
        with pytest.raises(ValueError, match="for SQL"):
            to_source(model, "sql", key="id")
        return
    query = str(to_source(model, "sql", key="key"))
    opened = sqlite3.connect(":memory:") if database == "sqlite" else duckdb.connect()
    with opened:
        rows = X[:5]
        sql_rows(opened.execute, rows)
        found = sorted(opened.execute(query).fetchall())
    width = len(fitted_model(model).answer_names)
    same([row[-width:] for row in found], model, rows)
    if hasattr(model, "classes_"):
        assert [row[1] for row in found] == model.predict(rows).tolist()


def test_postgresql():
    """Every fragment as a name and as a category, once: a server starts a process for each question."""
    names = list({f.replace("\0", "")[:60].lower() or "none": None for f in FRAGMENTS})
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=ROWS) for name in names})
    X["category"] = np.array(names, dtype=object)[np.arange(ROWS) % len(names)]
    small = {"order": 2, "width": 2, "max_iter": 2, "n_estimators": 1, "random_state": 0}
    model = LPNNRegressor(**small).fit(X, rng.normal(size=ROWS))
    made = []
    sql_rows(made.append, X)
    query = str(to_source(model, "sql", key="key"))
    found = postgres.answers(";\n".join(["DROP TABLE IF EXISTS rows", *made, ""]), query)
    same([row[1:] for row in sorted(found)], model, X)


WORDS = [
    *YES,
    *NO,
    *MISSING,
    "1",
    "2",
    "25",
    "12",
    "31",
    "29",
    "02",
    "2021",
    "1999",
    "2021-03-04",
    "10:30",
    "T",
    "Z",
    "e",
]
WORDS += [
    "-",
    "/",
    ".",
    ",",
    ":",
    " ",
    "+",
    "−",
    "$",
    "%",
    "(",
    ")",
    "\t",
    "\n",
    "\u00a0",
    "\u3000",
    "\0",
    "\ufeff",
    "k",
]
WORDS += ["Male", "Ümi", "a'b\"c\\?"]
CELL = st.lists(st.sampled_from([*WORDS, *(word.upper() for word in WORDS)]) | CHARACTERS, max_size=5).map("".join)
CHANGES = st.lists(st.tuples(st.sampled_from(sorted(cells.BASE)), CELL), min_size=20, max_size=40)


def expected(changes):
    """What `predict` says of the base row with one cell changed, for each change; None where it refuses the cell."""
    base, rows, refused = clean_base(), [], set()
    for i, (column, cell) in enumerate(changes):
        try:
            rows.append(base | {column: read_cell(column, cell)})
        except ValueError:
            rows.append(base)
            refused.add(i)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cells.models()["small"].predict(pl.DataFrame(rows, infer_schema_length=None)).tolist()
    return [None if i in refused else value for i, value in enumerate(found)]


def read_cell(column, cell):
    """A cell as a table is read; a date also as ISO 8601, which exports know besides the column's own format."""
    kind = cells.kinds()[column]
    if kind.kind != "date":
        return convert(pl.Series(column, [cells.BASE[column], cell]), kind, "thousands")[1]
    for date_format in (kind.date_format, *(TIMES if kind.date_format in TIMES else ISO)):
        with contextlib.suppress(ValueError):
            return convert(pl.Series(column, [cell]), dataclasses.replace(kind, date_format=date_format), "thousands")[
                0
            ]
    raise ValueError(cell)


@functools.cache
def clean_base():
    """The base row as the model takes it."""
    frame = pl.DataFrame([cells.BASE])
    return frame.with_columns(convert(frame[c], kind, "thousands") for c, kind in cells.kinds().items()).row(
        0, named=True
    )


def judge(changes, found, may_refuse=(*cells.NUMBERS, *cells.DATES)):
    """Each answer is that of `predict`, or a refusal where `predict` refuses.

    Numbers and dates may be refused more often: a table is read with a look at its other cells.
    """
    for (column, cell), value, wanted in zip(changes, found, expected(changes), strict=True):
        if value is None:
            assert wanted is None or column in may_refuse, (column, cell, wanted)
        else:
            assert wanted is not None, (column, cell, value)
            assert abs(value - wanted) <= 1e-9 * abs(wanted), (column, cell, value, wanted)


@some
@hypothesis.given(CHANGES)
def test_cells_in_numpy(changes):
    module, found = {}, []
    exec(str(to_source(cells.models()["small"], "numpy")), module)
    for column, cell in changes:
        try:
            found.append(float(module["predict"]([list((cells.BASE | {column: cell}).values())])[0, 0]))
        except ValueError:
            found.append(None)
    judge(changes, found)


ASK_CELLS = """
const ladder = require("./ladder.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf-8"));
const answer = (row) => { try { return ladder.predict(row)[0]; } catch (error) { return null; } };
console.log(JSON.stringify(rows.map(answer)));
"""


@some
@hypothesis.given(CHANGES)
def test_cells_in_javascript(changes):
    with tempfile.TemporaryDirectory() as folder:
        to_source(cells.models()["small"], "javascript").write(Path(folder) / "ladder.js")
        rows = [cells.BASE | {column: cell} for column, cell in changes]
        (Path(folder) / "rows.json").write_text(json.dumps(rows))
        done = subprocess.run([node(), "-"], input=ASK_CELLS, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    judge(changes, json.loads(done.stdout))


@some
@hypothesis.given(CHANGES)
def test_cells_in_rust(changes):
    """Also of numbers with marks, which this language refuses as texts."""
    base = cells.as_numbers(pl.DataFrame([cells.BASE])).row(0, named=True)
    rows = [(base | {column: cell}).values() for column, cell in changes]
    (found,) = ask(rust_program(), [rows])
    judge(changes, [None if isinstance(got, str) else got[0] for got in found])


@functools.cache
def rust_program():
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return program([to_source(cells.models()["small"], "rust")], Path(folder.name))


@some
@hypothesis.given(CHANGES)
def test_cells_in_sqlite(changes):
    with sqlite3.connect(":memory:") as opened:
        opened.execute(f"CREATE TABLE rows (key, {', '.join(cells.BASE)})")
        plain = cells.BASE | {"price": 2000.0, "share": 12.0, "age": 30.0, "flag": 1.0, "cold": -5.5, "weight": 5.1}
        for i, (column, cell) in enumerate(changes):
            row = (plain | {column: cell}).values()
            opened.execute(f"INSERT INTO rows VALUES (?{', ?' * len(plain)})", [i, *row])
        query = str(to_source(cells.models()["small"], "sql", key="key"))
        found = [row[1] for row in sorted(opened.execute(query).fetchall())]
    judge(changes, found)


@functools.cache
def onnx_session():
    return session(onnx_model(fitted_model(cells.models()["small"])))


@some
@hypothesis.given(CHANGES)
def test_texts_in_onnx(changes):
    texts = [(column, cell) for column, cell in changes if column in cells.TEXTS]
    hypothesis.assume(texts)
    rows = cells.as_numbers(pl.DataFrame([cells.BASE] * len(texts))).to_pandas()
    for i, (column, cell) in enumerate(texts):
        rows.loc[i, column] = cell
    feed = {c: rows[[c]].to_numpy(dtype=object if c in cells.TEXTS else float) for c in rows.columns}
    found = onnx_session().run(["prediction"], feed)[0][:, 0]
    judge(texts, [None if np.isnan(v) else float(v) for v in found], may_refuse=())


@functools.cache
def c_library():
    with tempfile.TemporaryDirectory() as folder:
        return library(to_source(cells.models()["small"], "c"), Path(folder))


@some
@hypothesis.given(CHANGES)
def test_texts_in_c(changes):
    # A text of C ends at a NUL.
    texts = [(column, cell) for column, cell in changes if column in cells.TEXTS and "\0" not in cell]
    hypothesis.assume(texts)
    base = cells.as_numbers(pl.DataFrame([cells.BASE])).row(0, named=True)
    code = c_library().ladder_code
    rows = [
        [
            code(i, v.encode()) if name in cells.TEXTS else v
            for i, (name, v) in enumerate((base | {column: cell}).items())
        ]
        for column, cell in texts
    ]
    found = call(c_library(), np.array(rows, dtype=float), 1)[:, 0]
    judge(texts, [None if np.isnan(v) else float(v) for v in found], may_refuse=())
