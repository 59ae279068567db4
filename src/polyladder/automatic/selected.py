"""The record of a selection for a model card, in the form that the choice among settings has."""

from __future__ import annotations

from typing import Any

from polyladder.estimators.selection.found import Selection


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
