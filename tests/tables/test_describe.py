"""Columns in numbers; what a card says of them is tested with the card."""

import numpy as np
import pytest

from polyladder.tables.describe import BINS, describe_numbers


@pytest.mark.parametrize("values", [[2.0**63, 2.0**63 + 2048], [1e16, 1e16 + 2], [5.0, 5.0], [-1e308, 1e308]])
def test_every_column_has_a_density(values: list[float]) -> None:
    """Numbers so close to each other that there are not as many floats between them as bins are counted as well."""
    found = describe_numbers("c", np.array(values * 10))
    edges, counts = found["density"]["edges"], found["density"]["counts"]
    assert sum(counts) == 20
    assert len(edges) == len(counts) + 1 <= BINS + 1
    assert edges[0] <= min(values)
    assert max(values) <= edges[-1]
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()


def test_ordinary_columns_have_equal_bins() -> None:
    values = np.random.default_rng(0).normal(size=200)
    counts, edges = np.histogram(values, BINS)
    found = describe_numbers("c", values)["density"]
    assert found["counts"] == counts.tolist()
    assert found["edges"] == pytest.approx(edges.tolist())
