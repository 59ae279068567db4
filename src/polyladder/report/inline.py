"""The page of a model inside a notebook, and a short picture of an estimator."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from polyladder.fitted.model import FittedModel, HasModel
from polyladder.report.page import render_report

HEIGHT = 900
"""Pixels of the frame."""


@dataclass(frozen=True)
class InlineReport:
    """A page that a notebook shows in a frame.

    Attributes:
        page: the whole page, as HTML.
    """

    page: str

    def _repr_html_(self) -> str:
        # The frame keeps the page's scripts and styles apart from those of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.page, quote=True)}" sandbox="allow-scripts allow-downloads" '
            f'title="The page of the model" style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"InlineReport({len(self.page):,} characters)"


def inline_report(model: FittedModel | HasModel, rows: Any = None, target: Any = None) -> InlineReport:
    """The page of a fitted estimator for a notebook; arguments as for `polyladder.write_report`."""
    return InlineReport(render_report(model, rows, target))
