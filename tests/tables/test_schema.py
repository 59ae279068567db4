"""Schemas written by hand."""

import re
from pathlib import Path

import polars as pl
import pytest

from polyladder.tables.number_style import NumberStyle
from polyladder.tables.schema import Rule, read_schema, schema_text
from polyladder.tables.understand import understand


def test_rules_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[columns]\nzip = "category"\n"sold on" = { kind = "date", format = "%m/%d/%Y" }\nid = "drop"\n'
        'fee = { kind = "number", decimal = ",", thousands = "." }\n'
        'ok = { kind = "boolean", words = ["nope", "yep"] }\n',
        encoding="utf-8",
    )
    assert read_schema(path) == {
        "zip": Rule("category"),
        "sold on": Rule("date", {"date_format": "%m/%d/%Y"}),
        "id": Rule("drop"),
        "fee": Rule("number", {"style": NumberStyle(decimal=",", thousands=".")}),
        "ok": Rule("boolean", {"words": ("nope", "yep")}),
    }


def test_a_schema_of_what_was_understood_is_understood_again(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            'na"me': ["$1,200", "$15"] * 10,
            "day": ["02/01/2020", "03/01/2020"] * 10,
            "ok": ["Yes", "no"] * 10,
            "id": [str(i) for i in range(20)],
            "town": ["Bern", "BERN", "Aue", "bern"] * 5,
            "t": ["-999", *map(str, range(2, 21))],
        }
    )
    found = understand(frame, "thousands", frame.columns, {})
    (tmp_path / "s.toml").write_text(schema_text(found), encoding="utf-8")
    again = understand(frame, "thousands", frame.columns, read_schema(tmp_path / "s.toml"))
    assert [c.kind for c in again if c.used] == [c.kind for c in found if c.used]
    assert [c.used for c in again] == [True, True, True, False, True, True]
    assert again[4].values.unique().sort().to_list() == ["Aue", "Bern"]
    assert again[5].values.null_count() == 1


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"a": "numbr"}, "must be one of number, category, boolean, date, drop, keep; got 'numbr'."),
        ({"a": {"kind": "date", "decimal": ","}}, "must only have format beside its kind; got 'decimal'."),
        ({"a": {"kind": "drop", "format": "x"}}, "must have nothing beside its kind; got 'format'."),
        ({"a": {"kind": "number", "decimal": 5}}, "'decimal' of column 'a' of schema must be text"),
        ({"a": {"kind": "boolean", "words": ["x"]}}, "must be two texts, for no and for yes"),
        ({"a": {"kind": "boolean", "words": "xy"}}, "must be two texts, for no and for yes"),
        ({"a": {"kind": "date", "format": 7}}, "'format' of column 'a' of schema must be text; got 7."),
        ({"a": {"kind": "date", "format": "%Q"}}, "must be a format of dates, such as \"%d.%m.%Y\"; got '%Q'."),
        ({"a": {"kind": "number", "brackets": "no"}}, "'brackets' of column 'a' of schema must be true or false"),
        ({"a": {"kind": "number", "missing": "x"}}, "'missing' of column 'a' of schema must be a number; got 'x'."),
        ({"a": {"kind": "number", "missing": True}}, "must be a number; got True."),
        ({"a": {"kind": "category", "spelled": {"x": 1}}}, "must be a table of texts, each under another spelling"),
        ({"a": {"b": {"c": "number"}}}, "must be one of number, category, boolean, date, drop, keep; got 'no kind'."),
        ({"a": 7}, "must be one of number, category, boolean, date, drop, keep; got 7."),
    ],
)
def test_mistakes_are_said(schema: dict, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read_schema(schema)


def test_files_that_are_no_schema(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is none at"):
        read_schema(tmp_path / "absent.toml")
    (tmp_path / "s.toml").write_text("a = ")
    with pytest.raises(ValueError, match="must be TOML"):
        read_schema(tmp_path / "s.toml")
    for deep in ("[columns]\na = " + "[" * 3000, "[columns]\na" + ".a" * 3000 + " = 1", "a = " + "{a=" * 3000):
        (tmp_path / "s.toml").write_text(deep)
        with pytest.raises(ValueError, match="must be") as caught:
            read_schema(tmp_path / "s.toml")
        assert "\n" not in str(caught.value)
    (tmp_path / "s.toml").write_text("a = 1")
    with pytest.raises(ValueError, match=r"must have a table \[columns\]; got a"):
        read_schema(tmp_path / "s.toml")
