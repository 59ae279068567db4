import numpy as np

from tests.estimators.selection.candidates.few_rows import X, block


def test_what_lies_along_the_directions_is_that_of_the_compared_rows() -> None:
    some = block(20)
    np.testing.assert_allclose(some.along, some.directions.along(X[:20]))
    assert len(some.x) == 60
