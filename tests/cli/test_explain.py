"""Predictions explained by the command."""

import json
from pathlib import Path

import pytest

from polyladder import load
from tests.cli.tables import run, sentence, shop, small_models, write_quoted

pytestmark = pytest.mark.usefixtures(small_models.__name__)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_quoted(tmp_path / "shop.csv", shop())


def test_a_row_is_explained(table: Path) -> None:
    path = table.parent / "m.ladder"
    run("fit", table, "-t", "y", "-o", path, "--time-budget", 0, "--drop", "kind")
    model = load(path)
    shown = run("explain", path, table, "--row", 17).stdout
    assert f"fee = {shop()['fee'][16]}" in shown
    assert f"sold = {shop()['sold'][16]}" in shown
    found = json.loads(run("explain", path, table, "--row", 17, "--json").stdout)
    (output,) = found["outputs"]
    total = output["start"] + sum(part["value"] for part in output["contributions"])
    assert total == pytest.approx(output["value"])
    assert found["prediction"] == pytest.approx(output["value"] + output["held"])
    other = json.loads(run("explain", path, table, "--row", 17, "--from-row", 17, "--json").stdout)
    assert [part["value"] for part in other["outputs"][0]["contributions"]] == [0.0] * len(model.feature_names_in_)
    assert "--row must come with DATA" in sentence("explain", path, "--row", 3)
    assert "--row must be at most 120" in sentence("explain", path, table, "--row", 121)
    assert "--from-row must come with --row" in sentence("explain", path, table, "--from-row", 3)
    curve = run("explain", path, "--feature", "sold").stdout
    assert ".2021" in curve.splitlines()[-2]
