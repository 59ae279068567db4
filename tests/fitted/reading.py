"""How tests come to a fitted model."""

from typing import Any

from polyladder.fitted.model import FittedModel, HasModel, fitted_model


def read_model(estimator: HasModel, rows: Any = None) -> FittedModel:
    """The model of an estimator, described by rows where it has no card."""
    return fitted_model(estimator).described_by(rows)
