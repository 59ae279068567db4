import math
import re
import sys

import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.predictive import Predictive
from polyladder.predictive.student import StudentPredictive
from tests.predictive.predictives import NUMBERS, classes, student


@pytest.mark.parametrize("said", NUMBERS.values(), ids=NUMBERS.keys())
def test_the_table_holds_means_and_ends(said: Predictive) -> None:
    page = said[:2]._repr_html_()
    low, high = said.interval(0.9)
    for value in said.mean[:2].ravel():
        assert f">{value:.4g}</td>" in page
    for a, b in zip(low[:2].ravel(), high[:2].ravel(), strict=True):
        assert f">{a:.4g} to {b:.4g}</td>" in page
    assert page.count("<svg") == said.mean[:2].size
    assert "nan" not in page.replace("std inf", "")


def test_pictures_lie_within_their_frame_and_share_a_scale() -> None:
    center = torch.tensor([[0.0], [100.0]]).double()
    said = StudentPredictive(center, torch.ones(2, 1).double(), torch.tensor([math.inf]).double(), True)
    ends = [float(x) for x in re.findall(r'x[12]="([\d.]+)"', said._repr_html_())]
    assert ends[0] == 4
    assert ends[3] == 156
    assert ends[1] < ends[2]


def test_rows_beyond_the_first_are_counted() -> None:
    said = ClassPredictive(torch.full((9, 2), 0.5).double(), np.array([0, 1]))
    assert "and 3 more rows" in said._repr_html_()
    assert said[:0]._repr_html_().count("<tr>") == 1
    assert NUMBERS["student"][:0]._repr_html_().count("<tr>") == 1


def test_outputs_beyond_the_first_are_counted() -> None:
    page = student(3.0, 3.0, 3.0, 3.0, 3.0, flat=False)[:1]._repr_html_()
    assert page.count("<svg") == 4
    assert "The first 4 of 5 outputs are shown." in page


def test_the_table_of_classes_escapes_its_labels() -> None:
    labels = np.array(["<script>", "b&b", "c", "d", "e", "f"])
    page = ClassPredictive(torch.full((1, 6), 1 / 6).double(), labels)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;, b&amp;b, c, d and 2 more" in page


@pytest.mark.slow
def test_plots_show_the_density_of_a_row() -> None:
    for said, lines in ((NUMBERS["mixture"], 1), (NUMBERS["two outputs"], 2)):
        ax = said.plot(row=1)
        assert len(ax.lines) == 2 * lines
        x, density = ax.lines[0].get_data()
        assert np.trapezoid(density, x) == pytest.approx(0.996, abs=2e-3)
        assert ax.lines[1].get_xdata()[0] == said.mean[1].ravel()[0]
        plt.close(ax.figure)


@pytest.mark.slow
def test_plots_of_classes_show_their_probabilities() -> None:
    said = classes()
    ax = said.plot(row=2)
    assert ax.get_title(loc="left") == "row 2"
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in ax.patches}
    np.testing.assert_allclose([widths[c] for c in range(4)], said.mean[2])
    plt.close(ax.figure)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[plot\]'"):
        classes().plot()
