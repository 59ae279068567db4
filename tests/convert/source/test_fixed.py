import re

import numpy as np
import pytest
import torch

from polyladder.convert.source.fixed import fixed_source
from polyladder.fitted.model import fitted_model, ladder_model
from tests.convert.source.compiled import library
from tests.export.estimators import case, each
from tests.ladders import random_ladder


def answers_of(source, model, rows, folder, bits):
    """The answers of integer C for rows of numbers, scaled as the header says."""
    exponents = [int(e) for e in re.search(r"exponents\[\] = \{(.*)\}", source.header)[1].split(",")]
    power = int(re.search(r"ANSWER_EXPONENT \((-?\d+)\)", source.header)[1])
    smallest, largest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    words = np.empty(rows.shape, dtype=f"int{bits}")
    for i, column in enumerate(model.columns):
        for n, value in enumerate(rows[:, i]):
            if column.kind == "category":
                text = value if isinstance(value, str) else None
                words[n, i] = column.categories.index(text) if text in column.categories else -1
            elif value is None or value != value:
                words[n, i] = smallest
            else:
                words[n, i] = min(max(round(float(value) * 2.0 ** -exponents[i]), smallest + 1), largest)
    loaded = library(source, folder)
    predict = loaded.ladder_predict
    import ctypes

    predict.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    predict.restype = None
    out = np.empty((len(rows), len(source.bound)), dtype=words.dtype)
    for n in range(len(rows)):
        predict(words[n].ctypes.data, out[n].ctypes.data)
    return out * 2.0**power


@pytest.mark.parametrize("bits", [32, 16])
@pytest.mark.parametrize("name", each("numbers", "gaps and categories", "two outputs", "machine", "piecewise"))
def test_within_its_proven_bound(name, bits, tmp_path):
    model, rows, answers = case(name)
    description = fitted_model(model)
    source = fixed_source(description, bits=bits)
    found = answers_of(source, description, rows.to_numpy(dtype=object), tmp_path, bits)
    error = np.abs(found - answers).max(0)
    assert (error <= source.bound).all()
    # The bound is no mere formality, and 32 bits are enough for these models.
    assert (error > 0).all()
    if bits == 32:
        assert (np.array(source.bound) < 0.05 * np.abs(answers).max()).all()


def test_no_floating_point_anywhere():
    text = str(fixed_source(fitted_model(case("numbers")[0])))
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert not re.search(r"float|double|0x|\d\.\d|math", code)


def test_a_bare_ladder_needs_ranges(tmp_path):
    p = random_ladder(d=2, m=1)
    with pytest.raises(ValueError, match="must be held to a range"):
        fixed_source(ladder_model(p))
    model = ladder_model(p)
    source = fixed_source(model, ranges=[(-1.0, 1.0), (-2.0, 2.0)])
    x = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    found = answers_of(source, model, x.astype(object), tmp_path, 32)
    assert (np.abs(found - p(torch.tensor(x)).numpy()).max(0) <= source.bound).all()
    with pytest.raises(ValueError, match="ranges must hold"):
        fixed_source(model, ranges=[(1.0, 0.0), (0.0, 1.0)])


def test_what_is_not_integer_is_refused():
    with pytest.raises(ValueError, match="model of numbers"):
        fixed_source(fitted_model(case("two classes")[0]))
    with pytest.raises(ValueError, match="must be without intervals"):
        fixed_source(case("intervals")[0])
    with pytest.raises(ValueError, match="YeoJohnson is not of that kind"):
        fixed_source(fitted_model(case("yeo-johnson")[0]))
    with pytest.raises(ValueError, match="Cyclic is not of that kind"):
        fixed_source(fitted_model(case("cyclic")[0]))
    with pytest.raises(ValueError, match="bits must be 16 or 32"):
        fixed_source(fitted_model(case("numbers")[0]), bits=8)
