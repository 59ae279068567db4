"""Cells of text and of every type, in SQLite, DuckDB and PostgreSQL."""

import dataclasses
import datetime
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder.convert.source.sql import sql_source
from polyladder.convert.source.sql_cells import fixed_places, table_name
from polyladder.convert.source.sql_words import quoted
from polyladder.fitted.model import fitted_model, ladder_model
from tests.convert.source import postgres
from tests.export.cells import BASE, NUMBERS, REFUSED, as_numbers, error, models, predicted, rows
from tests.ladders import random_ladder

DATABASES = ["sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("duckdb", "postgresql"))]


def literal(value, sqlite=False):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, float):
        # SQLite has no name for infinity, and no NaN.
        unusual = {9e999: "9e999", -9e999: "-9e999"} if sqlite else {}
        return repr(value) if np.isfinite(value) else unusual.get(value, f"CAST('{value}' AS DOUBLE PRECISION)")
    return "'" + str(value).replace("'", "''") + "'"


def statements(table, types, records):
    """A table of some types with some rows, made anew; without types it is one of SQLite."""
    sqlite = not any(types.values())
    columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in types.items())
    lines = [", ".join([str(i), *(literal(row[name], sqlite) for name in types)]) for i, row in enumerate(records)]
    made = f'DROP TABLE IF EXISTS {table}; CREATE TABLE {table} ("id" INTEGER, {columns});'
    return f"{made} INSERT INTO {table} VALUES ({'), ('.join(lines)});"


def ask(database, made, query):
    """The answers of a query after the statements, by the order of the key; an error is a `ValueError`."""
    if database == "sqlite":
        with sqlite3.connect(":memory:") as opened:
            opened.executescript(made)
            found = opened.execute(str(query)).fetchall()
    elif database == "duckdb":
        with duckdb.connect() as opened:
            opened.execute(made)
            try:
                found = opened.execute(str(query)).fetchall()
            except duckdb.ConversionException as error:
                raise ValueError(str(error)) from error
    else:
        found = postgres.answers(made, str(query))
    return [row[1:] for row in sorted(found)]


TYPES = {name: "DOUBLE PRECISION" if name in NUMBERS else "TEXT" for name in BASE}
PLAIN = BASE | {"price": 2000.0, "share": 12.0, "age": 30.0, "flag": 1.0, "cold": -5.5, "weight": 5.1}


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("name", ["small", "default"])
def test_cells_are_read_as_predict_reads_them(name, database):
    prepared = as_numbers(rows(), name)
    mixed = rows().with_columns(prepared[c] for c in NUMBERS)
    query = sql_source(fitted_model(models()[name]), "houses", key="id")
    assert error(ask(database, statements("houses", TYPES, mixed.to_dicts()), query), predicted(name)) < 1e-9


@pytest.mark.parametrize("database", DATABASES)
def test_cells_that_predict_refuses_have_no_answer(database):
    query = sql_source(fitted_model(models()["small"]), "houses", key="id")
    # Texts among numbers cannot be in a table of DuckDB or PostgreSQL in the first place.
    wrong = [(column, cell) for column, cell in REFUSED if database == "sqlite" or column not in NUMBERS]
    if database == "sqlite":
        wrong += [("price", "$2,000"), ("share", "12 %"), ("age", ""), ("age", b"x"), ("age", 9e999), ("age", -9e999)]
        records = [PLAIN, *(PLAIN | {column: cell} for column, cell in wrong)]
        (right,), *found = ask(database, statements("houses", dict.fromkeys(BASE, ""), records), query)
        assert right == pytest.approx(predicted("small")[0, 0], rel=1e-9)
        assert found == [(None,)] * len(wrong)
        return
    assert len(wrong) == 9
    for column, cell in wrong[::3]:
        with pytest.raises(ValueError, match=f"Column '{column}' must hold .*; got "):
            ask(database, statements("houses", TYPES, [PLAIN, PLAIN | {column: cell}]), query)
    infinite = PLAIN | {"age": float("inf")}, PLAIN | {"age": float("-inf")}
    assert ask(database, statements("houses", TYPES, infinite), query) in ([(None,)] * 2, [("",)] * 2)


def test_texts_of_numbers_are_numbers_in_sqlite_and_refused_elsewhere():
    query = sql_source(fitted_model(models()["small"]), "houses", key="id")
    texts = ["30", "30.0", "3e1", "3E+1", "30.", "00030"]
    made = statements("houses", TYPES | {"age": "TEXT"}, [PLAIN | {"age": text} for text in texts])
    assert error(ask("sqlite", made, query), np.full((len(texts), 1), predicted("small")[0])) < 1e-9
    with pytest.raises(duckdb.BinderException, match="VARCHAR"):
        ask("duckdb", made, query)


@pytest.mark.slow
def test_texts_of_numbers_are_refused_by_postgresql():
    query = sql_source(fitted_model(models()["small"]), "houses", key="id")
    with pytest.raises(ValueError, match="operator does not exist: text <= double precision"):
        ask("postgresql", statements("houses", TYPES | {"age": "TEXT"}, [PLAIN]), query)


@pytest.mark.parametrize("database", DATABASES)
def test_dates_booleans_and_numbers_of_the_database(database):
    types = TYPES | {"own": "BOOLEAN", "day": "DATE", "sold": "TIMESTAMP", "price": "INTEGER", "flag": "BOOLEAN"}
    types |= {"share": "DECIMAL(9, 3)", "age": "DOUBLE PRECISION", "at": "TIME"}
    sold = datetime.datetime(2021, 3, 4, 10, 30)
    true, false = (True, False) if database != "sqlite" else (1, 0)
    first = PLAIN | {"own": true, "flag": true, "sold": sold}
    nan = {"age": float("nan") if database != "sqlite" else None}
    records = [first, first | nan, first | {"own": false, "flag": false}, first | {"sold": "2021-03-04 10:30:00.25"}]
    query = sql_source(fitted_model(models()["small"]), "houses", key="id")
    found = ask(database, statements("houses", types, records), query)
    said = [BASE, BASE | {"age": ""}, BASE | {"own": "N", "flag": "0"}]
    expected = models()["small"].predict(
        pl.concat([as_numbers(pl.DataFrame(said)), as_numbers(pl.DataFrame([BASE]))]).with_columns(
            own=pl.Series(["Y", "Y", "N", "Y"]),
            sold=pl.Series(
                [(sold - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)] * 3 + [18690.4375028935]
            ),
        )
    )
    assert error(found, expected.reshape(-1, 1)) < 1e-9


@pytest.mark.parametrize("database", DATABASES)
def test_a_column_that_is_not_there_is_an_error(database):
    query = sql_source(ladder_model(random_ladder(d=1), ["area"]), "houses")
    with pytest.raises(Exception, match="area"):
        ask(database, 'DROP TABLE IF EXISTS houses; CREATE TABLE houses ("aera" INTEGER);', query)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("table", ["features", "r", "my houses"])
def test_tables_may_have_any_name_and_a_schema(table, database):
    schema = "public" if database == "postgresql" else "main"
    p = ladder_model(random_ladder(d=1, m=1), ["x"])
    made = f'DROP TABLE IF EXISTS {quoted(table)}; CREATE TABLE {quoted(table)} ("x" FLOAT); '
    made += f"INSERT INTO {quoted(table)} VALUES (2);"
    plain = ask(database, made, sql_source(p, table))
    assert plain == ask(database, made, sql_source(p, f"{schema}.{table}")) != []


def test_names_of_tables():
    assert table_name("main.houses") == '"main"."houses"'
    assert table_name('"my.houses"') == '"my.houses"'
    assert table_name('a."b""c"') == '"a"."b""c"'
    for wrong in ("", "a..b", ".a", 'a"b', '"a"b'):
        with pytest.raises(ValueError, match="table must be a name"):
            table_name(wrong)
    with pytest.raises(ValueError, match=r"must not begin with ladder_.*main\.LADDER_cells"):
        table_name("LADDER_cells")
    assert table_name("main.ladder_cells") == '"main"."ladder_cells"'


@pytest.mark.slow
def test_days_by_arithmetic_are_those_of_the_calendar():
    days = pd.date_range("1000-01-01", "2999-12-31", freq="733D", unit="us")
    query = str(sql_source(fitted_model(models()["small"]), "t", key="id"))
    # The cells alone, before anything holds them to the training range.
    cells = query[: query.index(",\nladder_features")] + "\nSELECT k, c2 FROM ladder_cells"
    made = statements("t", TYPES, [PLAIN | {"day": str(day.date())} for day in days])
    epoch = np.datetime64("1970-01-01", "D")
    expected = ((days.values.astype("M8[D]") - epoch).astype(float)).tolist()
    assert [row[0] for row in ask("sqlite", made, cells)] == expected
    assert [row[0] for row in ask("duckdb", made, cells)] == expected


def test_formats_of_different_lengths_have_no_places():
    assert fixed_places("%d.%m.%Y") == ("__.__.____", {"d": (1, 2), "m": (4, 2), "Y": (7, 4)})
    assert fixed_places("%d %b %Y") is None


@pytest.mark.slow
def test_wide_tables_of_zeros_and_ones_need_little_memory():
    p = random_ladder(d=120, hidden=(1,), m=1)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, size=(2, 120)) * 1.0).add_prefix("x")
    model = ladder_model(p, list(frame.columns))
    model = dataclasses.replace(model, columns=tuple(dataclasses.replace(c, binary=True) for c in model.columns))
    query = sql_source(model)
    with duckdb.connect(config={"memory_limit": "200MB", "threads": 1}) as opened:
        opened.register("rows", frame)
        found = opened.execute(str(query)).fetchall()
    import torch

    assert error([row[1:] for row in found], p(torch.tensor(frame.to_numpy())).numpy()) < 1e-9
