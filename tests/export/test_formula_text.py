"""The text of a formula is read again, in fractions, and held against the model in fractions: its own bound is true."""

import random
import re
from fractions import Fraction

import pytest
import torch

from polyladder import LPNNRegressor, formula
from polyladder.export.formula import fitted_formula
from polyladder.fitted.answers import Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, fitted_model
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Affine, Clip, Ramp
from tests.ladders import random_ladder
from tests.oracles.ladder import evaluate

NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]\d+)?"
TERM = re.compile(rf"([-+]?) ?({NUMBER})((?: \[[^\]]*\](?:\^\d+)?)*)")
FACTOR = re.compile(r"(\[[^\]]*\])(?:\^(\d+))?")
WHERE = re.compile(rf"where (\[.*\]) = \((.*) ([-+]) ({NUMBER})\) / ({NUMBER})(, held to -1 \.\.\. 1)?(?:; .*)?")
GUARD = re.compile(rf"Predictions.* are held to ({NUMBER}) \.\.\. ({NUMBER})\.")


def held(x, low, high):
    return max(low, min(high, x))


def read(text, row):
    """What the text says of a row: for each output its value, its proven error, and the prediction."""
    lines = text.splitlines()
    inputs = {}
    for name, column, sign, middle, half, ramp in (m.groups() for line in lines if (m := WHERE.fullmatch(line))):
        value = (row[column] + Fraction(sign + middle)) / Fraction(half)
        inputs[name] = held(value, -1, 1) if ramp else value
    guards = [[Fraction(end) for end in m.groups()] for line in lines if (m := GUARD.fullmatch(line))]
    outputs = [i for i, line in enumerate(lines) if "proven to be within" in line]
    found = []
    for k, i in enumerate(outputs):
        total, at, words = Fraction(0), 0, lines[i - 1].partition(" = ")[2]
        while at < len(words):
            term = TERM.match(words, at)
            assert term, words[at:]
            at = term.end() + 1
            product = Fraction(term[1] + term[2])
            for name, power in FACTOR.findall(term[3]):
                product *= inputs[name] ** int(power or 1)
            total += product
        error = Fraction(re.search(rf"within ({NUMBER}) in the training range", lines[i])[1])
        found.append((total, error, held(total, *guards[k]) if guards else total))
    return found


def exact(model, row):
    """Outputs of the model at a row, and its predictions."""
    z = []
    for feature in model.steps:
        x = row[model.columns[feature.column].name]
        for step in feature.steps:
            match step:
                case Clip(low, high):
                    x = held(x, Fraction(low), Fraction(high))
                case Affine(shift, scale):
                    x = (x - Fraction(shift)) / Fraction(scale)
                case Ramp(low, high):
                    x = held((x - Fraction(low)) / (Fraction(high) - Fraction(low)), Fraction(0), Fraction(1))
        z.append(x)
    draws = [evaluate(model.ladders[s], z) for s in range(len(model.ladders))]
    outputs = [sum(each) / len(draws) for each in zip(*draws, strict=True)]
    guard = model.answer.guard
    if guard is None:
        return [(v, v) for v in outputs]
    return [(v, held(v, Fraction(low), Fraction(high))) for v, low, high in zip(outputs, *guard, strict=True)]


def some_model(seed):
    """Columns far from zero, ramps, outputs far from zero, one or two ladders, guards within reach."""
    rng = random.Random(seed)
    columns, features = [], []
    for i in range(rng.choice([1, 2, 3])):
        low = rng.choice([0.0, rng.uniform(-1, 1), 10 ** rng.uniform(2, 9), -(10 ** rng.uniform(2, 9))])
        high = low + 10 ** rng.uniform(-3, 4)
        columns.append(Column(f"x{i}", "number", (), low, high))
        scaled = (Clip(low, high), Affine(rng.uniform(low, high), (high - low) / rng.uniform(2, 5)))
        features.append(Feature(i, scaled))
        if rng.random() < 0.4:
            ends = sorted((v - scaled[1].shift) / scaled[1].scale for v in (rng.uniform(low, high) for _ in range(2)))
            features.append(Feature(i, (*scaled, Ramp(*ends), Affine(rng.uniform(0, 1), rng.uniform(0.1, 1)))))
    m, draws = rng.choice([1, 1, 2]), rng.choice([1, 2])
    p = random_ladder(len(features), rng.choice([(2,), (2, 2)]), m, (draws,), seed=seed)
    shift, size = rng.choice([0.0, 10 ** rng.uniform(3, 9)]), 10 ** rng.uniform(-3, 3)
    p = type(p)(W=p.W, b=p.b, V=p.V, c=p.c, readout=p.readout * size, offset=p.offset * size + shift)
    ends = sorted(shift + size * rng.uniform(-3, 3) for _ in range(2))
    guard = rng.choice([None, ((ends[0],) * m, (ends[1],) * m)])
    return FittedModel(tuple(columns), tuple(features), p, Numbers(guard), "price"), size, rng


@pytest.mark.slow
def test_hundreds_of_formulas_with_large_offsets_keep_what_they_print():
    longest = 0
    for seed in range(240):
        model, size, rng = some_model(seed)
        budget, digits = rng.choice([(0.0, None), (0.03 * size, None), (size, None), (1e-5 * size, None), (size, 4)])
        made = fitted_formula(model, budget, digits, 1000)
        text = str(made)
        assert len({i.name for i in made.inputs}) == len(made.inputs)
        if budget and digits is None:
            # What float64 itself cannot tell apart is not a matter of printing.
            assert max(made.errors) <= max(budget, 1e-13 * float(model.ladders.offset.abs().max()))
            longest = max(longest, len(made.terms[0]))
        for _ in range(3):
            row = {c.name: Fraction(rng.choice([c.low, c.high, rng.uniform(c.low, c.high)])) for c in model.columns}
            for (shown, error, prediction), (output, true) in zip(read(text, row), exact(model, row), strict=True):
                assert abs(shown - output) <= error, (seed, text)
                assert abs(prediction - true) <= error, (seed, text)
    assert longest > 10


def test_numbers_are_as_short_as_the_tolerance_allows():
    model, size, _ = some_model(3)
    lengths = [len(str(fitted_formula(model, share * size, None, 1000))) for share in (0.3, 1e-3, 1e-6, 0.0)]
    assert lengths == sorted(lengths)
    assert lengths[0] < 0.75 * lengths[-1]


def test_a_fitted_model_far_from_zero():
    """As a user would have it: a year, a distance, and a price in cents."""
    g = torch.Generator().manual_seed(0)
    year, distance = (torch.rand(80, generator=g, dtype=torch.float64) for _ in range(2))
    X = torch.stack([1990 + 30 * year, 1e6 + 5 * distance], 1)
    y = 3e8 + 40 * year * distance - 10 * year
    model = LPNNRegressor(order=2, width=3, n_estimators=1, random_state=0).fit(X.numpy(), y.numpy())
    text = str(formula(model, tolerance=0.01))
    spread = float(y.max() - y.min())
    for x, predicted in zip(X.tolist(), model.predict(X.numpy()).tolist(), strict=True):
        row = {"x0": Fraction(x[0]), "x1": Fraction(x[1])}
        ((shown, error, prediction),) = read(text, row)
        ((output, true),) = exact(fitted_model(model), row)
        assert abs(shown - output) <= error <= Fraction(0.0101 * spread)
        assert abs(prediction - true) <= error
        assert abs(prediction - Fraction(predicted)) <= error
    assert len(text) < 400
