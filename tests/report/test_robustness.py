import matplotlib as mpl
import pytest

from polyladder import plot_robustness
from polyladder.robustness.curve import RobustnessCurve

mpl.use("Agg")


def test_both_lines_and_the_band_between_them() -> None:
    curve = RobustnessCurve((0.0, 0.05), (0.1, 0.4), (0.1, 0.2), "error rate")
    ax = plot_robustness(curve)
    certified, attacked = ax.lines
    assert list(certified.get_xdata()) == [0.0, 5.0]
    assert list(certified.get_ydata()) == [0.1, 0.4]
    assert list(attacked.get_ydata()) == [0.1, 0.2]
    assert len(ax.collections) == 1
    assert ax.get_ylabel() == "error rate"
    assert plot_robustness(curve, ax) is ax


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"polyladder\[plot\]"):
        plot_robustness(RobustnessCurve((0.0,), (0.1,), (0.1,), "error rate"))
