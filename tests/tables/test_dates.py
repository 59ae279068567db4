"""Dates as text."""

import polars as pl
import pytest

from polyladder.tables.dates import (
    DATE_FORMATS,
    as_days,
    date_unit,
    find_date_format,
    is_ambiguous,
    is_date_format,
    read_dates,
    write_date,
)


@pytest.mark.parametrize("date_format", DATE_FORMATS)
def test_every_format_is_found_and_written_back(date_format: str) -> None:
    days = [18262.0 + 31 * k + 0.5 * (":" in date_format or "%H" in date_format) for k in range(0, 24, 5)]
    cells = pl.Series("c", [write_date(day, date_format) for day in days])
    found = find_date_format(cells)
    assert found is not None
    assert [write_date(day, found) for day in as_days(cells, found).to_list()] == cells.to_list()


def test_years_of_two_digits_are_of_our_time() -> None:
    cells = pl.Series("c", ["31/01/24", "15/12/99"])
    assert find_date_format(cells) == "%d/%m/%y"
    assert [write_date(day, "%Y") for day in as_days(cells, "%d/%m/%y").to_list()] == ["2024", "1999"]


@pytest.mark.parametrize("cells", [["20231301", "20230101"], ["12345678", "20230101"], ["2023", "2024"], ["a", "b"]])
def test_what_is_no_date(cells: list[str]) -> None:
    assert find_date_format(pl.Series("c", cells)) is None


def test_days_and_months_that_can_be_exchanged() -> None:
    assert is_ambiguous(pl.Series("c", ["01/02/2020"]), "%d/%m/%Y")
    assert not is_ambiguous(pl.Series("c", ["31/01/2020"]), "%d/%m/%Y")
    assert write_date(float("nan"), "%Y") == "missing"
    assert write_date(1e12, None) == "1e+12"


def test_days_with_and_without_a_time() -> None:
    cells = pl.Series("c", ["2020-01-01", "2020-01-02 12:00:00", "2020-01-03"])
    found = find_date_format(cells)
    assert found == "%Y-%m-%d %H:%M:%S%.f"
    assert read_dates(cells, found).to_list() == [18262.0, 18263.5, 18264.0]


def test_formats_of_dates() -> None:
    assert all(is_date_format(each) for each in DATE_FORMATS)
    assert not any(is_date_format(each) for each in ("", "yyyy-mm-dd", "%Q", "%", "%Y-%", "31/12/2024", "%H"))
    assert date_unit("%H:%M") == "days since midnight"
    assert date_unit("%Y-%m-%d") == date_unit(None) == "days since 1970-01-01"


def test_numbers_are_not_tried_in_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("polyladder.tables.dates.as_days", lambda cells, date_format: asked.append(date_format))
    for cells in (["-1.5", "2.25"], ["1,5", "3"], ["1e-3", "12"], [".5", "+7"]):
        assert find_date_format(pl.Series(cells)) is None
    assert asked == []
