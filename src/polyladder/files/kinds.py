"""Kinds of files that commands write, and how an earlier one is recognized: by its first bytes, or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HEAD = 2**24
"""Bytes of a file that are inspected. The header of a model is text of a few kilobytes, or megabytes at most."""


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        words: what a message calls it.
        mark: what the first bytes of such files match, and those of other files do not; None where a file cannot show
            who wrote it.
        lasting: whether it is never replaced, because its content cannot be made again.
    """

    words: str
    mark: re.Pattern[bytes] | None = None
    lasting: bool = False

    def recognizes(self, path: Path) -> bool:
        """Whether a file is of this kind; an empty file counts, as nothing could be lost."""
        try:
            with path.open("rb") as file:
                head = file.read(HEAD)
        except OSError:
            return False
        return not head or (self.mark is not None and self.mark.match(head) is not None)


def first_line(language: str) -> str:
    """What the first line of an exported source says."""
    return f"Written by polyladder: {language}."


def source_kind(words: str, begin: str) -> Kind:
    """A source text that starts with a comment by `first_line`, whatever follows; with "" none is recognized."""
    return Kind(words, re.compile(re.escape(begin.strip().encode())) if begin else None)


def bundle(words: str, lasting: bool = False) -> Kind:
    """An archive whose first file is uncompressed and starts with its kind: the words without their article."""
    kind = words.removeprefix("a ").encode()
    return Kind(words, re.compile(rb'PK\x03\x04[\s\S]{26}polyladder\.json\{"kind": "' + kind + b'"'), lasting)


MODEL = Kind(
    "a model",
    # The length of a JSON header, then metadata in any order, each value a text.
    re.compile(
        rb'[\s\S]{8}\{"__metadata__":\{(?:"(?:version|header|sha256)":"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+",)*'
        rb'"format":"polyladder"'
    ),
)
PAGE = Kind(
    "a page",
    # It names its maker before anything else.
    re.compile(
        rb'<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*'
        rb'<meta name="generator" content="polyladder report">'
    ),
)
METRICS = Kind("metrics", re.compile(rb'\{\s*"format": "polyladder metrics \d'))
ONNX = Kind("an ONNX model", re.compile(rb"\x08[\s\S]\x12\x0apolyladder"))
RECIPE = Kind("a recipe", re.compile(rb'\{"format": "polyladder encrypted recipe \d'))
HEADER = source_kind("a C header", f"/* {first_line('C header')} */\n")
SECRET_KEY = bundle("a secret key", lasting=True)
PUBLIC_KEY = bundle("a public key", lasting=True)
ENCRYPTED_ROWS = bundle("encrypted rows")
ENCRYPTED_SCORES = bundle("encrypted scores")
TABLE = Kind("a CSV file")
PICTURE = Kind("a picture")
