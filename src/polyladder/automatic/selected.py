"""The record of a selection for a model card, in the form that the choice among settings has."""

from __future__ import annotations

from typing import Any

from polyladder.estimators.selection.found import Selection

LONG = 60.0
"""Seconds from which on the effort of a selection is high."""

SHORT = 15.0
"""Seconds below which it is low."""


def effort_for(seconds: float | None) -> str:
    """The effort that fits a budget of seconds for the whole run; 0 and None are no budget."""
    if not seconds:
        return "default"
    return "high" if seconds >= LONG else "low" if seconds < SHORT else "default"


def selection_json(selection: Selection) -> dict[str, Any]:
    """A selection as plain JSON for a card.

    Args:
        selection: of an estimator that was fitted with ``order="auto"``.
    """
    listed = [(c.model, c.features, c.order, c.error, c.weight) for c in selection.candidates]
    return {
        "sentence": selection.sentence,
        "floor": selection.floor,
        "measure": selection.measure,
        "candidates": [dict(zip(("model", "features", "order", "error", "weight"), c, strict=True)) for c in listed],
        "trials": [[c.words, c.error, 0.0] for c in selection.candidates],
        "order_path": [list(pair) for pair in selection.order_path],
        "order_note": f"Lowest error of each order that was tried, as {selection.measure} on rows left out of the fit.",
    }


def nothing_selected(sentence: str) -> dict[str, Any]:
    """The same record of a model of given settings: a sentence says what it is."""
    return {"sentence": sentence, "trials": [], "order_path": [], "order_note": ""}
