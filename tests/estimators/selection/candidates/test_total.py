import numpy as np
import torch

from polyladder.estimators.selection.candidates.kernel import kernel_by_rows
from polyladder.estimators.selection.candidates.linear import line_by_rows
from polyladder.estimators.selection.candidates.total import Total
from tests.estimators.selection.candidates.few_rows import X, block, outputs, problem


def test_kernels_over_the_same_directions_share_a_ladder() -> None:
    one, line = block(), line_by_rows(problem(), X, "standard")[0]
    trials = [kernel_by_rows(problem(), one, degree)[0] for degree in (1, 2, 3, 2)]
    total = Total(3, 1)
    for trial in (*trials, line):
        trial.add_to(total, 0.25)
    parts = total.parts()
    assert len(parts) == 2  # the kernels of degree 2 and 3, and all that is linear
    found = sum(part(torch.from_numpy(X)) for part in parts).numpy()
    np.testing.assert_allclose(found, sum(outputs(trial, 0.25) for trial in (*trials, line)), atol=1e-9)


def test_a_sum_of_nothing_is_zero() -> None:
    (part,) = Total(3, 2).parts()
    assert part(torch.from_numpy(X)).abs().max() == 0
