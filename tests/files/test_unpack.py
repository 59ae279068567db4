"""Packed files: read, or refused in one sentence."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from polyladder.tables.table_file import open_table

ROWS = [(str(i), str(i * i)) for i in range(2000)]
TEXT = ("a,b\n" + "".join(f"{a},{b}\n" for a, b in ROWS)).encode()
PACKINGS = [gzip.compress, bz2.compress, lzma.compress]


def refusal(path: Path, data: bytes) -> str:
    """The sentence that a file is refused with."""
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"^{path} ") as caught:
        open_table(path).whole()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def archive(*names: str, data: bytes = TEXT, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file:
        for name in names:
            file.writestr(name, b"" if name.endswith("/") else data)
    return packed.getvalue()


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


@pytest.mark.parametrize("pack", [bytes, *PACKINGS])
def test_packing_is_found_by_looking_inside(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(pack(TEXT))
    assert open_table(tmp_path / "t").whole().rows() == ROWS


@pytest.mark.parametrize("pack", PACKINGS)
def test_several_streams_are_one_file(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(pack(TEXT[:5000]) + pack(b"") + pack(TEXT[5000:]) + bytes(8))
    assert open_table(tmp_path / "t", 1000).whole().rows() == ROWS


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("block", [1000, 2**20])
def test_what_is_damaged_or_cut_off_is_refused(pack: Callable[[bytes], bytes], block: int, tmp_path: Path) -> None:
    packed = pack(TEXT)
    half = len(packed) // 2
    for data in (
        packed[:-1],
        packed[:half],
        packed[:12],
        changed(packed, half, packed[half] ^ 255),
        packed + b"trailing",
        packed + changed(pack(TEXT), 1, 0),
    ):
        assert "cannot be decompressed" in refusal(tmp_path / "t", data)


def test_wrong_flags_in_a_gzip_header_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT)
    assert "cannot be decompressed" in refusal(tmp_path / "t.gz", changed(packed, 2, 99))
    assert "cannot be decompressed" in refusal(tmp_path / "t.gz", changed(packed, 3, 255))
    garbled = packed[:10] + bytes(100) + packed[110:]
    with pytest.raises(zlib.error):
        gzip.decompress(garbled)
    assert "cannot be decompressed" in refusal(tmp_path / "t.gz", garbled)


def test_a_zip_must_hold_one_file(tmp_path: Path) -> None:
    (tmp_path / "t.zip").write_bytes(archive("folder/", "folder/t.csv"))
    assert open_table(tmp_path / "t.zip").whole().rows() == ROWS
    for names, count in (((), 0), (("folder/",), 0), (("t.csv", "u.csv"), 2)):
        said = refusal(tmp_path / "t.zip", archive(*names))
        assert said.endswith(f"must hold one file to be read as a table; got {count}. Take one out of it.")


def test_a_zip_that_cannot_be_unpacked_is_refused(tmp_path: Path) -> None:
    packed = archive("t.csv")
    start, index = packed.index(b"PK\x03\x04"), packed.index(b"PK\x01\x02")
    assert "cannot be read as a zip" in refusal(tmp_path / "t.zip", packed[:-30])
    assert "cannot be read as a zip" in refusal(tmp_path / "t.zip", packed[:200])
    garbled = packed[:60] + bytes(100) + packed[160:]
    assert "cannot be decompressed" in refusal(tmp_path / "t.zip", garbled)
    encrypted = changed(changed(packed, start + 6, 1), index + 8, 1)
    assert "must hold a file without a password" in refusal(tmp_path / "t.zip", encrypted)
    unknown = packed[:index] + packed[index:].replace(packed[index + 10 : index + 12], struct.pack("<H", 97), 1)
    assert zipfile.ZipFile(io.BytesIO(unknown)).infolist()[0].compress_type == 97
    assert "must be packed by deflate to be read as a zip; got method 97" in refusal(tmp_path / "t.zip", unknown)
    assert "got method 12" in refusal(tmp_path / "t.zip", archive("t.csv", method=zipfile.ZIP_BZIP2))


@pytest.mark.slow
@pytest.mark.parametrize("pack", [*PACKINGS, lambda data: archive("t.csv", data=data)])
def test_what_grows_without_measure_is_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(b"a,b\n" + b"\n" * 2**24)
    (tmp_path / "t").write_bytes(packed)
    assert len(open_table(tmp_path / "t").whole()) == 0
    monkeypatch.setattr("polyladder.files.unpack.FREE", 2**20)
    said = refusal(tmp_path / "t", packed)
    assert "must grow at most 300-fold when it is decompressed" in said
    assert said.endswith("Decompress it yourself if you trust it.")


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKINGS)
def test_a_repetitive_table_below_the_limit_is_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(pack(b"a,b\n" + b"0,0\n" * 2**19))
    assert sum(map(len, open_table(tmp_path / "t").chunks)) == 2**19


def test_zstd_is_refused_by_name(tmp_path: Path) -> None:
    assert "it is compressed by zstd" in refusal(tmp_path / "t", b"\x28\xb5\x2f\xfd and more")
