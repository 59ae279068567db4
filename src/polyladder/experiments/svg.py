"""Plain SVG: panels with scales and ticks, and marks in the data's units. Colors are CSS classes of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Panel:
    """A rectangle of the picture with data scales.

    Attributes:
        left, top, width, height: in pixels.
        x, y: the data's ranges.
        log_y: whether the vertical scale is logarithmic.
    """

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    log_y: bool = False

    def px(self, value: float) -> float:
        """Horizontal position of a value."""
        return round(self.left + self.width * (value - self.x[0]) / (self.x[1] - self.x[0]), 2)

    def py(self, value: float) -> float:
        """Vertical position of a value."""
        low, high = self.y
        share = (value - low) / (high - low)
        if self.log_y:
            share = math.log(value / low) / math.log(high / low)
        return round(self.top + self.height * (1 - share), 2)

    def frame(self) -> str:
        """The two axes."""
        left, bottom = self.left, self.top + self.height
        return f'<path class="axis" d="M{left},{self.top}V{bottom}H{left + self.width}"/>'

    def x_ticks(self, values: Sequence[float], labels: Sequence[str] | None = None) -> str:
        """Labels below the horizontal axis."""
        y = self.top + self.height
        texts = labels or [plain(v) for v in values]
        marks = (f'<path class="axis" d="M{self.px(v)},{y}v3"/>' for v in values)
        return "".join([*marks, *(text(self.px(v), y + 13, t, "tick") for v, t in zip(values, texts, strict=True))])

    def y_ticks(self, values: Sequence[float]) -> str:
        """Faint lines with labels left of the vertical axis."""
        lines = (f'<path class="grid" d="M{self.left},{self.py(v)}h{self.width}"/>' for v in values)
        return "".join([*lines, *(text(self.left - 5, self.py(v) + 3.5, plain(v), "tick end") for v in values)])

    def line(self, points: Iterable[tuple[float, float]], style: str) -> str:
        """A line through points in data units."""
        return f'<path class="{style}" d="M{" L".join(f"{self.px(x)},{self.py(y)}" for x, y in points)}"/>'

    def dot(self, x: float, y: float, radius: float, style: str) -> str:
        """A dot in data units."""
        return f'<circle class="{style}" cx="{self.px(x)}" cy="{self.py(y)}" r="{radius}"/>'

    def bar(self, x: tuple[float, float], y: float, style: str) -> str:
        """A bar that stands on the horizontal axis."""
        left, right, top = self.px(x[0]), self.px(x[1]), self.py(y)
        height = round(self.top + self.height - top, 2)
        return f'<rect class="{style}" x="{left}" y="{top}" width="{round(right - left, 2)}" height="{height}"/>'


def text(x: float, y: float, content: str, style: str = "") -> str:
    """A text; its class says how it is aligned."""
    return f'<text class="{style}" x="{round(x, 2)}" y="{round(y, 2)}">{escape(content)}</text>'


def picture(width: float, height: float, parts: Iterable[str], label: str) -> str:
    """A whole drawing, which scales with the page and is named for readers who do not see it."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img" '
        f'aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
    )


def nice_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers inside a range.

    >>> nice_ticks(0.13, 4.2)
    [1.0, 2.0, 3.0, 4.0]
    """
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten inside a range.

    >>> log_ticks(0.015, 0.3)
    [0.02, 0.05, 0.1, 0.2]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [v for p in powers for f in (1, 2, 5) if low <= (v := round(f * 10.0**p, 12)) <= high]


def plain(value: float) -> str:
    """A number without needless zeros."""
    return f"{value:g}"
