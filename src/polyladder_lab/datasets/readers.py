"""File formats: from the bytes of a data set's files to features and target."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyladder_lab.datasets.catalog import Entry

DECOMPRESS = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}
SUFFIXES = ("", *DECOMPRESS)


def decompress(content: bytes, suffix: str) -> bytes:
    """The uncompressed bytes of a file. Its suffix names the compression; any other suffix means that there is none.

    Raises:
        ValueError: the compressed bytes are damaged or end too soon.
    """
    if suffix not in DECOMPRESS:
        return content
    try:
        return DECOMPRESS[suffix](content)
    # Each library raises its own errors for damaged bytes, and those of gzip and bz2 are OSErrors that name no file.
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"content must be a whole {suffix} file; got {len(content)} bytes: {error}.") from error


def read_content(path: Path, sha256: str | None) -> bytes:
    """The uncompressed bytes of a file, compared with their checksum.

    Args:
        path: the file, compressed or not.
        sha256: of the uncompressed content; None to take it as it is.
    """
    advice = "Delete it, and loading will download it again, or put a good copy in its place."
    try:
        content = decompress(path.read_bytes(), path.suffix)
    except ValueError as error:
        raise ValueError(f"{path} must hold the published bytes; {error} {advice}") from error
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        raise ValueError(f"{path} must have content of sha256 {sha256}; got {found}. {advice}")
    return content


def read_features_target(entry: Entry, contents: Sequence[bytes]) -> tuple[NDArray[np.float64], NDArray[np.generic]]:
    """Features and target of a data set.

    Args:
        entry: what the catalog says of it.
        contents: uncompressed, one for each of ``entry.files``.

    Returns:
        Features (n, d) in float64, and the target (n,): float64, or the class codes 0, 1, ... in int64.
    """
    features: NDArray[np.generic]
    target: NDArray[np.generic]
    match entry.format:
        case "decimal-table":
            table = number_table(contents[0], entry.rows, np.float64)
            features, target = table[:, : entry.features], table[:, entry.features]
        case "integer-table":
            table = number_table(contents[0], entry.rows, np.int32)
            features, label = table[:, : entry.features], table[:, entry.features]
            # Both tables of this form count their classes from 1.
            target = label - 1 if entry.positive_label is None else label == entry.positive_label
        case "letter-table":
            lines = contents[0].split()
            features = number_table(b"\n".join(line[2:] for line in lines), entry.rows, np.int32)
            target = np.array([line[0] - ord("A") for line in lines])
        case "idx":
            images, labels = contents[0::2], contents[1::2]
            features = np.concatenate([idx_array(image) for image in images])
            target = np.concatenate([idx_array(label) for label in labels])
        case "svmlight":
            features, label = svmlight_table(contents, entry.features)
            target = label - 1
        case "scikit-learn":
            features, target = scikit_learn_table(entry.name)
    rows = np.ascontiguousarray(features.reshape(len(features), -1), dtype=np.float64)
    target = np.ascontiguousarray(target, dtype=np.float64 if entry.task == "regression" else np.int64)
    if rows.shape != (entry.rows, entry.features) or target.shape != (entry.rows,):
        raise ValueError(
            f"{entry.name} must have {entry.rows} rows of {entry.features} features; got features of shape "
            f"{rows.shape} and a target of shape {target.shape}. Replace its files in the data folder."
        )
    return rows, target


def number_table(text: bytes, rows: int, dtype: type[np.float64 | np.int32]) -> NDArray[np.generic]:
    """Numbers separated by commas or white space. Shape (rows, columns).

    Whole numbers are read as such: that takes a fifth of the time of reading them as floats.
    """
    found = numbers(text.replace(b",", b" "), dtype)
    if found.size == 0 or found.size % rows:
        raise ValueError(f"the table must have {rows} rows of equal length; got {found.size} numbers.")
    return found.reshape(rows, -1)


def numbers(text: bytes, dtype: type[np.float64 | np.int32 | np.int64]) -> NDArray[np.generic]:
    """The numbers in a text that separates them by white space. Shape (size,)."""
    if not text.strip():
        return np.empty(0, dtype)
    with warnings.catch_warnings():
        # Where a text is not a number, NumPy only warns, and returns the numbers before it.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            # One call in C over the whole text: a space as separator stands for any white space, line ends included.
            return np.fromstring(text, dtype=dtype, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            raise ValueError(f"content must be numbers only; got {text[:60]!r}...") from error


def idx_array(content: bytes) -> NDArray[np.uint8]:
    """An array in the IDX format of MNIST: two zero bytes, type, number of dimensions, sizes, values."""
    zero, kind, dimensions = content[:2], content[2:3], content[3:4]
    start = 4 + 4 * int.from_bytes(dimensions)
    shape = np.frombuffer(content[4:start], dtype=">u4")
    values = np.frombuffer(content[start:], dtype=np.uint8)
    if zero != b"\0\0" or kind != b"\x08" or values.size != shape.prod():
        raise ValueError(f"content must be an IDX array of unsigned bytes; got {content[:start][:16]!r}.")
    return values.reshape(shape)


def svmlight_table(contents: Sequence[bytes], features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features (n, features) and labels (n,) of files in the format of LIBSVM, dense, one below the other."""
    from sklearn.datasets import load_svmlight_file

    tables, labels = zip(*(load_svmlight_file(io.BytesIO(c), n_features=features) for c in contents), strict=True)
    return np.concatenate([table.toarray() for table in tables]), np.concatenate(labels)


def scikit_learn_table(name: str) -> tuple[NDArray[np.float64], NDArray[np.generic]]:
    """Features and target of a table that ships with scikit-learn."""
    from sklearn import datasets

    if name == "diabetes":
        bunch = datasets.load_diabetes(scaled=False)
    else:
        bunch = getattr(datasets, "load_" + name.replace("-", "_"))()
    return bunch.data, bunch.target
