import pytest
import torch

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.bounds import gradient_size, largest, output_size, run_bounds
from tests.lab.experiments.small import TEXT, small

BOUNDED = TEXT.replace(
    '[[model]]\nname = "FFR"',
    '[[model]]\nname = "bounded"\nbounds = { family = "ladder", hidden = [4, 4] }\n\n[[model]]\nname = "FFR"',
)


@pytest.mark.slow
def test_no_bound_is_below_what_was_found():
    d = small(BOUNDED)
    ((result,),) = run_bounds([measurement(d, d.columns[0], d.models[0], {}, 0, None)])
    found = result.more["bounds"]
    for name in ("output", "gradient"):
        assert 0 < found[f"{name}_found"] <= found[f"{name}_local"] <= found[f"{name}_paper"]


def test_the_search_finds_the_largest_of_a_square():
    one, zero = torch.ones(1, 1, 1, dtype=torch.float64)[0], torch.zeros(1, dtype=torch.float64)
    square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
    assert largest(square, output_size, 3.0, 0) == pytest.approx(9.0)
    assert largest(square, gradient_size, 3.0, 0) == pytest.approx(6.0)
