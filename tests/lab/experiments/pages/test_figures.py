import re
import sys
from xml.etree import ElementTree

import pytest

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared
from polyladder_lab.experiments.pages.figures import INK, Drawing, activation_plots, depth_curves, dot_plots, histograms
from tests.lab.experiments.small import TEXT, filled, small

SVG = "{http://www.w3.org/2000/svg}"


def drawn(drawing, name):
    """How many marks (or lines without marks, or texts) the groups of a name have."""
    groups = [e for e in ElementTree.fromstring(drawing).iter(f"{SVG}g") if e.get("id") == name]
    return sum(max(1, sum(1 for _ in group.iter(f"{SVG}use"))) for group in groups)


def panels(drawing):
    return len(set(re.findall(r'id="axes_\d+"', drawing)))


def test_dot_plots_have_a_dot_for_each_split_and_a_mark_for_each_published_figure():
    d = small()
    drawing = dot_plots(compare(d, filled(d)))
    assert drawn(drawing, "split") == 9
    assert drawn(drawing, "published") == 2


@pytest.mark.slow
def test_depth_curves_have_a_point_for_each_depth():
    d = declared("table_4")
    drawing = depth_curves(compare(d, filled(d, lambda model, split: 5.0 + 0.1 * model + 0.01 * split)))
    assert panels(drawing) == 5
    assert drawn(drawing, "ours") == 25
    assert sum(1 for e in ElementTree.fromstring(drawing).iter(f"{SVG}use") if "7d8791" in e.get("style", "")) == 20


@pytest.mark.slow
def test_activation_plots_have_a_dot_for_each_row():
    unit = {"unit": 3, "u": [0.0, 1.0, 2.0], "h": [0.0, 1.0, 4.0]}
    drawing = activation_plots({"layers": [[unit] * 4] * 3})
    assert drawn(drawing, "row") == 36


@pytest.mark.slow
def test_histograms_have_a_panel_for_each_variance_and_input():
    each = {"input": 0, "ks": 0.1, "skewness": 0.0, "kurtosis": 3.0, "outside": 0, "histogram": [0, *[10] * 58, 0]}
    found = [{**each, "variance": v, "input": i} for v in (0.05, 0.1) for i in range(4)]
    drawing = histograms(found)
    assert panels(drawing) == drawn(drawing, "density") == 6
    assert "σ² = 0.05, test row 2" in drawing


def test_a_drawing_is_the_same_each_time_and_takes_the_ink_of_the_page():
    d = small()
    drawing = dot_plots(compare(d, filled(d)))
    assert drawing == dot_plots(compare(d, filled(d)))
    assert "currentColor" in drawing
    assert INK not in drawing


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    d = small()
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[plot\]'"):
        dot_plots(compare(d, filled(d)))


def test_a_model_that_blew_up_can_be_drawn():
    d = small()
    rows = filled(d, lambda model, split: None if model == 1 and split == 2 else 50.0 + split)
    assert drawn(dot_plots(compare(d, rows)), "published") == 2


def test_a_split_far_beyond_is_an_arrow_at_the_edge_and_so_is_a_published_figure():
    d = small(TEXT.replace("splits = 3", "splits = 20"))
    rows = filled(d, lambda model, split: 1000.0 if (model, split) == (0, 0) else 10.0 + split / 10)
    drawing = dot_plots(compare(d, rows))
    assert drawn(drawing, "split") == 60
    assert "55 ▸" in drawing
    assert "◂" not in drawing


def test_a_drawing_names_itself_and_escapes_its_name():
    text = Drawing(1, 1, (1.0, 1.0)).svg('a < "b"')
    assert text.startswith('<svg role="img" aria-label="a &lt; &quot;b&quot;"')
    ElementTree.fromstring(text)
    assert "<metadata>" not in text
