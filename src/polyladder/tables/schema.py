"""A schema: what the columns of a table are, written as TOML, and a first draft of one to be edited."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from polyladder.tables.columns import ColumnKind, kind_as
from polyladder.tables.dates import is_date_format
from polyladder.tables.number_style import NumberStyle

if TYPE_CHECKING:
    from polyladder.tables.number_style import Comma
    from polyladder.tables.understand import Understood

Wish = Literal["number", "category", "boolean", "date", "drop", "keep"]
WISHES = ("number", "category", "boolean", "date", "drop", "keep")
STYLE = ("prefix", "suffix", "decimal", "thousands", "letter", "brackets")
ALLOWED = {"date": ("format",), "number": (*STYLE, "missing"), "boolean": ("words",), "category": ("spelled",)}
"""What a rule may say besides its kind."""

FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "format": ("date_format", str),
    "words": ("words", tuple),
    "missing": ("missing", float),
    "spelled": ("spelled", dict),
}
"""What becomes of it, but for the style of numbers: a field of `ColumnKind`, and its type."""


@dataclass(frozen=True)
class Rule:
    """What a schema says of a column.

    Attributes:
        kind: what it holds; "keep" leaves the kind open, but uses the column even if it looks like an id.
        known: further fields of its `ColumnKind`, by their names; what is not among them is found by the cells.
    """

    kind: Wish
    known: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, column: Any, comma: Comma) -> ColumnKind:
        """What the column holds by this rule, which must name a kind."""
        assert self.kind not in ("drop", "keep")
        return replace(kind_as(column, self.kind, comma), **self.known)  # type: ignore[arg-type]


def read_schema(source: str | Path | Mapping[str, Any]) -> dict[str, Rule]:
    """The rules of a schema, from a TOML file with a table ``[columns]`` or from the same as a mapping.

    Each column is a word (number, category, boolean, date, drop, keep), or a table with ``kind`` and, for dates,
    ``format``; for numbers ``prefix``, ``suffix``, ``decimal``, ``thousands``, ``letter``, ``brackets``, and
    ``missing`` for the number that marks missing values; for booleans ``words``; for categories ``spelled``, a table of
    other spellings.
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
        except RecursionError as error:
            raise ValueError(
                f"{label} must be TOML with a table [columns] of words and small tables; it is nested too deeply."
            ) from error
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
    allowed = ALLOWED.get(kind, ())
    for key in given:
        if key not in ("kind", *allowed):
            said = f"only have {', '.join(allowed)} beside its kind" if allowed else "have nothing beside its kind"
            raise ValueError(f"Column {name!r} of {label}, of kind {kind}, must {said}; got {key!r}.")
        wanted = "" if key == "kind" else fault(key, given[key])
        if wanted:
            raise ValueError(f"{key!r} of column {name!r} of {label} must be {wanted}; got {given[key]!r}.")
    known: dict[str, Any] = {name: make(given[key]) for key, (name, make) in FIELDS.items() if key in given}
    style: dict[str, Any] = {key: given[key] for key in STYLE if key in given}
    return Rule(kind, known | {"style": NumberStyle(**style)} if style else known)


def fault(key: str, value: Any) -> str:
    """What a faulty entry of a rule must be; empty if it is fine."""
    if key == "brackets":
        return "" if isinstance(value, bool) else "true or false"
    if key == "missing":
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return "" if number else "a number"
    if key == "words":
        pair = isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(word, str) for word in value)
        return "" if pair else "two texts, for no and for yes"
    if key == "spelled":
        texts = isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())
        return "" if texts else "a table of texts, each under another spelling of it"
    if not isinstance(value, str):
        return "text"
    return "" if key != "format" or is_date_format(value) else 'a format of dates, such as "%d.%m.%Y"'


def schema_text(columns: tuple[Understood, ...]) -> str:
    """A schema of what was understood, to be edited by hand."""
    lines = ["# What each column is: number, category, boolean, date, or drop.", "[columns]"]
    for column in columns:
        kind = column.kind
        entries: dict[str, Any] = kind.json() if column.used else {"kind": "drop"}
        entries |= entries.pop("style", {})
        if "date_format" in entries:
            entries["format"] = entries.pop("date_format")
        cells = [f"{key} = {toml_value(value)}" for key, value in entries.items()]
        value = json.dumps(entries["kind"]) if len(cells) == 1 else "{ " + ", ".join(cells) + " }"
        note = f"  # {column.reason}" if column.reason else ""
        lines.append(f"{json.dumps(kind.name, ensure_ascii=False)} = {value}{note}")
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """A text, a number, true or false, a list or a table of texts in TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_value(key)} = {toml_value(text)}" for key, text in value.items()) + " }"
    # Strings of JSON without escapes of surrogates are strings of TOML.
    return json.dumps(value, ensure_ascii=False)
