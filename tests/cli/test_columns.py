"""What columns are taken for, shown alone."""

import json
from pathlib import Path

import pytest

from tests.cli.tables import run, sentence, shop, small_models, write_quoted

pytestmark = pytest.mark.usefixtures(small_models.__name__)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_quoted(tmp_path / "shop.csv", shop())


@pytest.mark.slow
def test_columns_alone(table: Path) -> None:
    shown = run("columns", table).stdout.splitlines()
    assert shown[0] == f"{table}: 120 rows, 9 columns"
    assert shown[1] == "  customer_id  left out: it is an id by its name, and differs from row to row"
    found = json.loads(run("columns", table, "--json", "--keep", "customer_id").stdout)
    assert [column["used"] for column in found] == [True] * 9
    schema = table.parent / "s.toml"
    schema.write_text(run("columns", table, "--toml").stdout)
    assert '"zip" = "category"' in schema.read_text()
    again = json.loads(run("columns", table, "--json", "--schema", schema).stdout)
    assert [c["kind"] for c in again if c["used"]] == [c["kind"] for c in found if c["name"] != "customer_id"]
    assert "must name columns of" in sentence("columns", table, "--keep", "zzz")
