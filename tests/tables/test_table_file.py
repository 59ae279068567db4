"""Files as they come: separators, encodings, chunks, Parquet."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from polyladder.tables.table_file import find_separator, open_table, settle_names


def cells(path: Path, block: int = 2**20) -> list[tuple[str | None, ...]]:
    return open_table(path, block).whole().rows()


@pytest.mark.parametrize(
    ("sample", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a\n1\n2\n", ""),
        ("a b\n1 2\n", ""),
        ('"x;y",b,c\n1,2,3\n', ","),
        ('a,"text; with; many"\n1,"p;q;r"\n2,"s"\n', ","),
    ],
)
def test_the_separator_is_the_one_that_cuts_evenly(sample: str, separator: str) -> None:
    assert find_separator(sample) == separator


def test_names_are_made_different() -> None:
    names, notes = settle_names(["a", "", "a", " a ", "a (2)"])
    assert names == ("a", "column 2", "a (2)", "a (3)", "a (2) (2)")
    assert len(notes) == 3


@pytest.mark.slow
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


def test_notes_tell_of_short_rows_and_blank_lines_once_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\na,b\n1\n\n2,x\n\n\n3\n\n\n")
    for block in (2, 5, 1000):
        file = open_table(tmp_path / "t.csv", block)
        assert len(file.whole()) == 3
        assert file.notes == [
            "2 rows have fewer cells than the header: the rest is read as missing.",
            "3 blank lines are left out.",
        ]
    (tmp_path / "t.csv").write_text("a,b\n1\n\n2,x\n\n")
    file = open_table(tmp_path / "t.csv")
    file.whole()
    assert file.notes == [
        "1 row has fewer cells than the header: the rest is read as missing.",
        "1 blank line is left out.",
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\r\n\r", b"  \n ", "\u00a0".encode(), b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\n\n"]
)
@pytest.mark.parametrize("block", [1, 1000])
def test_files_with_nothing_in_them(data: bytes, block: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(ValueError, match=r"must hold a header and rows; it is empty\.$"):
        open_table(tmp_path / "t.csv", block)


def test_long_cells_are_read_in_headers_and_rows(tmp_path: Path) -> None:
    name, cell = "n" * 140_000, "c" * 140_000
    # Python's csv module stops at 131,072 characters.
    (tmp_path / "t.csv").write_text(f'{name},b\n{cell},1\n5" pipe,"{cell}"\n')
    file = open_table(tmp_path / "t.csv", 1000)
    assert file.names == (name, "b")
    assert file.whole().rows() == [(cell, "1"), ('5" pipe', cell)]


def test_a_header_of_tabs_is_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("\t\n1\t2\n")
    file = open_table(tmp_path / "t.tsv")
    assert file.names == ("column 1", "column 2")
    assert file.whole().rows() == [("1", "2")]


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a," * 2**15 + "a\n")
    with pytest.raises(ValueError, match="must have at most 32,768 columns; got 32,769"):
        open_table(tmp_path / "t.csv")


def test_frames_of_wide_tables_with_short_rows_stay_small(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a," * 4095 + "a\n" + "1\n" * 1000)
    heights = [len(chunk) for chunk in open_table(tmp_path / "t.csv").chunks]
    assert sum(heights) == 1000
    assert max(heights) * 4096 <= 2**20


@pytest.mark.parametrize("block", [1, 2, 3, 100, 2**20])
def test_encodings_are_found_whatever_the_block(block: int, tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "windows-1252"):
        bom = "\ufeff" if encoding.endswith("e") else ""
        (tmp_path / "t.csv").write_bytes((bom + "größe,b\n1,é\n2,€").encode(encoding))
        file = open_table(tmp_path / "t.csv", block)
        assert file.names == ("größe", "b")
        assert file.whole().rows() == [("1", "é"), ("2", "€")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a,b\n1,é\n".encode("utf-16")[:-1], "must be UTF-16 text throughout; what follows its first 16 bytes is not"),
        (b"\xff\xfe\x00", "must be UTF-16 text throughout"),
        (b"\xff\xfea\0\x00\xd8b\0", "must be UTF-16 text throughout"),
        (
            b"a,b\n" + b"1,2\n" * 20_000 + b"\xff,3\n",
            "must be UTF-8 text throughout; what follows its first 80,004 bytes",
        ),
        ("a,b\n1,é\n2,é".encode()[:-1], "must be UTF-8 text throughout; what follows its first 11 bytes is not"),
    ],
)
@pytest.mark.parametrize("block", [100, 1000])
def test_text_in_two_encodings_or_cut_within_a_character_is_refused(
    data: bytes, said: str, block: int, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(ValueError, match=said):
        cells(tmp_path / "t.csv", block)


def test_a_block_border_within_the_first_letter_is_no_other_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"1,2\n" * 20_000 + "é,3\n".encode())
    file = open_table(tmp_path / "t.csv", 80_005)
    assert file.whole()[-1].rows() == [("é", "3")]
    assert file.notes == []


def test_parquet_comes_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"n": range(1000), "text": ["x", None] * 500})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    monkeypatch.setattr("polyladder.tables.table_file.PARQUET_ROWS", 100)
    file = open_table(tmp_path / "t.parquet")
    assert file.names == ("n", "text")
    chunks = list(file.chunks)
    assert len(chunks) >= 10
    assert pl.concat(chunks).equals(frame)


@pytest.mark.slow
def test_parquet_through_a_pipe_and_from_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": [1, 2], "text": ["x", None]}).write_parquet(path)
    code = "from polyladder.tables.table_file import open_table; print(open_table('-').whole().rows())"
    for how in ({"input": path.read_bytes()}, {"stdin": path.open("rb")}):
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, **how)
        assert found.stdout == b"[(1, 'x'), (2, None)]\n"


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": range(1000), "text": ["x", None] * 500}).write_parquet(path, compression="zstd")
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:100], whole[:4] + bytes(200) + whole[204:], b"PAR1", b"PAR1" * 3):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="cannot be read as Parquet") as caught:
            open_table(path).whole()
        assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_parquet_with_a_wrong_index_is_refused_rather_than_read_in_part(tmp_path: Path) -> None:
    """At some of these bytes polars panics, which is no Exception; at others it gives fewer rows and says nothing."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": range(300)}).write_parquet(path, compression="uncompressed", statistics=False)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for at in range(footer, len(whole) - 8):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert len(open_table(path).whole()) == 300
        except ValueError:
            refused += 1
    assert refused > 10
