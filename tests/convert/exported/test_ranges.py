import numpy as np
import pytest
import torch

from polyladder.convert.exported.ranges import feature_range, input_box, ladder_ranges
from polyladder.export.read import exported
from tests.export.estimators import NAMES, case, each
from tests.ladders import random_ladder


@pytest.mark.parametrize("name", each(*(n for n in NAMES if "classes" not in n)))
def test_no_row_leaves_the_ranges(name):
    model, rows, _ = case(name)
    description = exported(model)
    box = input_box(description)
    z = model.inputs(rows)
    assert (z >= torch.tensor(box.low)).all()
    assert (z <= torch.tensor(box.high)).all()
    for s in range(len(description.ladders)):
        p = description.ladders[s]
        rungs, outputs = ladder_ranges(p, box)
        states = p.hidden_states(z)
        for rung, h in zip(rungs, states[1:], strict=True):
            assert (h.numpy() >= rung.product.low).all()
            assert (h.numpy() <= rung.product.high).all()
        f = p(z).numpy()
        assert (f >= outputs.low).all()
        assert (f <= outputs.high).all()


def test_ranges_are_tight_where_interval_arithmetic_is_exact():
    """A ladder of one input that is used once: its range is attained."""
    p = random_ladder(d=1, hidden=(), m=1)
    from polyladder.convert.exported.ranges import Interval

    _, out = ladder_ranges(p, Interval(np.array([-1.0]), np.array([2.0])))
    ends = p(torch.tensor([[-1.0], [2.0]], dtype=torch.float64)).numpy().ravel()
    assert out.low[0] == pytest.approx(ends.min())
    assert out.high[0] == pytest.approx(ends.max())


def test_columns_that_nothing_holds_have_no_range():
    from polyladder.convert.exported.model import Feature, exported_ladder

    assert feature_range(Feature(0, ())) == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="must be held to a range"):
        input_box(exported_ladder(random_ladder()))
