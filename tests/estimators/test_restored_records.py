"""Cards and records that say something else than they should: refused at loading, so that no reader stumbles."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor, load
from polyladder.automatic.card import half_width, make_card
from polyladder.estimators.restored import check_restored
from polyladder.estimators.restored_records import CARD, unfit_entry, unfit_record
from polyladder.explain.explanation import explain
from polyladder.explain.quality import calibration, qualities
from polyladder.report.payload import card_json, order_path
from polyladder.tables.columns import ColumnKind
from polyladder.training.solves.growth import Growth
from tests.fitted.reading import read_model

WRONG = (None, True, -1, 10**18, 0.5, "", "zzz", [], ["a"], {}, [1, 2, 3], {"a": 1}, float("nan"))


@pytest.fixture(scope="module")
def model() -> Any:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=40), "t": rng.choice(["x", "y"], 40)})
    y = frame["a"].to_numpy() ** 2
    found = LPNNRegressor(order=2, width=2, n_estimators=1, random_state=0).fit(frame, y)
    said = {"crps": 0.1, "log_likelihood": -1.0, "coverage": {"90": 0.9}, "half_width": 0.3, "scored": 9}
    scores: Any = [{"model": "ladder", "seconds": 0.1, "rmse": 0.2, "r2": np.nan, **said}]
    chosen = {
        "sentence": "By hand.",
        "floor": "",
        "order_path": [[2, 0.1]],
        "order_note": "",
        "held_out": 3,
        "fitted": 40,
    }
    held: Any = {"observed": y[:9].tolist(), "predicted": y[:9].tolist()}
    found.card_ = make_card(found, frame, scores=scores, held_out=held, selection=chosen, notes=["a"], seed=0)
    found.card_["target_written"] = ColumnKind("y", "number").json()
    for column in found.card_["columns"]:
        column["written"] = ColumnKind(column["name"], column["kind"]).json()
    return found


def read_all(model: Any) -> None:
    """What commands and pages read of records."""
    explain(model)
    described = read_model(model)
    json.dumps(card_json(described))
    order_path(described)
    calibration(described, qualities(described, None, None))
    half_width(model.card_ or {}, 50)


def places(node: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path in a tree of JSON, of long lists the first two entries."""
    keys = list(node) if isinstance(node, dict) else range(min(2, len(node))) if isinstance(node, list) else ()
    return [found for key in keys for found in [(*before, key), *places(node[key], (*before, key))]]


@pytest.mark.slow
def test_a_forged_card_is_refused_or_can_be_read(model: Any) -> None:
    own = copy.copy(model)
    paths = [path for path in places(model.card_) if path[0] not in ("settings", "residual_quantiles", "versions")]
    refused = 0
    for number, path in enumerate(paths):
        for wrong in WRONG[number % 3 :: 3]:
            own.card_ = copy.deepcopy(model.card_)
            node: Any = own.card_
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = copy.deepcopy(wrong)
            if unfit_record(own) is not None:
                refused += 1
                continue
            try:
                read_all(own)
            except ValueError as error:
                assert str(error)  # noqa: PT017
    assert refused > len(paths)


def test_whole_cards_and_old_ones_without_entries_pass(model: Any) -> None:
    assert unfit_record(model) is None
    assert unfit_entry(None, 2) is None
    assert unfit_entry({}, 2) is None
    for name in model.card_:
        assert unfit_entry({key: value for key, value in model.card_.items() if key != name}, 2) is None
    assert unfit_entry({**model.card_, "later": object()}, 2) is None
    assert set(CARD) >= set(model.card_)


@pytest.mark.parametrize("card", [[], "card", 3, True])
def test_what_is_no_card_is_refused(card: Any, model: Any) -> None:
    own = copy.copy(model)
    own.card_ = card
    with pytest.raises(ValueError, match="all in card_ is not what it should be"):
        check_restored(own)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strengths", {"columns": [[0, 1.0]]}),
        ("strengths", {"columns": [[9, 1.0]], "pairs": [], "over": "", "bend": 0.0}),
        ("strengths", {"columns": [[0, "1"]], "pairs": [], "over": "", "bend": 0.0}),
        ("typical", [1.0]),
        ("held_out", {"observed": [1.0], "predicted": []}),
        ("target_written", {"kind": "number", "style": {"decimal": 3}}),
        ("scores", [{}]),
        ("scores", [{"model": "ladder", "coverage": {"all": 0.9}}]),
        ("scores", [{"model": "ladder", "coverage": {"90": "0.9"}}]),
        ("columns", [{"name": "a"}]),
    ],
)
def test_entries_that_do_not_fit_each_other_are_refused(name: str, value: Any, model: Any) -> None:
    assert unfit_entry({**model.card_, name: value}, 2) == name


def test_records_of_a_selection_and_a_walk(model: Any) -> None:
    own = copy.copy(model)
    own.growth_ = Growth((2, 3), (0.1, 0.2))
    assert unfit_record(own) is None
    for growth in (Growth((2, 3), (0.1,)), Growth(("2",), (0.1,)), (2, 3)):  # type: ignore[arg-type]
        own.growth_ = growth
        assert unfit_record(own) == "growth_"
    own.growth_, own.solver_ = None, ["alternating"]
    assert unfit_record(own) == "solver_"


@pytest.mark.parametrize("margin", [None, "0.1", [0.1], -0.1, float("nan"), float("inf"), True])
def test_a_forged_margin_is_refused_at_loading(margin: Any, model: Any, tmp_path: Path) -> None:
    own = copy.copy(model)
    own.target_ = replace(model.target_, margin=margin)
    own.save(tmp_path / "m.ladder")
    with pytest.raises(ValueError, match=r"is damaged: .*the margin of target_ is no number from 0 on"):
        load(tmp_path / "m.ladder")
    own.target_, own.features_ = model.target_, copy.copy(model.features_)
    own.features_.margin = margin
    own.save(tmp_path / "m.ladder")
    with pytest.raises(ValueError, match="the margin of features_ is no number from 0 on"):
        load(tmp_path / "m.ladder")
