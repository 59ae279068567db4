"""The tables of docs/compress.md are what the benchmarks have stored."""

import json
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.distilled_teachers import as_markdown

ROOT = Path(__file__).parents[1]


def line(rows: list[dict[str, Any]]) -> str:
    """The line of a table, from the figures of its splits."""
    large, small = ([row[word] for row in rows] for word in ("large", "compact"))
    cells = [
        rows[0]["table"],
        f"{sum('stands for' in row['sentence'] for row in rows)} of {len(rows)}",
        f"{mean(s['rmse'] / g['rmse'] for s, g in zip(small, large, strict=True)):.3f}",
        *(f"{int(median(each['weights'] for each in side)):,}" for side in (large, small)),
        *(f"{median(each['file_bytes'] for each in side) / 1e3:,.0f}" for side in (large, small)),
        f"{sum(each['seconds'] for each in small) / sum(each['seconds'] for each in large):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def test_the_table_is_what_was_measured() -> None:
    stored = (ROOT / "benchmarks/results/compact_defaults.jsonl").read_text().splitlines()
    figures = [json.loads(each)["figures"] for each in stored]
    tables = dict.fromkeys(row["table"] for row in figures)
    assert len(tables) == 12
    expected = [line([row for row in figures if row["table"] == name]) for name in tables]
    page = (ROOT / "docs/compress.md").read_text()
    table = page.split("| table | small |")[1].split("\n\n")[0].splitlines()[2:]
    assert table == expected


def test_the_table_of_other_libraries_is_what_was_measured() -> None:
    stored = (ROOT / "benchmarks/results/distilled_teachers.jsonl").read_text().splitlines()
    expected = as_markdown([json.loads(each)["figures"] for each in stored])
    page = (ROOT / "docs/compress.md").read_text()
    assert page.split("| table | teacher |")[1].split("\n\n")[0].splitlines()[2:] == expected
