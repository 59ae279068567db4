"""Small curves for notebooks: well-formed, and at the right heights."""

import re
from xml.etree import ElementTree

import pytest
import torch

from polyladder.report.notebook import EDGE, HEIGHT, MEMBERS, SHOWN, curve_grid
from tests.ladders import random_ladder


def polylines(text):
    """The lines of every chart as (x, y) pixels."""
    tree = ElementTree.fromstring(text)
    charts = [[line.attrib["points"] for line in svg.iter("polyline")] for svg in tree.iter("svg")]
    return [[[tuple(map(float, p.split(","))) for p in line.split()] for line in chart] for chart in charts]


def test_curves_are_the_polynomial_along_each_input():
    ladder = random_ladder(3, (4, 3), 1, seed=2)
    text = curve_grid(ladder)
    low, high = map(float, re.search(r"values from (\S+) to ([-\d.e+]+)\.", text).groups())
    charts = polylines(text)
    assert len(charts) == 3
    for i, (line,) in enumerate(charts):
        t = torch.linspace(-2, 2, len(line), dtype=torch.float64)
        rows = torch.zeros(len(line), 3, dtype=torch.float64)
        rows[:, i] = t
        found = torch.tensor([low + (HEIGHT - EDGE - y) / (HEIGHT - 2 * EDGE) * (high - low) for _, y in line])
        torch.testing.assert_close(found.double(), ladder(rows)[:, 0], atol=2e-3 * (high - low), rtol=0)


@pytest.mark.parametrize(("batch_shape", "lines"), [((), 2), ((3,), 6), ((5, 11), 2 * -(-55 // -(-55 // MEMBERS)))])
def test_every_output_and_member_has_its_line(batch_shape, lines):
    charts = polylines(curve_grid(random_ladder(2, (3,), 2, batch_shape=batch_shape)))
    assert [len(chart) for chart in charts] == [lines, lines]


def test_flat_inputs_are_left_out_of_many():
    ladder = random_ladder(SHOWN + 3, (4,), 1)
    ladder.W[0][:, 5], ladder.V[0][:, 5] = 0.0, 0.0
    text = curve_grid(ladder)
    assert len(polylines(text)) == SHOWN
    assert "3 flatter inputs" in text
    assert ">x5<" not in text
    assert ">x0<" in text or ">x1<" in text


def test_names_are_escaped_and_checked():
    text = curve_grid(random_ladder(2, (3,), 1), names=["<script>", 'a"b'])
    assert "<script>" not in text
    assert len(polylines(text)) == 2
    with pytest.raises(ValueError, match="2 different names"):
        curve_grid(random_ladder(2, (3,), 1), names=["a"])


def test_a_constant_polynomial_is_drawn():
    ladder = random_ladder(2, (3,), 1).map(torch.zeros_like)
    assert "nan" not in curve_grid(ladder)


def test_a_polynomial_shows_itself_in_a_notebook() -> None:
    ladder = random_ladder(2, (3,), 1)
    assert ladder._repr_html_() == curve_grid(ladder)
