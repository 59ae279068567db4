"""What a page carries of a spread; `test_js_model.py` holds what is made of it to the model."""

import numpy as np
import pytest

from polyladder.fitted.steps import Affine, Blank, Clip, Fill, Ramp
from polyladder.report.spread import spread_json, step_json
from tests.report import models


@pytest.mark.slow
def test_widths_are_those_of_the_intervals() -> None:
    model, _, _ = models.make("spread")
    found = spread_json(model.model_, (50, 90))
    assert found is not None
    spread = model.spread_
    assert spread is not None
    assert spread.groups is not None
    for k, level in enumerate((0.5, 0.9)):
        place = spread.widths.levels.tolist().index(level)
        assert found["widths"][k] == spread.widths.widths[place].tolist()
    color = model.model_.columns[2]
    for name, widths in zip(color.categories, found["groups"]["widths"], strict=True):
        own = spread.groups.values.get(str(name)) if name is not None else None
        assert (widths is None) == (own is None)
        assert own is None or widths[1] == own.widths[own.levels.tolist().index(0.9)].tolist()
    assert found["groups"]["column"] == 2
    assert any(widths is not None for widths in found["groups"]["widths"])
    columns = [each["column"] for each in found["beyond"]]
    assert columns == [0, 0, 1, 1]
    assert np.shape([each["growth"] for each in found["beyond"]]) == (4, 1)


def test_a_model_without_a_spread_has_none() -> None:
    model, _, _ = models.make("standard")
    assert spread_json(model.model_, (50, 90)) is None


def test_steps_are_written_by_their_names() -> None:
    steps = (Blank(-999.0), Fill(1.0), Clip(0.0, 2.0), Affine(0.5, 4.0))
    assert [step_json(step) for step in steps] == [["blank", -999], ["fill", 1], ["clip", 0, 2], ["affine", 0.5, 4]]
    with pytest.raises(TypeError, match="must be one that the page knows; got Ramp"):
        step_json(Ramp(0.0, 1.0))
