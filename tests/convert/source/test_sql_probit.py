"""Posteriors over several classes in SQL; those over two are compared with all others."""

import re

import pytest

from polyladder.convert.source.sql import sql_source
from polyladder.fitted.model import fitted_model
from tests.convert.source.postgres import run as run_postgres
from tests.convert.source.test_sql import compare, run_duckdb, run_sqlite
from tests.export.estimators import case


@pytest.mark.slow
@pytest.mark.parametrize(("run", "rows"), [(run_sqlite, 400), (run_duckdb, 2000), (run_postgres, 50)])
def test_three_classes_agree_with_predict(run, rows) -> None:
    compare("posterior of three classes", run, rows)


def test_every_stage_is_one_expression() -> None:
    text = str(sql_source(fitted_model(case("posterior of two classes")[0])))
    assert re.findall(r"(sizes|ratios|tails|shares) AS MATERIALIZED", text) == ["sizes", "ratios", "tails", "shares"]
