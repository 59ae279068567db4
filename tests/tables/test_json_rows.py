"""Tables of JSON."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from polyladder.tables.table_file import open_table

ROWS = [
    {"a": 1, "b": "x", "c": True},
    {"a": 2.50, "b": None, "d": "é"},
    {"a": -3e300, "b": '1,"5', "c": False},
]
CELLS = [("1", "x", "true", None), ("2.5", None, None, "é"), ("-3e+300", '1,"5', "false", None)]


def lines(rows: list, end: str = "\n") -> str:
    return end.join(json.dumps(row, ensure_ascii=False) for row in rows)


@pytest.mark.parametrize("block", [1, 9, 1000])
@pytest.mark.parametrize(
    "text",
    [
        lines(ROWS),
        lines(ROWS, "\r\n") + "\r\n\r\n",
        "\n \n" + lines(ROWS),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
    ],
)
def test_objects_are_rows(text: str, block: int, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for data in (text.encode(), gzip.compress(text.encode()), b"\xef\xbb\xbf" + text.encode()):
        path.write_bytes(data)
        file = open_table(path, block)
        assert file.names == ("a", "b", "c", "d")
        assert file.whole().rows() == CELLS


def test_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    digits = "1" * 5000
    (tmp_path / "t.jsonl").write_text('{"a": ' + digits + ', "b": "007"}\n{"a": 0.10, "b": NaN}\n')
    assert open_table(tmp_path / "t.jsonl").whole().rows() == [(digits, "007"), ("0.10", "NaN")]


def test_frames_have_few_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": 2}\n' * 1000)
    monkeypatch.setattr("polyladder.tables.table_file.MOST_CELLS", 50)
    assert [len(chunk) for chunk in open_table(tmp_path / "t.jsonl").chunks] == [25] * 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": \n', "must hold one JSON object a line, or a list of objects; expecting value in line 2."),
        ('{"a": 1}\n5\n', "must hold objects; got '5' in line 2."),
        ('{"a": {"b": 1}}\n', "got an object under 'a' in line 1. Write its parts under keys of their own."),
        ('[{"a": [1]}]', "got a list under 'a' in entry 1."),
        ('[{"a": 1} {"a": 2}]', "or a list of objects; expecting ',' in entry 2."),
        ('[{"a": 1}, {"a": 2}', "or a list of objects; expecting ',' in entry 3."),
        ('[{"a": 1}] []', "or a list of objects; something follows the list in entry 2."),
        ('[{"a": 1}, ]', "or a list of objects; expecting value in entry 2."),
        ('{"a": 1} {"a": 2}\n', "or a list of objects; there is more than one object in line 1."),
        ('{"a": 1, "a": 2}\n', "a key comes twice in line 1."),
        (
            '{"a": 1}\n{"a": ' + "[" * 100_000 + "\n",
            "must hold objects of texts and numbers; got deep nesting in line 2.",
        ),
        ('{\n  "a": 1\n}\n', "must hold one JSON object a line"),
        ("{}\n{}\n", "must hold objects with keys, which are its columns; there are none."),
        ('{"a": "\\ud800"}\n', "must hold whole characters; got half of one in line 1."),
    ],
)
def test_what_is_no_table_is_said_in_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(ValueError, match="must hold") as caught:
        open_table(tmp_path / "t.jsonl").whole()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_list_takes_no_more_memory_than_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.tables.json_rows.FIRST_ROWS", 10)
    monkeypatch.setattr("polyladder.tables.table_file.MOST_CELLS", 100)
    path = tmp_path / "t.json"
    path.write_text("[" + '{"a":1},' * 5000 + '{"a":1}]')
    # What is read to look at the beginning stays out of it.
    monkeypatch.setattr("polyladder.tables.table_file.SAMPLE", 1000)
    tracemalloc.start()
    try:
        assert sum(len(chunk) for chunk in open_table(path, 2000).chunks) == 5001
        assert tracemalloc.get_traced_memory()[1] < 3e5  # the objects alone would take 1.2 MB
    finally:
        tracemalloc.stop()


def test_a_key_that_comes_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.tables.json_rows.FIRST_ROWS", 2)
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' * 4 + '{"b": 1}\n')
    with pytest.raises(ValueError, match=r"Row 5 of .* must have keys that the first 2 rows have; got 'b'\."):
        open_table(tmp_path / "t.jsonl").whole()
