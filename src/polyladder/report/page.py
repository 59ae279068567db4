"""One HTML file about one fitted estimator: it carries the model and evaluates it, offline."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from polyladder.files.replace_file import write_atomically
from polyladder.fitted.model import FittedModel, HasModel
from polyladder.report.payload import payload
from polyladder.report.scripts import joined


def write_report(
    model: FittedModel | HasModel, path: str | PathLike[str], rows: Any = None, target: Any = None
) -> Path:
    """Write the page of a fitted estimator, beside its place first; arguments as for `render_report`.

    Returns:
        Where it is.
    """
    write_atomically(render_report(model, rows, target).encode(), path)
    return Path(path)


def render_report(model: FittedModel | HasModel, rows: Any = None, target: Any = None) -> str:
    """The page of a fitted estimator, as HTML that needs nothing else.

    Args:
        model: fitted; any with a ladder behind it. Its model card, where there is one (``card_``), supplies names,
            units, densities, scores and error bands.
        rows: rows of the same table. Up to 300 of them travel with the page as examples, so leave them out if the page
            goes where the rows must not. Shape (n, d).
        target: what was observed for these rows, for charts of the errors. Shape (n,) or (n, m).
    """
    content = payload(model, rows, target)
    script = joined("js/page/main.js", text_of)
    style = text_of("page.css")
    # Only this script and this style may act, and nothing may be fetched: a name that got past the escaping below
    # would still be inert.
    policy = f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src data:"
    parts = {
        "policy": policy,
        "title": html.escape(f"{content['target']} - polyladder"),
        "style": style,
        "payload": embedded(content),
        "script": script,
    }
    page = text_of("page.html")
    # Piece by piece from the front, so that a placeholder inside inserted text stays what it is.
    done = []
    for name, text in parts.items():
        before, mark, page = page.partition("{{" + name + "}}")
        assert mark, f"page.html lacks {name}"
        done += [before, text]
    return "".join([*done, page])


def text_of(name: str) -> str:
    """A file that lies beside this one, or below."""
    return files("polyladder.report").joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """The hash by which a content security policy knows an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def embedded(content: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
