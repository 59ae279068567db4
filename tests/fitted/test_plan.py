import numpy as np
import pytest

from polyladder.fitted.plan import Feature, plan_of
from polyladder.fitted.steps import Affine, Clip, Fill, IsCategory, IsMissing, Ramp, YeoJohnson
from polyladder.tables.table import Table

MAIN = (Fill(0.5), Clip(-1.0, 1.0), Affine(0.2, 0.7))
FEATURES = (
    Feature(0, MAIN),
    Feature(3, (Clip(-2.0, 2.0), YeoJohnson(0.3), Affine(0.0, 2.0))),
    Feature(0, (IsMissing(),)),
    Feature(1, (IsCategory("y"),)),
    Feature(1, (IsCategory(None),)),
    Feature(0, (*MAIN, Ramp(-0.5, 0.5), Affine(0.5, 0.1))),
    Feature(0, (*MAIN, Ramp(0.5, 0.9), Affine(0.4, 0.3))),
    Feature(3, ()),
)


def one_by_one(numbers, texts):
    """The obvious way: every input on its own, every step after the other."""
    found = []
    for feature in FEATURES:
        values = texts if feature.column == 1 else numbers[:, {0: 0, 3: 1}[feature.column]]
        for step in feature.steps:
            values = step.apply(values)
        found.append(values)
    return np.stack(found, 1)


@pytest.mark.parametrize("n", [0, 1, 50])
def test_inputs_are_those_of_single_steps(n):
    rng = np.random.default_rng(n)
    numbers = rng.normal(size=(n, 2))
    numbers[::3, 0] = np.nan
    texts = rng.choice(np.array(["x", "y", "new", None], dtype=object), n)
    plan = plan_of(FEATURES)
    assert plan.numeric == (0, 3)
    given = numbers.copy()
    table = Table(numbers, {1: texts}, (0, 3), ("a", "t", "unused", "b"))
    assert np.array_equal(plan(table), one_by_one(given, texts).reshape(n, 8))
    assert np.array_equal(numbers, given, equal_nan=True)


def test_what_inputs_share_is_worked_out_once():
    plan = plan_of(FEATURES)
    # The three inputs of a's number share three steps; its ramps then part.
    assert [sum(len(group.sources) for group in groups) for groups in plan.depths] == [3, 2, 2, 2, 2]
