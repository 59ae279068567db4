"""Contributions, drawn."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from polyladder.explain.explanation import explain
from polyladder.report.waterfall import BARS, explanation_html, plot_waterfall, steps_of
from tests.report import models


@pytest.mark.slow
def test_bars_lead_from_the_start_to_the_output() -> None:
    model, X, _ = models.make("posterior")
    found = explain(model, X.iloc[:3])
    ax = plot_waterfall(found, row=1)
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    assert len(bars) == 3
    ends = [found.contributions.start[0]]
    for bar in bars:
        assert np.isclose(min(bar.get_x(), bar.get_x() + bar.get_width()), min(ends[-1], ends[-1] + bar.get_width()))
        ends.append(ends[-1] + bar.get_width())
    assert np.isclose(ends[-1], found.contributions.outputs[1, 0])
    plt.close(ax.figure)


def test_many_columns_share_the_last_bar_and_names_are_text() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    model = models.regressor(order=2).fit(X, X.sum(1))
    parts = explain(model, X[:2]).contributions
    steps = steps_of(parts, 0, 0)
    assert len(steps) == BARS + 1
    assert steps[-1][0] == "8 other columns"
    assert np.isclose(sum(value for _, value in steps), parts.outputs[0, 0] - parts.start[0])
    mixed, y = models.mixed(names=models.HOSTILE)
    hostile = explain(models.regressor().fit(mixed, y), mixed.iloc[:2])
    text = explanation_html(hostile)
    assert "<script>hacked" not in text
    assert "<img" not in text
