"""`fit_table` does what the command does."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from polyladder import fit_table
from tests.cli.tables import shop, small_models, write_quoted

pytestmark = pytest.mark.usefixtures(small_models.__name__)


def test_a_path_and_a_frame_give_the_same_model(tmp_path: Path) -> None:
    path = write_quoted(tmp_path / "shop.csv", shop())
    said: list[str] = []
    first = fit_table(path, "y", seconds=0, drop=["kind"], say=said.append)
    second = fit_table(pd.DataFrame(shop()), "y", seconds=0, drop=["kind"])
    np.testing.assert_array_equal(first.card_["held_out"]["predicted"], second.card_["held_out"]["predicted"])
    assert said[1].startswith("  customer_id  left out")
    assert first.card_["typical"] == second.card_["typical"]
    assert first.card_["selection"]["fitted"] == 120


def test_a_schema_as_a_mapping_and_other_rows_to_judge_by(tmp_path: Path) -> None:
    frame = pd.DataFrame(shop())
    model = fit_table(
        frame[:90], "y", seconds=0, schema={"zip": "number", "kind": "drop"}, test=frame[90:], compare=False
    )
    assert model.card_["columns"][3]["kind"] == "number"
    assert len(model.card_["held_out"]["observed"]) == 30
    assert model.card_["selection"]["fitted"] == 90


def test_without_time_the_first_model_is_kept(tmp_path: Path) -> None:
    model = fit_table(pd.DataFrame(shop()), "y", seconds=1e-6, drop=["kind"])
    assert [score["model"] for score in model.card_["scores"]] == ["ladder"]
    assert model.card_["selection"]["fitted"] == 102
    assert any("no time left for dummy" in note for note in model.card_["notes"])
