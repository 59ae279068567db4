"""Downloads: at the end a file holds the published bytes, or it does not exist."""

from __future__ import annotations

import hashlib
import os
import uuid
import zipfile
from collections.abc import Sequence
from http.client import PARTIAL_CONTENT, REQUESTED_RANGE_NOT_SATISFIABLE, HTTPException
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from polyladder_lab.datasets.readers import SUFFIXES, decompress

TIMEOUT = 30.0
TRIES = 3
BLOCK = 1 << 16


def download(urls: Sequence[str], target: Path, sha256: str, timeout: float = TIMEOUT) -> Path:
    """Fetch a file from the first address that has it, with a progress bar on stderr.

    Bytes arrive in a temporary file beside the target, which is renamed once its content has the checksum. An
    interrupted download leaves a ``.part`` file, and the next one asks the server for the rest only.

    Args:
        urls: addresses of the same content, plain, compressed or in a .zip.
        target: path of the uncompressed file; the suffix of a compression is added to it.
        sha256: of the uncompressed content.
        timeout: seconds without a byte after which a server counts as stalled.

    Returns:
        The path of the file.

    Raises:
        OSError: no address gave the content; the message has the reason for each.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for url in urls:
        try:
            return download_from(url, target, sha256, timeout)
        # HTTPException is not an OSError, and a wrong content is a ValueError; the next address may do better.
        except (OSError, HTTPException, ValueError) as error:
            failures.append(f"{url} ({str(error) or type(error).__name__})")
    raise OSError(f"{target.name} could not be downloaded from {' or '.join(failures)}.")


def download_from(url: str, target: Path, sha256: str, timeout: float) -> Path:
    """Fetch a file from one address, as `download` describes it."""
    # A name for each address: the bytes of one must not continue those of another.
    left_over = target.with_name(f"{target.name}.{hashlib.sha256(url.encode()).hexdigest()[:8]}.part")
    # Two processes may want the file at once: each works under its own name, and then renames its file.
    own = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    try:
        os.replace(left_over, own)
    except FileNotFoundError:
        own.touch()
    resumed = own.stat().st_size > 0
    try:
        fetch(url, own, target.name, timeout)
        suffix, received = unpack(own.read_bytes(), url, target.name)
        verify(received, suffix, sha256)
        own.write_bytes(received)
        complete = target.with_name(target.name + suffix)
        os.replace(own, complete)
        return complete
    except (ValueError, HTTPError) as error:
        if isinstance(error, HTTPError) and error.code != REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        own.unlink()
        # An earlier part may be the fault, as the file on the server may have changed since: try again from the first
        # byte.
        if not resumed:
            raise
        return download_from(url, target, sha256, timeout)
    finally:
        if own.exists():
            if own.stat().st_size:
                os.replace(own, left_over)
            else:
                own.unlink()


def fetch(url: str, path: Path, label: str, timeout: float) -> None:
    """Append the bytes that the file still lacks, and ask again where a connection broke."""
    for left in reversed(range(TRIES)):
        size = path.stat().st_size
        try:
            return fetch_once(url, path, label, timeout)
        except (OSError, HTTPException):
            # Ask again only if something arrived: a server that sends nothing will not do better.
            if left == 0 or path.stat().st_size <= size:
                raise


def fetch_once(url: str, path: Path, label: str, timeout: float) -> None:
    """One request for the bytes that the file lacks."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    size = path.stat().st_size
    headers = {"User-Agent": "polyladder"} | ({"Range": f"bytes={size}-"} if size else {})
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with (
        urlopen(Request(url, headers=headers), timeout=timeout) as response,
        path.open("ab") as file,
        Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress,
    ):
        if response.status != PARTIAL_CONTENT:
            # The server sends all of it, whatever was asked for.
            file.truncate(0)
            size = 0
        length = response.headers["Content-Length"]
        total = None if length is None else size + int(length)
        task = progress.add_task(label, total=total, completed=size)
        # read1 returns what has arrived; read would wait until the block is full, and lose it in a stall.
        while block := response.read1(BLOCK):
            size += file.write(block)
            progress.update(task, completed=size)
    # http.client mistakes an early end of the connection for the end of the file.
    if total is not None and size < total:
        raise ConnectionError(f"the connection ended after {size} of {total} bytes")


def unpack(received: bytes, url: str, name: str) -> tuple[str, bytes]:
    """The compression's suffix and the bytes of the file itself, taken out of its archive if the address is one."""
    suffix = PurePosixPath(urlsplit(url).path).suffix
    if suffix != ".zip":
        return (suffix if suffix in SUFFIXES else ""), received
    try:
        with zipfile.ZipFile(BytesIO(received)) as archive:
            for member in archive.namelist():
                for suffix in SUFFIXES:
                    if PurePosixPath(member).name == name + suffix:
                        return suffix, archive.read(member)
            raise ValueError(f"the archive must contain {name}; got {archive.namelist()}")
    except zipfile.BadZipFile as error:
        raise ValueError(f"the answer must be a zip archive; got {len(received)} bytes: {error}") from error


def verify(received: bytes, suffix: str, sha256: str) -> None:
    """Raise ValueError unless the content has the checksum."""
    found = hashlib.sha256(decompress(received, suffix)).hexdigest()
    if found != sha256:
        raise ValueError(f"the content must have sha256 {sha256}; got {found}")
