"""The table of `docs/bayesian.md` about training by moments is that of the stored measurements."""

import json
from pathlib import Path

from benchmarks.moments_inference import as_markdown

ROOT = Path(__file__).parents[1]


def test_the_table_is_the_stored_one() -> None:
    stored = (ROOT / "benchmarks/results/moments_inference.jsonl").read_text().splitlines()
    assert as_markdown([json.loads(line)["figures"] for line in stored]) in (ROOT / "docs/bayesian.md").read_text()
