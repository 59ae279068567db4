"""Files as they come: compression, separators, encodings, chunks."""

import bz2
import csv
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from polyladder.data.read_table import find_separator, open_table, settle_names

TEXT = "a,b\n1,x\n2,y\n"


def cells(path: Path, block: int = 2**20) -> list[tuple[str | None, ...]]:
    return open_table(path, block).whole().rows()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_found_by_looking_inside(pack, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(pack(TEXT.encode()))
    assert cells(tmp_path / "t") == [("1", "x"), ("2", "y")]


def test_a_zip_with_one_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", TEXT)
    assert cells(tmp_path / "t.zip") == [("1", "x"), ("2", "y")]
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("u.csv", TEXT)
    with pytest.raises(ValueError, match="must hold one file to be read as a table; got 2"):
        open_table(tmp_path / "t.zip")


def test_zstd_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"\x28\xb5\x2f\xfd and more")
    with pytest.raises(ValueError, match="it is compressed by zstd"):
        open_table(tmp_path / "t")


@pytest.mark.parametrize(
    ("sample", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a\n1\n2\n", ","),
        ('"x;y",b,c\n1,2,3\n', ","),
        ('a,"text; with; many"\n1,"p;q;r"\n2,"s"\n', ","),
    ],
)
def test_the_separator_is_the_one_that_cuts_evenly(sample: str, separator: str) -> None:
    assert find_separator(sample.encode()) == separator


def test_names_are_made_different() -> None:
    names, notes = settle_names(["a", "", "a", " a ", "a (2)"])
    assert names == ("a", "column 2", "a (2)", "a (3)", "a (2) (2)")
    assert len(notes) == 3


@settings(max_examples=60)
@given(
    table=st.lists(
        st.lists(st.text(alphabet='ab",;\n\r é€', max_size=6), min_size=3, max_size=3), min_size=1, max_size=12
    ),
    block=st.sampled_from([7, 20, 64, 10_000]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_table_that_a_csv_writer_writes_is_read_back(
    table: list[list[str]], block: int, end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut into blocks anywhere, also within quoted cells and within characters of several bytes."""
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["first", "second", "third"])
    writer.writerows(table)
    path.write_bytes(text.getvalue().encode())
    found = [tuple(cell or "" for cell in row) for row in cells(path, block)]
    assert found == [tuple(row) for row in table]


def test_blocks_are_cut_between_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + '1,"x\ny"\n' * 100)
    chunks = list(open_table(tmp_path / "t.csv", 64).chunks)
    assert len(chunks) > 5
    assert pl.concat(chunks).rows() == [("1", "x\ny")] * 100


def test_short_rows_are_filled_and_long_ones_refused_by_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1\n2,x\n\n")
    assert cells(tmp_path / "t.csv") == [("1", None), ("2", "x")]
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 50 + "1,2,3\n")
    with pytest.raises(ValueError, match=r"Row 51 of .* must have 2 cells as its header has; got 3"):
        cells(tmp_path / "t.csv", 40)


def test_a_quote_inside_a_cell_is_a_character(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\n5" pipe,1\n6" pipe,2\n')
    assert cells(tmp_path / "t.csv") == [('5" pipe', "1"), ('6" pipe', "2")]


def test_a_quote_left_open_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.data.read_table.LONGEST_CELL", 1000)
    (tmp_path / "t.csv").write_text('a,b\n1,"x\n' + "1,2\n" * 1000)
    with pytest.raises(ValueError, match="a quote must have been left open"):
        cells(tmp_path / "t.csv", 100)


def test_text_that_stops_being_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * 100 + b"\xff,3\n")
    with pytest.raises(ValueError, match="must be UTF-8 text throughout"):
        cells(tmp_path / "t.csv", 100)


def test_parquet_comes_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"n": range(1000), "text": ["x", None] * 500})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    monkeypatch.setattr("polyladder.data.read_table.PARQUET_ROWS", 100)
    file = open_table(tmp_path / "t.parquet")
    assert file.names == ("n", "text")
    chunks = list(file.chunks)
    assert len(chunks) >= 10
    assert pl.concat(chunks).equals(frame)
