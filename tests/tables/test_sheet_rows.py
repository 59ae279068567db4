"""Rows of sheets, held to what openpyxl wrote and to XML by hand."""

import datetime
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest

from polyladder.tables.sheet_rows import column_number
from polyladder.tables.table_file import open_table
from tests.tables.workbooks import by_hand, by_openpyxl

ROWS = [
    ["name", "n", "when", "at", "seen", "ok"],
    ["Bern", 5.25, datetime.date(2020, 12, 31), datetime.time(13, 45), datetime.datetime(2020, 1, 2, 3, 4, 5), True],
    ['a, "b"\n<c>&', -7, datetime.date(1999, 1, 1), datetime.time(0, 0, 30), datetime.datetime(2020, 1, 3), False],
    [None, None, None, None, None, None],
    ["é", 1e300, None, None, None, None],
]
CELLS = [
    ("Bern", "5.25", "2020-12-31", "13:45", "2020-01-02 03:04:05", "true"),
    ('a, "b"\n<c>&', "-7", "1999-01-01", "00:00:30", "2020-01-03", "false"),
    ("é", "1e+300", None, None, None, None),
]


def test_cells_of_every_kind(tmp_path: Path) -> None:
    file = open_table(by_openpyxl(tmp_path / "b.xlsx", ROWS, "more"))
    assert file.names == tuple(ROWS[0])
    assert file.whole().rows() == CELLS
    assert file.notes == ["Read is the first of 2 sheets, 'Data'; --sheet names another."]


def test_days_counted_from_1904(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    assert book.active is not None
    for row in ROWS[:2]:
        book.active.append(row)
    book.save(tmp_path / "b.xlsx")
    assert open_table(tmp_path / "b.xlsx").whole().rows() == CELLS[:1]


@pytest.mark.parametrize("sheet", ["second", "2"])
def test_a_sheet_by_name_or_number(sheet: str, tmp_path: Path) -> None:
    path = by_openpyxl(tmp_path / "b.xlsx", ROWS, "second")
    file = open_table(path, sheet=sheet)
    assert file.names == ("other",)
    assert file.notes == []


def test_a_sheet_that_is_not_there(tmp_path: Path) -> None:
    path = by_openpyxl(tmp_path / "b.xlsx", ROWS, "second")
    for sheet in ("third", "0", "3"):
        with pytest.raises(
            ValueError, match=rf"--sheet must name a sheet of .*; got '{sheet}'\. Its sheets are Data, s"
        ):
            open_table(path, sheet=sheet)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"--sheet must be left out for .*t\.csv, which is not a workbook; got 'x'\."):
        open_table(tmp_path / "t.csv", sheet="x")
    with pytest.raises(ValueError, match=r"must hold a header and rows; its sheet 'Data' is empty\."):
        open_table(by_openpyxl(tmp_path / "e.xlsx", []))


def test_titles_above_and_lines_below_the_header(tmp_path: Path) -> None:
    rows = [["Report 2020"], [], ["cement", "water"], ["kg", "l"], *[[i + 0.5, i] for i in range(9)]]
    file = open_table(by_openpyxl(tmp_path / "b.xlsx", rows))
    assert file.names == ("cement", "water")
    assert len(file.whole()) == 9
    assert file.notes == [
        "The line 'Report 2020' above the table is a title and is left out.",
        "The second line ('kg', 'l') belongs to the header: it is left out.",
    ]


def test_formulas_are_their_results(tmp_path: Path) -> None:
    cells = (
        "<row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row>"
        "<row><c><f>1+1</f><v>2</v></c><c t='str'><f>x</f><v>two</v></c></row>"
        "<row><c><f>1+2</f></c><c t='e'><v>#DIV/0!</v></c></row>"
    )
    file = open_table(by_hand(tmp_path / "b.xlsx", cells))
    assert file.names == ("a", "big")
    assert file.whole().rows() == [("2", "two"), (None, "#DIV/0!")]
    assert file.notes == [
        "1 cell holds a formula without a result: read as missing. Open the file in a spreadsheet program and save it."
    ]


def test_xml_as_other_programs_write_it(tmp_path: Path) -> None:
    """Prefixes, cells without a place, gaps, texts within cells, numbers of formats that are not there."""
    cells = (
        '<x:row xmlns:x="u"><x:c r="B1" t="inlineStr"><x:is><x:r><x:t>p</x:t></x:r><x:r><x:t>q</x:t></x:r></x:is></x:c>'
        '<x:c t="inlineStr"><x:is><x:t>r</x:t></x:is></x:c></x:row>'
        '<row r="9"><c r="C9" s="1"><v>43831</v></c></row>'
        '<row r="10"><c r="B10" s="99"><v>7</v></c><c r="C10" t="d"><v>2020-01-05</v></c></row>'
    )
    file = open_table(by_hand(tmp_path / "b.xlsx", cells))
    assert file.names == ("column 1", "pq", "r")
    assert file.whole().rows() == [(None, None, "2020-01-01"), (None, "7", "2020-01-05")]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("<row><c/><c t='s'><v>9</v></c></row>", "it lacks the text '9' of a cell. Save it again."),
        ("<row><c r='ZZZZ1'><v>1</v></c></row>", "must have at most 32,768 columns; got a cell at 'ZZZZ1'."),
        ("<row><c r='1'><v>1</v></c></row>", "must have at most 32,768 columns; got a cell at '1'."),
        ("<row>" + "<c/>" * 40_000 + "</row>", "must have at most 32,768 columns; got a cell at 'more'."),
        ("<row><c><v>1</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>" * 2, "must have 1 cells as its header"),
        ("<row><c><v>1</v></c></row>" * 3 + "</sheetData>", "cannot be read as a workbook: mismatched tag"),
        ("<row><c t='inlineStr'><is>" + "<t>" + "x" * 2**21 + "x</t></is></c></row>", "must have cells of at most"),
        (
            "<row><c t='inlineStr'><is>" + ("<t>" + "x" * 2**20 + "</t>") * 3 + "</is></c></row>",
            "must have cells of at most",
        ),
    ],
)
def test_what_is_no_sheet_is_said_in_a_sentence(cells: str, said: str, tmp_path: Path) -> None:
    path = by_hand(tmp_path / "b.xlsx", "<row><c><v>1</v></c></row>" + cells)
    with pytest.raises(ValueError, match=r"b\.xlsx") as caught:
        open_table(path).whole()
    assert said in str(caught.value)


def test_a_cell_in_the_last_corner_costs_nothing(tmp_path: Path) -> None:
    """A reader that builds the sheet as a rectangle asks for 512 GiB here."""
    cells = "<row><c t='s'><v>0</v></c></row><row r='1048576'><c r='A1048576'><v>1</v></c></row>"
    assert open_table(by_hand(tmp_path / "b.xlsx", cells)).whole().rows() == [("1",)]
    wide = "<row><c t='s'><v>0</v></c></row><row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"
    with pytest.raises(ValueError, match="must have 1 cells as its header has; got 16384"):
        open_table(by_hand(tmp_path / "b.xlsx", wide)).whole()


@pytest.mark.slow
def test_elements_that_nobody_needs_are_not_kept(tmp_path: Path) -> None:
    cells = "<row><c t='s'><v>0</v></c></row>" + "<x/>" * 100_000 + "<row><c><v>1</v></c></row>"
    path = by_hand(tmp_path / "b.xlsx", cells)
    assert path.stat().st_size < 10_000
    tracemalloc.start()
    try:
        assert open_table(path).whole().rows() == [("1",)]
        assert tracemalloc.get_traced_memory()[1] < 2e6  # a tree of them takes 8 MB
    finally:
        tracemalloc.stop()


def test_a_sheet_grows_as_far_as_other_packed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = by_hand(tmp_path / "b.xlsx", "<row><c><v>1</v></c></row>" * 20_000)
    monkeypatch.setattr("polyladder.files.unpack.FREE", 2**18)
    monkeypatch.setattr("polyladder.files.unpack.RATIO", 50)
    with pytest.raises(
        ValueError, match=r"must grow at most 50-fold when it is decompressed; .* Save its sheet as CSV"
    ):
        open_table(path).whole()


def test_damage_is_refused(tmp_path: Path) -> None:
    whole = by_openpyxl(tmp_path / "b.xlsx", [["a", "b"], *[[i, str(i)] for i in range(300)]]).read_bytes()
    for data in (whole[:-30], whole[: len(whole) // 2], whole.replace(b"PK\x01\x02", b"PK\x01\x03", 1)):
        (tmp_path / "d.xlsx").write_bytes(data)
        with pytest.raises(ValueError, match="cannot be read as a zip"):
            open_table(tmp_path / "d.xlsx").whole()
    with zipfile.ZipFile(tmp_path / "b.xlsx") as archive:
        at = archive.getinfo("xl/worksheets/sheet1.xml").header_offset
    broken = bytearray(whole)
    for i in range(at + 80, at + 120):
        broken[i] ^= 255
    (tmp_path / "d.xlsx").write_bytes(bytes(broken))
    with pytest.raises(ValueError, match=r"cannot be (decompressed|read as a workbook)"):
        open_table(tmp_path / "d.xlsx").whole()


def test_places_of_columns() -> None:
    assert [column_number(place) for place in ("A1", "Z9", "AA1", "XFD1048576", "7", "")] == [0, 25, 26, 16383, -1, -1]
