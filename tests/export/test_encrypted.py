import numpy as np
import pytest

from polyladder import encrypt
from tests.export.estimators import fitted
from tests.ladders import random_ladder


def test_the_smallest_ring_that_keeps_the_tolerance_is_taken():
    p = random_ladder(d=4, hidden=(4, 4), m=1)
    loose, tight = (encrypt(p, tolerance=t, ranges=[(-1.0, 1.0)] * 4) for t in (1e-1, 1e-5))
    assert (loose.parameters.degree, tight.parameters.degree) == (8192, 16384)
    assert loose.bound[0] <= 1e-1
    assert tight.bound[0] <= 1e-5


def test_the_default_tolerance_follows_the_guard():
    model = fitted("numbers")[0]
    low, high = model.target_.guard_range
    assert (encrypt(model).bound <= 1e-4 * (high - low).numpy()).all()


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.nan, np.inf])
def test_bad_tolerances_are_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance must be a positive number"):
        encrypt(random_ladder(), tolerance=tolerance, ranges=[(-1.0, 1.0)] * 3)
