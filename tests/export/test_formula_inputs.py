import random
from fractions import Fraction

import numpy as np
import pytest

from polyladder.export.formula_inputs import centered, formula_inputs, mapping, printed, ramp_input
from polyladder.fitted.answers import Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Affine, Clip, Cyclic, Fill, IsCategory, IsMissing, Ramp, YeoJohnson
from tests.ladders import random_ladder


@pytest.mark.parametrize("seed", range(50))
def test_the_printed_range_holds_the_columns_and_is_hardly_wider(seed):
    rng = random.Random(seed)
    low = rng.choice([0.0, 10 ** rng.uniform(-9, 12), -(10 ** rng.uniform(-9, 12))])
    high = low + max(10 ** rng.uniform(-6, 6), abs(low) * 1e-12)
    middle, half = (printed(value) for value in centered(low, high))
    assert middle - half <= Fraction(low) < Fraction(high) <= middle + half
    assert half <= Fraction(1.02) * (Fraction(high) - Fraction(low)) / 2 + Fraction(abs(low) * 3e-16)
    # The way from the printed input to what the ladders get is that of the model.
    shift, scale = low + 0.3 * (high - low), 0.2 * (high - low)
    m, h = mapping(Feature(0, (Clip(low, high), Affine(shift, scale))))
    for t in (-1, Fraction(1, 3), 1):
        exact = (middle + half * t - Fraction(shift)) / Fraction(scale)
        assert abs(Fraction(m) + Fraction(h) * t - exact) <= Fraction(1e-15) * (abs(Fraction(m)) + Fraction(h))


def test_a_constant_column_has_a_range():
    assert centered(7.0, 7.0) == (7.0, 1.0)
    middle, half = centered(0.25, 0.25)
    assert middle - half <= 0.25 <= middle + half


@pytest.mark.parametrize("allowed", [0.0, 1e-9, 1e-2])
def test_a_rounded_ramp_moves_by_what_is_stated_and_allowed(allowed):
    low, high = Fraction("1234567.123456"), Fraction("1234567.223457")
    found, drift = ramp_input("x", low, high, allowed)
    middle, half = (Fraction(text) for text in found.definition.split(", ")[0][5:].split(") / "))
    steps = [low - 1 + Fraction(k, 1000) * (high - low + 2) for k in range(1001)] + [low, high]
    for x in steps:
        exact = max(-1, min(1, (x - (low + high) / 2) / ((high - low) / 2)))
        assert abs(max(-1, min(1, (x - middle) / half)) - exact) <= drift <= max(allowed, 1e-16)
    assert found.definition.endswith(", held to -1 ... 1")


def test_every_input_has_a_name_of_its_own_and_says_what_it_is():
    columns = (
        Column("age", "number", (), 0.0, 81.0),
        Column("town", "category", ("Bern", None)),
    )
    scaled = (Clip(0.0, 81.0), Affine(40.0, 20.0))
    close = (Ramp(-1.0, -0.999999999), Ramp(-1.0, -0.9999999991))
    features = (
        Feature(0, (Fill(38.5), *scaled)),
        *(Feature(0, (*scaled, ramp, Affine(0.5, 0.5))) for ramp in close),
        Feature(0, (IsMissing(),)),
        Feature(1, (IsCategory("Bern"),)),
        Feature(1, (IsCategory(None),)),
        Feature(0, (Clip(0.0, 81.0), YeoJohnson(0.5), Affine(0.0, 1.0))),
    )
    model = FittedModel(columns, features, random_ladder(len(features), (2,), 1, (1,)), Numbers(None))
    found, drifts = formula_inputs(model, 1e-3)
    assert [str(one) for one in found] == [
        "[age] = (age - 40.5) / 40.5; a missing age counts as 38.5",
        "[age from 20 to 20] = (age - 20.00000001) / 1e-8, held to -1 ... 1",
        "[age from 20 to 20, 2] = (age - 20.000000009) / 9e-9, held to -1 ... 1",
        "[age is missing]",
        "[town = Bern]",
        "[town = missing]",
        "[Yeo-Johnson of age] = age as the model transforms it, from -1 to 1 over the training range",
    ]
    assert max(drifts[1:3]) <= Fraction(1, 1000)
    assert drifts[0] == drifts[3] == 0


def test_a_phase_is_defined_by_its_arithmetic():
    columns = (Column("hour", "number", (), 0.0, 23.0),)
    steps = [(Fill(11.0), Cyclic(24.0, shift), Affine(0.1, 0.7)) for shift in (0.0, -6.0)]
    features = tuple(Feature(0, each) for each in steps)
    model = FittedModel(columns, features, random_ladder(2, (2,), 1, (1,)), Numbers(None))
    found, _ = formula_inputs(model, 1e-3)
    assert [str(one) for one in found] == [
        "[sin of hour / 24] = sin((hour * 0.2617993877991494)); a missing hour counts as 11",
        "[cos of hour / 24] = sin(((hour - -6) * 0.2617993877991494)); a missing hour counts as 11",
    ]
    # What the ladders get is middle + half * the sine itself.
    x = np.linspace(-30, 30, 7)
    for one, each, sine in zip(found, steps, (np.sin, np.cos), strict=True):
        values = x
        for step in each:
            values = step.apply(values)
        np.testing.assert_allclose(one.middle + one.half * sine(2 * np.pi * x / 24), values, atol=1e-14)
