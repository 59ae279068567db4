"""What columns are taken for, shown alone."""

import json
from pathlib import Path

import pytest

from tests.cli.tables import run, sentence, shop, small_models, write_quoted
from tests.tables.workbooks import by_openpyxl

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
    assert "--keep must name a column of" in sentence("columns", table, "--keep", "zzz")


def test_sheets_totals_and_marks(tmp_path: Path) -> None:
    rows = [["town", "price"], *[[f"t{i % 3}", 10 * i + 7] for i in range(12)], ["Total", 744]]
    book = by_openpyxl(tmp_path / "b.xlsx", rows, "more")
    shown = run("columns", book).stdout.splitlines()
    assert shown[0] == f"{book}: 12 rows, 2 columns"
    assert shown[-2] == "The row, 'Total', at the bottom holds sums of the rows above (price): left out."
    assert shown[-1] == "Read is the first of 2 sheets, 'Data'; --sheet names another."
    path = tmp_path / "g.csv"
    path.write_text("size;price\n" + "".join(f"{i},5;{i}.{i:03}\n" for i in range(100, 120)) + "7,25;950\n")
    shown = run("columns", path).stdout.splitlines()
    assert shown[-1].startswith(
        "Column 'price' holds '100.100' beside '950': the point is read as a mark of thousands,"
    )


def test_two_decimal_marks_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;y\n" + "".join(f"{i}{',' if i % 20 == 0 else '.'}37;{i}\n" for i in range(1, 100)))
    said = sentence("columns", path)
    assert said.startswith("Column 'a' must write decimals in one way; got '1.37' and '20,37'.")
