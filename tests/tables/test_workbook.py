"""Workbooks: what they are made of, and what is refused."""

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest

from polyladder.tables.table_file import open_table
from polyladder.tables.workbook import kind_of_code, open_workbook
from tests.tables.workbooks import by_hand, by_openpyxl


def test_sheets_and_formats_of_a_workbook(tmp_path: Path) -> None:
    path = by_openpyxl(tmp_path / "b.xlsx", [["a", datetime.date(2020, 1, 2), "b", "a"]], "more", "last")
    with path.open("rb") as stream:
        book = open_workbook(stream, "b")
        assert book is not None
        assert [name for name, _ in book.sheets] == ["Data", "more", "last"]
        assert set(book.formats) == {"", "date"}
        assert book.first_day == datetime.datetime(1899, 12, 30)


def test_texts_are_joined_without_how_they_are_spoken(tmp_path: Path) -> None:
    with by_hand(tmp_path / "b.xlsx", "").open("rb") as stream:
        book = open_workbook(stream, "b")
        assert book is not None
        assert book.strings == ["a", "big"]
        assert book.formats == ["", "date"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", ""),
        ("0.00", ""),
        ("#,##0 [$€-407]", ""),
        ('"day" 0', ""),
        ("[Red]0", ""),
        ("yyyy-mm-dd", "date"),
        ("d. mmm", "date"),
        ("[$-407]dd/mm/yy hh:mm;@", "date"),
        ("h:mm AM/PM", "time"),
        ("[hh]:mm:ss", ""),
    ],
)
def test_codes_of_number_formats(code: str, kind: str) -> None:
    assert kind_of_code(code) == kind


def test_hidden_sheets_are_passed_over(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.sheet_state = "hidden"
    book.create_sheet("shown").append(["a"])
    book.save(tmp_path / "b.xlsx")
    assert open_table(tmp_path / "b.xlsx").names == ("a",)


def test_a_zip_of_one_file_is_no_workbook(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", "a,b\n1,2\n")
    assert open_table(tmp_path / "t.zip").whole().rows() == [("1", "2")]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"sharedStrings": "<!DOCTYPE x [<!ENTITY a 'b'>]><sst/>"},
            "without XML declarations; it has one. Save it",
        ),
        ({"sharedStrings": "<sst><si>"}, "cannot be read as a workbook: no element found: line 1, column 9."),
        ({"styles": "<a>" * 100}, "must have at most 60 elements within each other; got more."),
        ({"workbook": "<workbook/>"}, "must have a sheet of cells; it has none."),
        (
            {"workbook": '<?xml version="1.0" encoding="utf-16"?><workbook/>'},
            "must have a sheet of cells; it has none.",
        ),
    ],
)
def test_other_workbooks_are_refused_in_a_sentence(parts: dict[str, str], said: str, tmp_path: Path) -> None:
    path = by_hand(tmp_path / "b.xlsx", "<row><c><v>1</v></c></row>", **parts)
    with pytest.raises(ValueError, match=r"b\.xlsx") as caught:
        open_table(path).whole()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_part_that_lacks_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(ValueError, match=r"must be a whole workbook; it lacks its part 'xl/_rels/workbook\.xml\.rels'"):
        open_table(tmp_path / "b.xlsx")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["mimetype", "content.xml"], "it is an OpenDocument file. Save it as .xlsx."),
        (["[Content_Types].xml", "word/document.xml"], "it is a file of an office program without xl/workbook.xml."),
        (["xl/workbook.bin"], "it is a binary workbook. Save it as .xlsx."),
        (["a.csv", "b.csv"], "must hold one file to be read as a table; got 2."),
    ],
)
def test_other_zips_are_refused_in_a_sentence(names: list[str], said: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    with pytest.raises(ValueError, match="must") as caught:
        open_table(tmp_path / "b.zip")
    assert said in str(caught.value)


def test_files_of_old_spreadsheets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
    with pytest.raises(
        ValueError, match=r"it is an old \.xls file or has a password\. Save it as \.xlsx without a password\."
    ):
        open_table(tmp_path / "b.xls")


def test_texts_without_measure_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.tables.workbook.MOST_SHARED", 1000)
    path = by_hand(tmp_path / "b.xlsx", "", sharedStrings="<sst>" + "<si><t>text</t></si>" * 400 + "</sst>")
    with pytest.raises(ValueError, match="must have at most 1,000 characters of text; got more"):
        open_table(path)
