"""The phase of a number: proven ranges against sampling, and what others write of it."""

import numpy as np
import pytest

from polyladder.convert.source.operations import TextOperations
from polyladder.fitted.steps import Cyclic
from tests.fitted.steps.test_step import TURNING, X


@pytest.mark.parametrize("name", TURNING)
def test_a_span_of_a_step_that_turns_holds_all_values_and_is_tight(name: str) -> None:
    step, rng = TURNING[name], np.random.default_rng(0)
    crests = step.inverse(np.array([1.0, -1.0])).tolist()
    pairs = [sorted(pair) for pair in rng.uniform(-6, 6, (200, 2)).tolist()]
    pairs += [[x, x + width] for x in crests for width in (0.0, 1e-12, 0.3)] + [[2.0, 2.0], [1e6, 1e6 + 0.1]]
    for low, high in pairs:
        values = step.apply(np.linspace(low, high, 2001))
        least, most = step.span(low, high)
        assert -1 <= least <= values.min() <= values.max() <= most <= 1
        near = 1e-4 if high - low > 1e-3 else 1e-8
        assert values.min() - least < near
        assert most - values.max() < near
    assert step.span(-np.inf, np.inf) == step.span(0.0, np.inf) == (-1.0, 1.0)


def test_a_phase_is_written_and_named() -> None:
    step = Cyclic(24.0, -6.0)
    text = step.written("x", TextOperations(repr, "np.sin"))
    assert text == "np.sin(((x - -6.0) * 0.2617993877991494))"
    np.testing.assert_allclose(eval(text, {"np": np, "x": X}), np.cos(2 * np.pi * X / 24), atol=1e-15)
    assert step.named("hour") == "cos of hour / 24"
    assert Cyclic(365.25, 0.0).named("day") == "sin of day / 365.25"
