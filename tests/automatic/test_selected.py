"""The record of a selection on a card."""

import json

from polyladder.automatic.selected import selection_json
from polyladder.estimators.selection.found import Candidate, Selection


def test_a_selection_is_plain_json() -> None:
    candidates = (Candidate("constant", "standard", 0, 1.0, 0.0), Candidate("linear", "standard", 1, 0.5, 0.9))
    found = selection_json(Selection("share of variance", candidates, 0.5, 50, 5))
    assert json.loads(json.dumps(found)) == found
    assert found["floor"] == "linear"
    assert found["order_path"] == [[1, 0.5]]
    assert found["candidates"][1]["weight"] == 0.9
