"""Workbooks for the tests: by openpyxl, which shares nothing with the reader, and by hand."""

import zipfile
from pathlib import Path
from typing import Any

import openpyxl

SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)
BOOK = (
    '<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
LINKS = (
    '<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/>'
    '<Relationship Id="rId2" Type="http://x/sharedStrings" Target="/xl/sharedStrings.xml"/>'
    '<Relationship Id="rId3" Type="http://x/styles" Target="styles.xml"/></Relationships>'
)
STRINGS = "<sst><si><t>a</t></si><si><r><t>b</t></r><r><t>ig</t></r><rPh><t>spoken</t></rPh></si></sst>"
STYLES = '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'


def by_openpyxl(path: Path, rows: list[list[Any]], *others: str) -> Path:
    """A workbook with one sheet of cells, called Data, and others that are empty."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Data"
    for row in rows:
        sheet.append(row)
    for name in others:
        book.create_sheet(name).append(["other"])
    book.save(path)
    return path


def by_hand(path: Path, cells: str, **parts: str) -> Path:
    """A workbook with rows of XML; other parts may be given."""
    contents = {
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": LINKS,
        "xl/sharedStrings.xml": STRINGS,
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": SHEET.format(cells),
    } | {f"xl/{name}.xml": text for name, text in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return path
