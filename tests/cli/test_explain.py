import json
from pathlib import Path

import pytest

from tests.cli.tables import run, sentence
from tests.export.estimators import fitted


@pytest.fixture
def model(tmp_path: Path) -> Path:
    fitted("numbers")[0].save(tmp_path / "m.ladder")
    return tmp_path / "m.ladder"


def test_a_formula_states_its_proven_error(model: Path) -> None:
    short, long = (run("explain", model, "--formula", "--tolerance", t).stdout for t in ("5%", "0.001"))
    assert "proven to be within" in short
    assert len(short) < len(long)
    found = json.loads(run("explain", model, "--formula", "--tolerance", "5%", "--json").stdout)
    spread = float(fitted("numbers")[0].target_.high - fitted("numbers")[0].target_.low)
    assert 0 < found["errors"][0] < 0.06 * spread
    assert found["latex"].startswith(r"\text{prediction} = ")


def test_a_tolerance_must_be_a_share(model: Path) -> None:
    said = sentence("explain", model, "--formula", "--tolerance", "little")
    assert said.startswith("--tolerance must be a share such as 1% or 0.01")
