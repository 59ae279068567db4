"""How a model was chosen, for its card."""

from __future__ import annotations

from typing import Any

from polyladder.estimators.batch.fitting import L2
from polyladder.estimators.bayesian import BayesianEstimator
from polyladder.estimators.selection.found import Selection
from polyladder.estimators.table_estimator import TableEstimator


def how_chosen(estimator: TableEstimator) -> dict[str, Any]:
    """The record of an estimator that `fit_table` has fitted: its selection, or its settings where it has none."""
    try:
        selection = estimator.selection_
    except AttributeError:  # its settings were given
        return nothing_selected(
            f"Columns are scaled as a short selection chose, all else is as usual: {usual_words(estimator)}."
        )
    return selection_json(selection)


def usual_words(estimator: TableEstimator) -> str:
    """The settings of an estimator that has not selected them, in a few words."""
    bayesian = isinstance(estimator, BayesianEstimator)
    ladders = estimator.posterior_.weights if bayesian else estimator.members_
    last = f"{len(ladders)} draws" if bayesian else f"L2 weight {L2:g}"
    return f"order {estimator.order_}, width {ladders.hidden[0]}, {estimator.features_.kind} features, {last}"


def selection_json(selection: Selection) -> dict[str, Any]:
    """A selection as plain JSON for a card.

    Args:
        selection: of an estimator that was fitted with ``order="auto"``.
    """
    listed = [(c.model, c.features, c.order, c.error, c.weight) for c in selection.candidates]
    return {
        "sentence": selection.sentence,
        "compact": selection.compact,
        "floor": selection.floor,
        "measure": selection.measure,
        "candidates": [dict(zip(("model", "features", "order", "error", "weight"), c, strict=True)) for c in listed],
        "order_path": [list(pair) for pair in selection.order_path],
        "order_note": f"Lowest error of each order that was tried, as {selection.measure} on rows left out of the fit.",
    }


def nothing_selected(sentence: str) -> dict[str, Any]:
    """The same record of a model of given settings: a sentence says what it is."""
    return {"sentence": sentence, "order_path": [], "order_note": ""}
