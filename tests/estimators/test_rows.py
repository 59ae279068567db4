import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder.estimators.rows import MANY_ROWS, REPETITIONS, TrainingRows, settle_weights
from polyladder.polynomial.sparse import as_rows, is_sparse
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax


def rows(weight: list[float] | None = None, n: int = 4) -> TrainingRows:
    z = torch.arange(2.0 * n, dtype=torch.float64).reshape(n, 2)
    given = None if weight is None else torch.tensor(weight, dtype=torch.float64)
    return TrainingRows(z, torch.tensor([0, 2, 1, 2] * n)[:n], given, 3, Softmax())


@pytest.mark.parametrize(
    ("weight", "repeated", "count"),
    [(None, False, 4), ([1, 2, 0, 3], True, 6), ([0.5, 1.5, 0, 2], False, 3), ([1, 1, 1, 1], True, 4)],
)
def test_whole_weights_are_repetitions(weight: list[float] | None, repeated: bool, count: int) -> None:
    assert rows(weight).repeated is repeated
    assert rows(weight).count == count


def test_many_rows_are_counted_with_their_repetitions() -> None:
    assert not rows().many
    assert rows([MANY_ROWS - 3, 1, 1, 1]).many
    assert rows(n=MANY_ROWS).many
    assert not rows(n=MANY_ROWS - 1).many


def test_some_rows_by_number() -> None:
    taken = rows([1, 2, 0, 3]).take(torch.tensor([3, 0, 3]))
    assert taken.z.tolist() == [[6, 7], [0, 1], [6, 7]]
    assert taken.y.tolist() == [2, 0, 2]
    assert taken.weight is not None
    assert taken.weight.tolist() == [3, 1, 3]
    assert (taken.outputs, taken.loss) == (3, Softmax())
    z = as_rows(sparse.csr_matrix(np.eye(4)))
    thin = TrainingRows(z, torch.arange(4), None, 4, Softmax()).take(torch.tensor([2]))
    assert is_sparse(thin.z)
    assert thin.z.to_dense().tolist() == [[0, 0, 1, 0]]
    assert thin.weight is None


def test_one_class_against_all_others() -> None:
    one = rows([1, 2, 0, 3]).one_class(2)
    assert one.y.tolist() == [0, 1, 0, 1]
    assert (one.outputs, one.loss) == (1, Logistic())
    assert one.weight is not None


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ([1.0, 2.0, 0.0], [1.0, 2.0, 0.0]),
        ([0.5, 1.5, 0.0], [0.5, 1.5, 0.0]),
        ([1e-3, 3e-3, 0.0], [0.5, 1.5, 0.0]),
        ([100.0, 300.0, 0.0], [0.5, 1.5, 0.0]),
        ([REPETITIONS, REPETITIONS, 0.0], [REPETITIONS, REPETITIONS, 0.0]),
        ([REPETITIONS, REPETITIONS + 1, 0.0], [20 / 21, 22 / 21, 0.0]),
    ],
)
def test_only_the_ratios_of_other_weights_count(weight: list[float], expected: list[float]) -> None:
    settled = settle_weights(np.array(weight))
    assert settled.dtype == torch.float64
    np.testing.assert_allclose(settled, expected, rtol=1e-12)


def test_weights_must_leave_rows() -> None:
    with pytest.raises(ValueError, match="sample_weight must leave some rows; every weight is zero"):
        settle_weights(np.zeros(3))
