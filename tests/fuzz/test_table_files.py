"""Files with tables: what is written is read again, and what is damaged is read or refused in a sentence."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import assume, given

from polyladder.tables.table_file import open_table
from tests.fuzz import fuzz
from tests.tables.workbooks import by_openpyxl

pytestmark = pytest.mark.slow

BLOCKS = st.one_of(st.integers(1, 40), st.sampled_from([100, 1000, 2**20]))
SEPARATORS = st.sampled_from([",", ";", "\t", "|"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
WILD = st.text(alphabet="ab1 \",;|\t\n\r'é€ß", max_size=8)

Cells = list[list[str]]


@st.composite
def tables(draw: st.DrawFn, cell: st.SearchStrategy[str] = WILD, fewest: int = 2) -> Cells:
    """Rows of equally many cells."""
    width = draw(st.integers(fewest, 5))
    return draw(st.lists(st.lists(cell, min_size=width, max_size=width), max_size=12))


def header(rows: Cells) -> list[str]:
    return [f"column {chr(97 + i)}" for i in range(len(rows[0]) if rows else 2)]


def written(rows: Cells, separator: str, end: str, quoting: int) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def read(data: bytes, block: int) -> tuple[list[str], list[list[str]]]:
    """The names and the cells of a table, missing ones as nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table")
        path.write_bytes(data)
        file = open_table(path, block)
        return list(file.names), [["" if cell is None else str(cell) for cell in row] for row in file.whole().rows()]


def read_or_said(data: bytes, block: int) -> list[list[str]] | str:
    """The cells of a table, or the one line that it is refused with."""
    try:
        return read(data, block)[1]
    except (ValueError, OSError) as error:
        said = str(error)
    assert "\n" not in said
    assert said.endswith(".")
    return said


@fuzz
@given(rows=tables(), separator=SEPARATORS, end=ENDS, encoding=ENCODINGS, block=BLOCKS, last=st.booleans())
def test_a_table_in_quotes_is_read_as_it_was_written(
    rows: Cells, separator: str, end: str, encoding: str, block: int, last: bool
) -> None:
    """Cells of any kind, cut into blocks anywhere; the last line may lack its end."""
    text = written([header(rows), *rows], separator, end, csv.QUOTE_ALL)
    data = (text if last else text.removesuffix(end)).encode(encoding)
    assert read(data, block) == (header(rows), rows)


@fuzz
@given(rows=tables(), separator=SEPARATORS, end=ENDS, block=BLOCKS)
def test_a_table_with_quotes_where_needed_is_read_as_it_was_written(
    rows: Cells, separator: str, end: str, block: int
) -> None:
    # Before Python 3.13, a writer quotes only line ends of its own kind.
    rows = [[cell.replace("\r", "").replace("\n", end) for cell in row] for row in rows]
    names, found = read(written([header(rows), *rows], separator, end, csv.QUOTE_MINIMAL).encode(), block)
    assert (names, found) == (header(rows), rows)


@fuzz
@given(
    rows=tables(st.text(alphabet="ab1 'é\x0b\x85\u2028", max_size=5), fewest=1),
    blanks=st.lists(st.integers(0, 12), max_size=6),
    short=st.lists(st.integers(0, 11), max_size=4),
    end=ENDS,
    block=BLOCKS,
)
def test_blank_lines_are_no_rows_and_short_rows_are_filled(
    rows: Cells, blanks: list[int], short: list[int], end: str, block: int
) -> None:
    """A blank line in a table of one column is a row without a value."""
    width = len(header(rows))
    lines = [";".join(row) for row in rows]
    for i in short:
        if i < len(rows) and rows[i][0]:
            lines[i], rows[i] = rows[i][0], [rows[i][0]] + [""] * (width - 1)
    for i in sorted(blanks, reverse=True):
        lines.insert(i, "")
        if width == 1:
            rows.insert(i, [""])
    data = end.join([";".join(header(rows or [[""] * width])), *lines, ""]).encode()
    assert read(data, block)[1] == rows


@fuzz
@given(
    rows=st.lists(st.lists(st.text(alphabet='a1" ', max_size=6), min_size=2, max_size=2), min_size=1, max_size=12),
    end=ENDS,
    block=BLOCKS,
)
def test_stray_quotes_are_read_as_the_csv_module_does_or_refused(rows: Cells, end: str, block: int) -> None:
    """Refused is only what the strict rules forbid: a quote left open, or text after a cell of several lines."""
    text = "a,b" + end + "".join(",".join(row) + end for row in rows)
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    found = read_or_said(text.encode(), block)
    if isinstance(found, list):
        assert found == [row + [""] * (2 - len(row)) for row in expected]
    elif "must have 2 cells" in found:
        assert max(map(len, expected)) > 2
    else:
        line = int(re.findall(r"in line (\d+) is left open", found)[0])
        assert '"' in text.split(end)[line - 1]
        # It opens a cell that goes beyond its line.
        assert any(end in cell for row in expected for cell in row)


@fuzz
@given(
    rows=tables(st.text(alphabet="ab1 é,;\n", max_size=6)),
    cell=st.text(alphabet="ab1 é", max_size=6),
    end=ENDS,
    block=BLOCKS,
    place=st.integers(0, 12),
)
def test_a_quote_left_open_is_found_wherever_it_is(rows: Cells, cell: str, end: str, block: int, place: int) -> None:
    """What follows it has no quotes, so that nothing closes it."""
    place = min(place, len(rows))
    rows = [[cell.replace("\n", end) for cell in row] for row in rows]
    before = written([header(rows), *rows[:place]], ",", end, csv.QUOTE_ALL)
    after = "".join("x,y" + end for _ in rows[place:])
    text = f'{before}1,"{cell}{end}{after}'
    with pytest.raises(ValueError, match=r"the one in line \d+ is left open") as caught:
        read(text.encode(), block)
    assert f"in line {before.count(end) + 1} is" in str(caught.value)


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", data)
    return packed.getvalue()


def twice(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Packed as two streams, one after the other."""
    return lambda data: pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


PACKED = {
    "gzip": gzip.compress,
    "two gzip": twice(gzip.compress),
    "bzip2": bz2.compress,
    "two bzip2": twice(bz2.compress),
    "xz": lzma.compress,
    "two xz": twice(lzma.compress),
    "zip": zipped,
}
PLAIN = "a,b\n" + "".join(f'{i},"x{i * i} é"\n' for i in range(60))


@st.composite
def damages(draw: st.DrawFn, data: bytes, first: int = 0) -> bytes:
    """Some bytes flipped, cut out, inserted or repeated."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(first, max(first, len(data) - 1)))
        until = at + draw(st.integers(1, 20))
        some = draw(st.binary(min_size=1, max_size=8))
        data = draw(
            st.sampled_from(
                [
                    data[:at] + some + data[at + len(some) :],
                    data[:at] + some + data[at:],
                    data[:at] + data[until:],
                    data[:until] + data[at:],
                    data[:at],
                ]
            )
        )
    return data


@fuzz
@given(data=st.data(), block=BLOCKS)
def test_damaged_text_is_read_or_refused(data: st.DataObject, block: int) -> None:
    encoding = data.draw(ENCODINGS)
    text = data.draw(damages(PLAIN.replace("\n", data.draw(ENDS)).encode(encoding)))
    found, again = read_or_said(text, block), read_or_said(text, 2**20)
    assert isinstance(found, list) == isinstance(again, list)
    if isinstance(found, list):
        assert found == again


JSON = "".join(json.dumps({"a": i, "b": f"x{i} é", "c": i % 2 == 0}) + "\n" for i in range(20))


@fuzz
@given(data=st.data(), block=BLOCKS)
def test_damaged_json_is_read_or_refused_whatever_the_block(data: st.DataObject, block: int) -> None:
    lines = data.draw(damages(JSON.encode()))
    text = data.draw(st.sampled_from([lines, b"[" + lines.strip().replace(b"\n", b",") + b"]"]))
    found, again = read_or_said(text, block), read_or_said(text, 2**20)
    assert isinstance(found, list) == isinstance(again, list)
    if isinstance(found, list):
        assert found == again


@fuzz
@given(data=st.data(), cells=st.lists(st.lists(st.one_of(st.none(), st.integers(), st.text("a<&é\n")), max_size=4)))
def test_damaged_workbooks_are_read_or_refused(data: st.DataObject, cells: list[list[int | str | None]]) -> None:
    """The XML inside is damaged, which no checksum shows."""
    with tempfile.TemporaryDirectory() as folder:
        whole = by_openpyxl(Path(folder, "b.xlsx"), [["a", "b", "c", "d"], *cells]).read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    damaged = data.draw(st.sampled_from([name for name in parts if name.startswith("xl/")]))
    parts[damaged] = data.draw(damages(parts[damaged]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    read_or_said(packed.getvalue(), 2**20)


@pytest.mark.parametrize("packing", PACKED)
@fuzz
@given(data=st.data(), block=BLOCKS)
def test_damaged_packing_is_refused(packing: str, data: st.DataObject, block: int) -> None:
    """All of these carry checksums: rows are right, or there are none."""
    whole = PACKED[packing](PLAIN.encode())
    damaged = data.draw(damages(whole, first=6))
    assume(damaged != whole)
    found = read_or_said(damaged, block)
    assert isinstance(found, str) or found == read(PLAIN.encode(), block)[1]


SERVER = """
import sys
from polyladder.tables.table_file import open_table

for line in sys.stdin:
    try:
        print("rows", sum(map(len, open_table(line.strip()).chunks)), flush=True)
    except (ValueError, OSError) as error:
        print("said", error, flush=True)
    except BaseException as error:
        print("raised", type(error), error, flush=True)
"""


class Server:
    """Reads tables in a process of its own: damaged Parquet can make polars end it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "table"
        self.log = folder / "log"
        self.start()

    def start(self) -> None:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )

    def read(self, data: bytes) -> str:
        """The answer, which is empty if the process has ended."""
        self.path.write_bytes(data)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        limit = threading.Timer(60, self.process.kill)
        limit.start()
        print(self.path, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        limit.cancel()
        return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.process.kill()
    server.process.wait()


@fuzz
@given(data=st.data(), compression=st.sampled_from(["zstd", "snappy", "gzip", "uncompressed"]))
def test_damaged_parquet_is_refused_or_has_all_its_rows(server: Server, data: st.DataObject, compression: str) -> None:
    """Unless polars asks for more memory than there is and ends the process, which nobody can catch."""
    whole = io.BytesIO()
    frame = pl.DataFrame({"n": range(60), "x": [i / 7 for i in range(60)], "text": ["aa", None, "b"] * 20})
    frame.write_parquet(whole, compression=compression, row_group_size=25)
    answer = server.read(data.draw(damages(whole.getvalue(), first=4)))
    if answer:
        assert answer == "rows 60" or (answer.startswith("said") and answer.endswith(".")), answer
    else:
        server.process.wait()
        said = server.log.read_text()
        server.start()
        assert "memory allocation of" in said


PEAK = """
import sys
from pathlib import Path
from polyladder.tables.table_file import open_table

def kilobytes(what):
    status = Path("/proc/self/status").read_text()
    return int(status.split(what + ":")[1].split()[0])

for _ in range(2):
    # Libraries and their threads take memory at first use.
    before = kilobytes("VmRSS")
    try:
        for chunk in open_table(sys.argv[1 + _]).chunks:
            del chunk
    except ValueError as error:
        assert "\\n" not in str(error)
print((kilobytes("VmHWM") - before) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="The peak of memory is read from /proc.")
@pytest.mark.parametrize(
    ("start", "repeated"),
    [
        (b"a,b\n", b"\n"),
        (b"a\r", b"\r"),
        (b"a,b\n", b'"'),
        (b"a,b\n", b'a",b"\n'),
        (b"", b","),
        (b"a,b\n", b","),
        (b"a,b\n", b"1\n"),
        (b'a,b\n1,"', b"1,1\n"),
    ],
)
def test_memory_is_bounded_whatever_the_file(start: bytes, repeated: bytes, tmp_path: Path) -> None:
    """By ten times the file and 100 MB."""
    size = 2**20
    (tmp_path / "small.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "t.csv").write_bytes(start + repeated * (size // len(repeated)))
    arguments = [sys.executable, "-c", PEAK, tmp_path / "small.csv", tmp_path / "t.csv"]
    found = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 10 * size + 100e6


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="The peak of memory is read from /proc.")
def test_memory_is_bounded_whatever_a_packed_file_becomes(tmp_path: Path) -> None:
    """4 GB; what is read until it is refused is 64 MiB."""
    (tmp_path / "small.csv").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "t.csv.bz2").write_bytes(bz2.compress((b"x" * 65_535 + b"\n") * 256) * 256)
    arguments = [sys.executable, "-c", PEAK, tmp_path / "small.csv", tmp_path / "t.csv.bz2"]
    found = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert int(found.stdout) < 200e6
