"""The last look at a model that was chosen: as it is kept, it predicts the compared rows as well as was reported."""

from __future__ import annotations

from torch import Tensor

from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.found import Selection

TIMES, MORE = 2.0, 1e-8
"""Largest error of the kept model: the reported error times the first number, plus the second. It should be lower than
reported, since the kept model was fitted to the compared rows."""


def kept_error(outputs: Tensor, compared: TrainingRows) -> float:
    """The error of a model at the compared rows, in the measure of a selection.

    Args:
        outputs: of the kept model, in standardized units. Shape (n, m).
        compared: the rows.
    """
    return compared.loss.deviance(outputs, compared.coded, compared.weight)


def as_reported(outputs: Tensor, compared: TrainingRows, selection: Selection) -> bool:
    """Whether a model predicts the compared rows as well as its selection reports; arguments as of `check_kept`."""
    return kept_error(outputs, compared) <= TIMES * selection.error + MORE


def check_kept(outputs: Tensor, compared: TrainingRows, selection: Selection) -> None:
    """Refuse a model that does not predict the compared rows as well as its selection reports.

    Args:
        outputs: of the kept model, in standardized units. Shape (n, m).
        compared: the rows that candidates were compared on.
        selection: what is reported.
    """
    if not as_reported(outputs, compared, selection):
        error = kept_error(outputs, compared)
        raise RuntimeError(
            f"The kept model must predict the {len(compared.y):,} compared rows about as well as was found without "
            f"them, with a {selection.measure} of {selection.error:.4g}; it has {error:.4g}. This is a fault of "
            "polyladder, which no table should cause: please report it, and give an order, such as order=4, to fit "
            "without a selection."
        )
