"""Certified and attacked error against the radius, as a figure."""

from __future__ import annotations

from typing import Any

from polyladder.report.display import axes
from polyladder.robustness.curve import RobustnessCurve


def plot_robustness(curve: RobustnessCurve, ax: Any = None) -> Any:
    """Draw what is proven and what an attack reached; the truth lies in the band between them.

    Args:
        curve: from `robustness_curve`.
        ax: matplotlib axes; new ones by default.

    Returns:
        The axes.
    """
    ax = axes(ax)
    percent = [100 * r for r in curve.radii]
    ax.fill_between(percent, curve.attacked, curve.certified, color="#dddddd", linewidth=0)
    ax.plot(percent, curve.certified, "o-", color="#33658a", markersize=4, label="certified: no attack does worse")
    ax.plot(percent, curve.attacked, "o-", color="#b3402a", markersize=4, label="reached by the attack")
    ax.set(xlabel="radius, % of each column's range", ylabel=curve.measure)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, loc="upper left")
    return ax
