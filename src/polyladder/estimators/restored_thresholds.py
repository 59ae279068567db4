"""Whether the sets of classes of a model that came out of a file are what they are read as."""

from __future__ import annotations

import torch

from polyladder.estimators.table_estimator import ClassPrediction, TableEstimator
from polyladder.predictive.conformal import Thresholds


def unfit_thresholds(estimator: TableEstimator) -> str | None:
    """The word ``thresholds_`` if it is not what it is read as, else None; files of earlier versions have none.

    That levels ascend and scores rise with them was checked when they were read.
    """
    held = estimator.thresholds_
    if held is None:
        return None
    good = isinstance(estimator, ClassPrediction) and type(held) is Thresholds
    good = good and held.levels.dtype == held.scores.dtype == torch.float64
    return None if good else "thresholds_"
