"""The calibration figure: what is drawn is what was given."""

import sys

import numpy as np
import pytest
import torch

from polyladder.predictive.calibration import class_reliability, quantile_reliability
from polyladder.report.calibration import plot_calibration

pytest.importorskip("matplotlib").use("Agg")


def test_draws_each_curve_the_diagonal_and_the_band() -> None:
    levels = torch.linspace(0, 1, 400).double()
    even, low = quantile_reliability(levels), quantile_reliability(levels**2)
    ax = plot_calibration({"even": even, "low": low})
    diagonal, first, second = ax.get_lines()
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert np.array_equal(first.get_xydata(), torch.stack([even.stated, even.actual], 1).numpy())
    assert np.array_equal(second.get_ydata(), low.actual.numpy())
    band = ax.collections[0].get_paths()[0].vertices
    half = np.abs(band[:, 1] - band[:, 0]).max()
    assert half == pytest.approx(1.6449 * 0.5 / 400**0.5, rel=1e-3)
    labels = [t.get_text() for t in ax.get_legend().get_texts()]
    assert labels == ["calibrated, 90% of samples", "even (error 0.000)", f"low (error {low.error:.3f})"]


def test_empty_bins_are_left_out_and_axes_are_taken() -> None:
    from matplotlib import pyplot as plt

    axes = plt.subplots()[1]
    curve = class_reliability([0.1, 0.2, 0.9], [0, 0, 1], bins=10)
    assert plot_calibration(curve, ax=axes) is axes
    assert len(axes.get_lines()[1].get_xdata()) == 3


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="at least one reliability curve"):
        plot_calibration({})
    with pytest.raises(ValueError, match="level must be between 0 and 1; got 90"):
        plot_calibration(quantile_reliability([0.5]), level=90)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"polyladder\[plot\]"):
        plot_calibration(quantile_reliability([0.5]))
