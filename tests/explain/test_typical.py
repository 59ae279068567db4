"""Typical rows."""

import numpy as np

from polyladder.explain.typical import medoid, typical_row
from tests.fitted.reading import read_model
from tests.report import models


def test_the_medoid_by_all_distances() -> None:
    points = np.random.default_rng(0).normal(size=(60, 3))
    sums = [sum(np.linalg.norm(a - b) for b in points) for a in points]
    assert medoid(points) == int(np.argmin(sums))


def test_the_typical_row_is_one_of_the_rows() -> None:
    estimator, X, _ = models.make("mixed")
    found = typical_row(read_model(estimator, X), X)
    near = (X["size"] == found[0]) & (X["color"].fillna("none") == (found[2] or "none"))
    assert near.sum() == 1
    assert abs(X["size"].rank(pct=True)[near].iloc[0] - 0.5) < 0.4
    assert found[3] is None
