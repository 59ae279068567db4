from fractions import Fraction

import numpy as np
import pytest
import torch

from polyladder import LadderPolynomial
from polyladder.convert.exported.ranges import feature_range, input_box, ladder_ranges
from polyladder.fitted.model import fitted_model
from polyladder.polynomial.ball import between
from tests.export.estimators import NAMES, case, each
from tests.ladders import random_ladder


@pytest.mark.parametrize("name", each(*(n for n in NAMES if "classes" not in n)))
def test_no_row_leaves_the_ranges(name):
    model, rows, _ = case(name)
    description = fitted_model(model)
    box = input_box(description)
    z = model.inputs(rows)
    assert (z >= box.lower).all()
    assert (z <= box.upper).all()
    for s in range(len(description.ladders)):
        p = description.ladders[s]
        rungs, outputs = ladder_ranges(p, box)
        states = p.hidden_states(z)
        for rung, h in zip(rungs, states[1:], strict=True):
            assert (h >= rung.product.lower).all()
            assert (h <= rung.product.upper).all()
        f = p(z)
        assert (f >= outputs.lower).all()
        assert (f <= outputs.upper).all()


def box_of(low, high):
    """A box of one input."""
    return between(*(torch.full((1, 1), end, dtype=torch.float64) for end in (low, high)))


def test_what_underflows_on_the_way_stays_in_the_ranges():
    """x^3 by weights whose product is zero in float64, and then by as large ones."""
    small, large, one = (torch.full((1, 1), t, dtype=torch.float64) for t in (1e-170, 1e170, 1.0))
    none = torch.zeros(1, dtype=torch.float64)
    p = LadderPolynomial((small, large), (none, none), (small, large), (none, none), one, none)
    for low, high in ((1.0, 2.0), (1e-170, 2e-170)):
        rungs, out = ladder_ranges(p, box_of(low, high))
        assert out.lower.item() <= low**3 <= high**3 <= out.upper.item()
        # W x = 1e-170 x, which is 1e-340 at the second.
        assert Fraction(rungs[0].inner.upper.item()) >= Fraction(1e-170) * Fraction(high)


def test_ranges_are_tight_where_interval_arithmetic_is_exact():
    """A ladder of one input that is used once: its range is attained."""
    p = random_ladder(d=1, hidden=(), m=1)
    _, out = ladder_ranges(p, box_of(-1.0, 2.0))
    ends = p(torch.tensor([[-1.0], [2.0]], dtype=torch.float64)).numpy().ravel()
    assert out.lower.item() == pytest.approx(ends.min())
    assert out.upper.item() == pytest.approx(ends.max())


def test_columns_that_nothing_holds_have_no_range():
    from polyladder.fitted.model import ladder_model
    from polyladder.fitted.plan import Feature

    assert feature_range(Feature(0, ())) == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="must be held to a range"):
        input_box(ladder_model(random_ladder()))
