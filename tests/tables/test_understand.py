"""Messy tables, each with one trap, are understood as `messy/understood.toml` says."""

import tomllib
from pathlib import Path

import polars as pl
import pytest

from polyladder.tables.columns import guess_kind, write_value
from polyladder.tables.schema import Rule
from polyladder.tables.table_file import open_table
from polyladder.tables.understand import all_rules, column_lines, understand

MESSY = Path(__file__).parent / "messy"
EXPECTED = tomllib.loads((MESSY / "understood.toml").read_text(encoding="utf-8"))


def read(name: str, **options):
    file = open_table(MESSY / f"{name}.csv")
    frame = file.whole()
    return frame, understand(frame, file.comma, file.names, all_rules(options.pop("schema", {}), **options))


def test_every_table_has_its_answer() -> None:
    assert {path.stem for path in MESSY.glob("*.csv")} == set(EXPECTED)
    assert len(EXPECTED) >= 40


@pytest.mark.parametrize("name", EXPECTED)
def test_messy_tables(name: str) -> None:
    _, found = read(name)
    assert [column.kind.name for column in found] == list(EXPECTED[name])
    for column in found:
        expected = dict(EXPECTED[name][column.kind.name])
        cells = expected.pop("cells", None)
        entries = column.kind.json()
        assert (entries | entries.pop("style", {}) if column.used else {"reason": column.reason}) == expected
        if cells is not None:
            assert ["missing" if v is None else v for v in column.values[:3].to_list()] == cells


@pytest.mark.parametrize("name", EXPECTED)
def test_values_are_written_back_as_they_were(name: str) -> None:
    frame, found = read(name)
    for column in (c for c in found if c.used and (c.kind.style.json() or c.kind.kind == "date")):
        again = pl.Series(column.kind.name, [write_value(v, column.kind.json(), 9) for v in column.values.to_list()])
        comma = column.kind.style.decimal == ","
        mark = "decimal" if comma else "thousands"
        everything = understand(frame.with_columns(again), mark, frame.columns, {})
        reread = next(c for c in everything if c.kind.name == again.name)
        assert reread.values.to_list() == pytest.approx(column.values.to_list(), nan_ok=True)


def test_what_is_left_out_can_be_kept() -> None:
    _, found = read("id_unnamed_index_with_gaps", keep=["column 1"])
    assert found[0].used
    _, found = read("zip_codes", schema={"zip": Rule("number")})
    assert found[0].values[0] in (2139.0, 10001.0, 94110.0, 501.0)
    _, found = read("zip_codes", category=["area"], drop=["y"])
    assert [(c.kind.kind, c.used) for c in found[1:]] == [("category", True), ("category", False)]


def test_a_point_marks_thousands_where_the_target_has_decimal_commas() -> None:
    frame = pl.DataFrame({"a": ["1.234", "2.500"], "y": ["1,5", "2,25"]})
    assert understand(frame, "decimal", ["a"], {})[0].values.to_list() == [1.234, 2.5]
    beside = {"y": guess_kind(frame["y"], "decimal")}
    assert understand(frame, "decimal", ["a"], {}, beside=beside)[0].values.to_list() == [1234.0, 2500.0]


def test_a_date_that_can_be_read_in_two_ways_is_doubted() -> None:
    _, found = read("date_ambiguous")
    assert "a schema with format '%m/%d/%Y' exchanges them" in found[0].note
    assert not any(c.note for c in read("date_day_first")[1])


def test_lines_of_wide_tables_share_plain_numbers() -> None:
    frame = pl.DataFrame({f"x{i}": [0.5, 1.5] for i in range(40)} | {"kind": ["a", "b"]})
    lines = column_lines(understand(frame, "thousands", frame.columns, {}))
    assert len(lines) == 2
    assert lines[0].startswith("  kind  category: 2 levels (")
    assert lines[1] == "  40 plain numbers: x0, x1, x2, x3, x4, x5, ..."


def test_texts_that_differ_in_case_are_one_and_said_so() -> None:
    frame = pl.DataFrame({"town": ["Bern", "bern", "BERN", "Bern", "Aue"], "grade": ["A", "a", "b", "b", "A"]})
    town, grade = understand(frame, "thousands", frame.columns, {})
    assert town.values.to_list() == ["Bern"] * 4 + ["Aue"]
    assert town.note.startswith("Column 'town' holds texts that differ in case alone: 'bern' is read as 'Bern'.")
    assert grade.values.to_list() == ["A", "a", "b", "b", "A"]
    assert grade.note == "Column 'grade' holds 'A' and 'a': short texts that differ in case are kept apart."
    apart, _ = understand(frame, "thousands", frame.columns, {"town": Rule("category")})
    assert apart.values.to_list() == frame["town"].to_list()
    assert apart.note == ""


def test_units_of_one_kind_are_converted_and_said_so() -> None:
    frame = pl.DataFrame({"w": ["5.1 kg", "11.2 lb", "6 kg"]})
    (found,) = understand(frame, "thousands", ["w"], {})
    assert found.values.to_list() == pytest.approx([5.1, 5.08023, 6.0], rel=1e-5)
    assert found.note == "Column 'w' holds numbers in lb, which are converted: '11.2 lb' is read as 5.08 kg."


@pytest.mark.parametrize("text", [True, False])
def test_numbers_that_become_equal_by_rounding_are_said_so(text: bool) -> None:
    cells = [2**63 - 1 - 3 * i for i in (5, 2, 9, 400, 7, 11)]
    frame = pl.DataFrame({"a": [*map(str, cells)] if text else cells, "b": [2**53 - i for i in (5, 2, 9, 4, 7, 1)]})
    a, b = understand(frame, "thousands", ["a", "b"], all_rules({}, keep=["a", "b"]))
    assert a.values.to_list() == [float(cell) for cell in cells]
    assert a.note.startswith(
        "Column 'a' holds numbers beyond 2^53, which are rounded to 16 digits: 6 different ones become 2."
    )
    assert b.note == ""


def test_a_column_of_times_is_called_so() -> None:
    (found,) = understand(pl.DataFrame({"at": ["13:45", "09:10", "22:00"]}), "thousands", ["at"], {})
    assert found.line == "time: 09:10 to 22:00"
