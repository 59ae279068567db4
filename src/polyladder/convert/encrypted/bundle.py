"""Files that travel between client and server: named parts in one archive, with the parameters beside them."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from typing import Any, Literal

from polyladder.convert.encrypted.parameters import Parameters

Kind = Literal["secret key", "public key", "encrypted rows", "encrypted scores"]
HEAD = "polyladder.json"


def pack(kind: Kind, parameters: Parameters, parts: dict[str, bytes], **facts: Any) -> bytes:
    """Parts and facts as bytes. Ciphertexts look random, so nothing is compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(HEAD, json.dumps({"kind": kind, "parameters": asdict(parameters), **facts}))
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def unpack(kind: Kind, content: bytes) -> tuple[Parameters, dict[str, Any], dict[str, bytes]]:
    """Parameters, facts and parts of what `pack` made; anything else is refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            facts = json.loads(archive.read(HEAD))
            parts = {name: archive.read(name) for name in archive.namelist() if name != HEAD}
            parameters = Parameters(**facts.pop("parameters"))
            found = facts.pop("kind")
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError) as error:
        raise ValueError(f"The file must hold {kind}s of polyladder; it is something else or damaged.") from error
    if found != kind:
        raise ValueError(f"The file must hold a {kind}; it holds {found}.")
    return parameters, facts, parts
