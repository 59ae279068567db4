"""A schema: what the columns of a table are, written down by hand as TOML, and a first one to begin with."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from polyladder.tables.columns import ColumnKind, kind_as
from polyladder.tables.number_style import NumberStyle

if TYPE_CHECKING:
    from polyladder.tables.number_style import Comma
    from polyladder.tables.understand import Understood

Wish = Literal["number", "category", "boolean", "date", "drop", "keep"]
WISHES = ("number", "category", "boolean", "date", "drop", "keep")
STYLE = ("prefix", "suffix", "decimal", "thousands", "letter", "brackets")


@dataclass(frozen=True)
class Rule:
    """What a schema says of a column.

    Attributes:
        kind: what it holds; "keep" leaves that open, but never takes the column for an id.
        date_format: of dates.
        style: of numbers; None to have it found.
        words: for no and yes.
    """

    kind: Wish
    date_format: str | None = None
    style: NumberStyle | None = None
    words: tuple[str, str] | None = None

    def apply(self, column: Any, comma: Comma) -> ColumnKind:
        """What the column holds by this rule, which must name a kind."""
        assert self.kind not in ("drop", "keep")
        found = kind_as(column, self.kind, comma)  # type: ignore[arg-type]
        return ColumnKind(
            found.name,
            found.kind,
            self.date_format or found.date_format,
            self.style or found.style,
            self.words or found.words,
        )


def read_schema(source: str | Path | Mapping[str, Any]) -> dict[str, Rule]:
    """The rules of a schema, from a TOML file with a table ``[columns]`` or from the same as a mapping.

    Each column is a word (number, category, boolean, date, drop, keep), or a table with ``kind`` and, for dates,
    ``format``; for numbers ``prefix``, ``suffix``, ``decimal``, ``thousands``, ``letter``, ``brackets``; for booleans
    ``words``.
    """
    if isinstance(source, Mapping):
        entries, label = source, "schema"
    else:
        label = str(source)
        if not Path(source).is_file():
            raise FileNotFoundError(f"--schema must be a file of TOML; there is none at {label}.")
        try:
            entries = tomllib.loads(Path(source).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{label} must be TOML; {error}.") from error
    columns = entries.get("columns", entries if isinstance(source, Mapping) else None)
    if not isinstance(columns, Mapping):
        raise ValueError(f"{label} must have a table [columns]; got {', '.join(entries) or 'nothing'}.")
    return {name: rule(label, name, entry) for name, entry in columns.items()}


def rule(label: str, name: str, entry: Any) -> Rule:
    """The rule of one column, or an error that says what is wrong with it."""
    given = {"kind": entry} if isinstance(entry, str) else entry
    if not isinstance(given, Mapping) or given.get("kind") not in WISHES:
        got = entry if not isinstance(entry, Mapping) else entry.get("kind", "no kind")
        raise ValueError(f"Column {name!r} of {label} must be one of {', '.join(WISHES)}; got {got!r}.")
    kind: Any = given["kind"]
    allowed = {"date": ("format",), "number": STYLE, "boolean": ("words",)}.get(kind, ())
    for key in given:
        if key not in ("kind", *allowed):
            said = f"only have {', '.join(allowed)} beside its kind" if allowed else "have nothing beside its kind"
            raise ValueError(f"Column {name!r} of {label}, of kind {kind}, must {said}; got {key!r}.")
    style: dict[str, Any] = {key: given[key] for key in STYLE if key in given}
    for key, value in style.items():
        if not isinstance(value, bool if key == "brackets" else str):
            raise ValueError(
                f"{key!r} of column {name!r} of {label} must be text, brackets true or false; got {value!r}."
            )
    words = given.get("words")
    if words is not None and not (
        isinstance(words, list) and len(words) == 2 and all(isinstance(w, str) for w in words)
    ):
        raise ValueError(f"'words' of column {name!r} of {label} must be two texts, for no and for yes; got {words!r}.")
    return Rule(kind, given.get("format"), NumberStyle(**style) if style else None, tuple(words) if words else None)


def schema_text(columns: tuple[Understood, ...]) -> str:
    """A schema that says what was understood, to be changed by hand."""
    lines = ["# What each column is: number, category, boolean, date, or drop.", "[columns]"]
    for column in columns:
        kind = column.kind
        entries: dict[str, Any] = {"kind": kind.kind if column.used else "drop"}
        if column.used and kind.date_format:
            entries["format"] = kind.date_format
        if column.used:
            entries |= kind.style.json()
        if column.used and kind.words:
            entries["words"] = list(kind.words)
        # Strings of JSON without escapes of surrogates are strings of TOML.
        cells = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()]
        value = json.dumps(entries["kind"]) if len(cells) == 1 else "{ " + ", ".join(cells) + " }"
        note = f"  # {column.reason}" if column.reason else ""
        lines.append(f"{json.dumps(kind.name, ensure_ascii=False)} = {value}{note}")
    return "\n".join(lines) + "\n"
