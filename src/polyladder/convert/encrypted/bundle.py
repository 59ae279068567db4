"""Files exchanged by client and server: named parts in one archive, with the ids of what they belong to.

A file may come from anyone. Nothing in it is read before its size is known. A file that belongs to another model,
recipe or key is refused: numbers computed from it would look like predictions.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, dataclass, fields
from typing import Literal

from polyladder.files.unpack import DAMAGE

Kind = Literal["secret key", "public key", "encrypted rows", "encrypted scores"]

WORDS = {
    "secret key": "a secret key",
    "public key": "a public key",
    "encrypted rows": "encrypted rows",
    "encrypted scores": "encrypted scores",
}
"""What messages call each kind of file."""

HEAD = "polyladder.json"
"""The part that says what a file is."""


@dataclass(frozen=True)
class Ids:
    """What a file belongs to.

    Attributes:
        model: see `polyladder.convert.encrypted.ids.model_id`.
        recipe: see `polyladder.convert.encrypted.ids.recipe_id`.
        key: drawn when a pair of keys is made; both have it.
    """

    model: str
    recipe: str
    key: str


@dataclass(frozen=True)
class Bundle:
    """What a file holds.

    Attributes:
        ids: what it belongs to.
        parts: by name.
        rows: how many rows are encrypted in it; 0 for keys.
    """

    ids: Ids
    parts: dict[str, bytes]
    rows: int = 0


def pack(kind: Kind, bundle: Bundle) -> bytes:
    """A bundle as bytes. Ciphertexts look random, so nothing is compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(HEAD, json.dumps({"kind": kind, "ids": asdict(bundle.ids), "rows": bundle.rows}))
        for name, content in bundle.parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def unpack(kind: Kind, content: bytes) -> Bundle:
    """What `pack` made; anything else is refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_sizes(archive, len(content))
            head = json.loads(archive.read(HEAD))
            parts = {name: archive.read(name) for name in archive.namelist() if name != HEAD}
            found, rows = head["kind"], head["rows"]
            if type(rows) is not int:
                raise TypeError(rows)
            ids = Ids(**{field.name: str(head["ids"][field.name]) for field in fields(Ids)})
    except (*DAMAGE, LookupError, TypeError) as error:
        raise ValueError(
            f"The file must hold {WORDS[kind]} of polyladder; it is something else, damaged, or of an earlier version. "
            "Make it again."
        ) from error
    if found != kind:
        held = WORDS.get(found, "something else") if isinstance(found, str) else "something else"
        raise ValueError(f"The file must hold {WORDS[kind]}; it holds {held}.")
    return Bundle(ids, parts, rows)


def check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse an archive that would need more memory than its size: a compressed one, or one whose parts overlap."""
    files = archive.infolist()
    packed = any(f.compress_type != zipfile.ZIP_STORED or f.file_size != f.compress_size for f in files)
    if packed or sum(f.file_size for f in files) > size or len({f.filename for f in files}) < len(files):
        raise ValueError("packed, or with parts that overlap")


def check_parts(what: str, bundle: Bundle, slots: int, count: int) -> int:
    """How many blocks of rows a bundle has, each of ``count`` parts; anything else is refused.

    Args:
        what: the parts are, for the message.
        bundle: of rows or scores.
        slots: rows of one ciphertext.
        count: ciphertexts of one block.
    """
    blocks = -(-bundle.rows // slots)
    # The number of parts is checked first: the stated number of rows may be anything.
    if (
        blocks < 1
        or len(bundle.parts) != blocks * count
        or bundle.parts.keys() != {f"{k}_{i}" for k in range(blocks) for i in range(count)}
    ):
        raise ValueError(
            f"{what} must have {count} {'ciphertext' if count == 1 else 'ciphertexts'} for every {slots:,} rows; "
            f"got {len(bundle.parts):,} for {str(bundle.rows)[:20]}. They are damaged."
        )
    return blocks


def check_ids(what: str, found: Ids, model: str, recipe: str, key: str | None = None) -> None:
    """Refuse what belongs to another model, recipe or key.

    Args:
        what: the file holds, for the message.
        found: in the file.
        model: that is meant.
        recipe: that is meant.
        key: that is meant; None where it is not known yet.
    """
    wanted = {"model": model, "recipe": recipe} | ({} if key is None else {"key": key})
    for name, value in wanted.items():
        other = vars(found)[name]
        if other != value:
            raise ValueError(f"{what} must belong to {name} {value[:8]}; got {name} {other[:8]!r}. {ADVICE[name]}")


ADVICE = {
    "model": "Take the recipe of the model that is to score, and keys and rows made with it.",
    "recipe": "Keys, rows and scores must be made with one and the same recipe.",
    "key": "Take the public and the secret key that were made together.",
}
"""What to do if two files do not belong together."""
