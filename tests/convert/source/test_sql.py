import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from polyladder.convert.source.sql import horner, sql_source
from polyladder.convert.source.sql_words import quoted
from polyladder.fitted.model import fitted_model, ladder_model
from polyladder.models.batched import stack
from polyladder.polynomial.substitute import substitute
from tests.convert.exported.test_parts import kernel, mixed_model
from tests.convert.source.postgres import run as run_postgres
from tests.export.estimators import NAMES, case, each, error
from tests.ladders import random_ladder
from tests.ladders import rows as matrix

KNOWN = [name for name in NAMES if name != "posterior of three classes"]


def run_sqlite(query, frame):
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("rows", database, index=False)
        return database.execute(str(query)).fetchall()


def run_duckdb(query, frame):
    with duckdb.connect() as database:
        database.register("frame", frame)
        database.execute("CREATE TABLE rows AS SELECT * FROM frame")
        return database.execute(str(query)).fetchall()


def compare(name, run, rows):
    model, frame, answers = case(name)
    description = fitted_model(model)
    frame, answers = frame[:rows], answers[:rows]
    frame = frame.assign(id=np.arange(len(frame))[::-1])
    found = sorted(run(sql_source(description, key="id"), frame), reverse=True)
    assert [row[0] for row in found] == frame["id"].tolist()
    width = answers.shape[1]
    assert error([row[-width:] for row in found], answers) < 1e-9
    if hasattr(model, "classes_"):
        assert [row[1] for row in found] == model.predict(frame.drop(columns="id")).tolist()


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
@pytest.mark.parametrize("name", each(*KNOWN, "piecewise", "selected", "intervals", "selected intervals"))
def test_agrees_with_predict(name, run):
    compare(name, run, 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", each(*KNOWN, "piecewise", "intervals"))
def test_agrees_with_predict_in_postgresql(name):
    compare(name, run_postgres, 300)


def test_rows_are_numbered_without_a_key():
    _, frame, answers = case("piecewise")
    found = run_sqlite(sql_source(case("piecewise")[0]), frame)
    assert [row[0] for row in found] == list(range(1, len(frame) + 1))
    assert error([row[1:] for row in found], answers) < 1e-9


def test_text_grows_with_the_weights_only():
    short = len(str(sql_source(ladder_model(random_ladder(hidden=(6,) * 2)))))
    long = len(str(sql_source(ladder_model(random_ladder(hidden=(6,) * 8)))))
    assert long < 5 * short


def test_wide_sums_are_not_nested_deeply():
    p = random_ladder(d=400, hidden=(3,), m=1)
    x = np.random.default_rng(0).normal(size=(5, 400))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(400)])
    found = run_sqlite(sql_source(ladder_model(p)), frame)
    assert error([row[1:] for row in found], p(torch.tensor(x)).numpy()) < 1e-9


@pytest.mark.parametrize("ladder", [True, False])
@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
def test_sums_of_units_are_dot_products_and_polynomials_of_them(run, ladder):
    model, x = mixed_model(ladder), np.random.default_rng(0).normal(size=(40, 5))
    query = sql_source(model)
    assert ("ladder_rung_1" in str(query)) == ladder
    found = run(query, pd.DataFrame(x, columns=[f"x{i}" for i in range(5)]))
    assert error([row[1:] for row in found], model.ladders(torch.tensor(x)).mean(0).numpy()) < 1e-12


def test_units_are_written_once():
    """A kernel of any degree has its directions once."""
    high, low = (str(sql_source(ladder_model(kernel([0, 1, 2, 3, 4], degree, units=40)))) for degree in (8, 2))
    assert len(high) < 2.5 * len(low)


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
def test_few_directions_are_written_once_beside_ladders_that_read_all_inputs(run):
    few = substitute(random_ladder(d=2, hidden=(5, 5), m=1, seed=1), matrix(2, 30, seed=3), matrix(1, 2)[0])
    other = random_ladder(d=30, hidden=(5, 5), m=1, seed=2)
    x = np.random.default_rng(0).normal(size=(40, 30))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(30)])
    for members in ([few], [few, other]):
        model = replace(ladder_model(few), ladders=stack(members))
        text = str(sql_source(model))
        assert "ladder_directions" in text
        found = run(text, frame)
        assert error([row[1:] for row in found], model.ladders(torch.tensor(x)).mean(0).numpy()) < 1e-12
    assert len(str(sql_source(ladder_model(few)))) < 0.7 * len(str(sql_source(ladder_model(other))))


def test_polynomials_of_one_number():
    found = [duckdb.sql(f"SELECT {horner(powers, '3e0')}").fetchall()[0][0] for powers in ([0.0], [0.0, 2.0, 0.0, 1.0])]
    assert found == [0.0, 19.0]


def test_names_cannot_leave_their_quotes():
    name = 'a" FROM x; DROP TABLE rows; --'
    assert quoted(name) in str(sql_source(ladder_model(random_ladder(d=1), [name])))
