"""Files as they are packed (gzip, bzip2, xz, zip, or not at all), read as blocks of bytes.

Nothing is trusted: data that end early, continue as something else or grow too much are refused with a sentence.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any

FREE = 2**26
"""Bytes that a packed file may always grow to, whatever its ratio: 64 MiB."""

RATIO = 300
"""Beyond that, a packed file may grow to this many times its size. Real tables reach 5 to 30; gzip reaches 300 for a
table in which one row in a thousand differs, 700 for a table of zeros; a bomb reaches 1,000 and more."""

XZ_MEMORY = 96 * 2**20
"""Bytes that unpacking xz may take: enough for its strongest preset, which asks for 65 MiB."""

READ = 2**16
"""Packed bytes read at once."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How a file in a zip may be packed: for other methods the standard library unpacks any amount at once."""

DAMAGE = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    struct.error,
    RuntimeError,
    ValueError,
    IndexError,
    OverflowError,
)
"""What the standard library raises for damaged files."""


def unpacked(stream: IO[bytes], start: bytes, label: str, size: int) -> Iterator[bytes]:
    """The bytes of a file, a block at a time.

    Args:
        stream: at its beginning; closed at the end.
        start: its first bytes, which tell how it is packed.
        label: what it is called in messages.
        size: of a block in bytes; the last may be shorter.
    """
    packed = Counted(stream)
    plain = find_packing(packed, start, label)
    total = 0
    with stream:
        while block := read_block(plain or stream, size, label, plain is not None):
            total += len(block)
            if plain is not None:
                check_growth(label, packed.count, total, "Decompress it yourself")
            yield block


def check_growth(label: str, packed: int, total: int, advice: str) -> None:
    """Refuse a file whose ``packed`` bytes have grown to far too many."""
    if total > max(FREE, RATIO * packed):
        raise ValueError(
            f"{label} must grow at most {RATIO:,}-fold when it is decompressed; {packed:,} bytes became {total:,} and "
            f"there are more. {advice} if you trust it."
        )


def read_block(stream: IO[bytes], size: int, label: str, packed: bool) -> bytes:
    """The next bytes of a stream, or a sentence about why there are none."""
    try:
        return stream.read(size)
    except DAMAGE as error:
        raise ValueError(f"{label} cannot be {'decompressed' if packed else 'read'}: {reason(error)}.") from error


def find_packing(stream: Any, start: bytes, label: str) -> IO[bytes] | None:
    """The stream without its packing, None if there is none."""
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    if start.startswith(b"BZh"):
        return io.BufferedReader(JoinedStreams(stream, bz2.BZ2Decompressor))
    if start.startswith(b"\xfd7zXZ"):
        return io.BufferedReader(JoinedStreams(stream, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY)))
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return open_zip(stream, label)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        raise ValueError(
            f"{label} must be plain, gzip, bzip2, xz or zip; it is compressed by zstd. Decompress it first."
        )
    return None


def open_zip(stream: Any, label: str) -> IO[bytes]:
    """The only file in an archive. An archive from a pipe is held in memory, because its index is at its end."""
    try:
        archive = zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read()))
        files = [file for file in archive.infolist() if not file.is_dir()]
    except DAMAGE as error:
        raise ValueError(f"{label} cannot be read as a zip: {reason(error)}.") from error
    if len(files) != 1:
        raise ValueError(f"{label} must hold one file to be read as a table; got {len(files)}. Take one out of it.")
    return open_file(archive, files[0], label)


def open_file(archive: zipfile.ZipFile, file: zipfile.ZipInfo, label: str) -> IO[bytes]:
    """A file in an archive."""
    if file.flag_bits & 1:
        raise ValueError(f"{label} must hold a file without a password; it has one. Take the file out of it first.")
    if file.compress_type not in METHODS:
        raise ValueError(
            f"{label} must be packed by deflate to be read as a zip; got method {file.compress_type}. "
            "Take the file out of it first."
        )
    try:
        return archive.open(file)
    except DAMAGE as error:
        raise ValueError(f"{label} cannot be read as a zip: {reason(error)}.") from error


def file_blocks(archive: zipfile.ZipFile, name: str, size: int, label: str) -> Iterator[bytes]:
    """The bytes of a file in an archive of ``size`` bytes, a block at a time, with the limits of any packed file."""
    total = 0
    with open_file(archive, archive.getinfo(name), label) as stream:
        while block := read_block(stream, READ, label, True):
            total += len(block)
            check_growth(label, size, total, "Save its sheet as CSV")
            yield block


class Counted:
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """As the stream's."""
        data = self.stream.read(size)
        self.count += len(data)
        return data

    def seekable(self) -> bool:
        """Whether it can be read from any place, as archives must be."""
        return self.stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        """As the stream's."""
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        """As the stream's."""
        return self.stream.tell()


class JoinedStreams(io.RawIOBase):
    """Compressed streams one after another, read as one file.

    The standard library's readers treat whatever follows the first stream and is not another stream as padding, so that
    a file with a damaged second stream silently loses its end. Here only zeros are padding.
    """

    def __init__(self, stream: Any, decompressor: Callable[[], Any]) -> None:
        self.stream = stream
        self.new = decompressor
        self.current = decompressor()
        self.waiting = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target as far as one step goes; 0 bytes are the end."""
        while True:
            if self.current.eof:
                data = self.current.unused_data
                while not (data := data.lstrip(b"\0")):
                    data = self.stream.read(READ)
                    if not data:
                        return 0
                self.current, self.waiting = self.new(), data
            data, self.waiting = self.waiting, b""
            if self.current.needs_input and not data:
                data = self.stream.read(READ)
                if not data:
                    raise EOFError("it ends too early")
            found = self.current.decompress(data, len(target))
            if found:
                target[: len(found)] = found
                return len(found)


def reason(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
