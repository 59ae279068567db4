"""Reliability curves as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from polyladder.predictive.calibration import Reliability
from polyladder.report.display import axes, tidied

COLORS = ("#33658a", "#b3402a", "#5b8c5a", "#8c6bb1", "#c98a1b")
"""Of the curves, one after the other."""


def plot_calibration(curves: Reliability | Mapping[str, Reliability], ax: Any = None, level: float = 0.9) -> Any:
    """Draw actual against stated probabilities, with the diagonal of perfect calibration.

    The gray band is where a calibrated prediction would lie: the central range, of probability ``level``, of the share
    among as many independent rows (a normal approximation). Each point has its own, so a curve outside of it at one
    point in ten is to be expected.

    Args:
        curves: one reliability curve, or several by name. The band is drawn for the first.
        ax: matplotlib axes; new ones by default.
        level: of the band, in (0, 1).

    Returns:
        The axes.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    named = {"": curves} if isinstance(curves, Reliability) else dict(curves)
    if not named:
        raise ValueError("curves must hold at least one reliability curve; got none.")
    ax = axes(ax)
    first = next(iter(named.values()))
    seen = first.rows > 0
    stated, rows = first.stated[seen], first.rows[seen]
    wide = torch.special.ndtri(torch.tensor((1 + level) / 2)) * (stated * (1 - stated) / rows).sqrt()
    ax.fill_between(
        stated.numpy(),
        (stated - wide).clamp(0, 1).numpy(),
        (stated + wide).clamp(0, 1).numpy(),
        color="#dddddd",
        linewidth=0,
        label=f"calibrated, {level:.0%} of samples",
    )
    ax.plot([0, 1], [0, 1], color="#888888", linewidth=1)
    for i, (name, curve) in enumerate(named.items()):
        seen = curve.rows > 0
        color = COLORS[i % len(COLORS)]
        label = f"{name} (error {curve.error:.3f})" if name else f"error {curve.error:.3f}"
        ax.plot(
            curve.stated[seen].numpy(),
            curve.actual[seen].numpy(),
            marker="o",
            markersize=3.5,
            linewidth=1.5,
            color=color,
            label=label,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="stated probability", ylabel="actual share")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    return tidied(ax)
