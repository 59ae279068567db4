from typing import Any

import numpy as np
import pytest
from scipy import sparse

from polyladder import LPNNRegressor
from polyladder.tables.sparse_features import SparseFeatures, SparseTable, is_sparse_table, read_sparse

DENSE = np.array([[1.0, 0.0, -2.0, 0.0], [0.0, 0.0, 4.0, 5.0], [3.0, 0.0, 0.0, 6.0]])


def table(dense: Any = DENSE) -> SparseTable:
    return SparseTable(sparse.csr_matrix(dense), tuple("abcd"))


def test_columns_are_divided_by_their_largest_size_and_zeros_stay() -> None:
    features = SparseFeatures().fit_table(table())
    assert features.scale_.tolist() == [3.0, 1.0, 4.0, 6.0]
    out = features.transform_table(table())
    assert sparse.issparse(out)
    assert out.nnz == table().numbers.nnz
    np.testing.assert_allclose(out.toarray(), DENSE / [3, 1, 4, 6])
    assert features.feature_names_out_ == list("abcd")


@pytest.mark.parametrize("clip", [True, False])
def test_values_beyond_the_training_range_are_held_unless_told_otherwise(clip: bool) -> None:
    features = SparseFeatures(clip=clip).fit_table(table())
    new = np.array([[9.0, 7.0, -9.0, 1.0], [-1.0, 0.0, 9.0, -1.0]])
    # A zero that is not stored belongs to the range: column d of 5 and 6 reaches down to it.
    held = new.clip([0, 0, -2, 0], [3, 0, 4, 6]) if clip else new
    np.testing.assert_allclose(features.transform_table(table(new)).toarray(), held / [3, 1, 4, 6])
    assert table(new).numbers.toarray().tolist() == new.tolist()


def test_rows_of_weight_zero_are_not_learned_from() -> None:
    features = SparseFeatures().fit_table(table(), np.array([1.0, 0.0, 2.0]))
    assert features.scale_.tolist() == [3.0, 1.0, 2.0, 6.0]
    assert features.low_.tolist() == [0, 0, -2, 0]
    assert features.high_.tolist() == [3, 0, 0, 6]


def test_the_affine_form_is_the_transform_inside_the_range() -> None:
    features = SparseFeatures().fit_table(table())
    matrix, shift = features.affine()
    np.testing.assert_allclose((matrix @ DENSE.T).T + shift, features.transform_table(table()).toarray())


def test_entries_given_twice_are_summed_in_a_copy() -> None:
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    read = read_sparse(LPNNRegressor(), twice, reset=True)
    assert read.numbers.toarray().tolist() == [[3.0, 0.0], [0.0, 5.0]]
    assert read.numbers.nnz == 2
    assert twice.nnz == 3
    assert read.names == ("x0", "x1")


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix, sparse.lil_matrix])
def test_every_form_of_sparse_rows_is_read(form: Any) -> None:
    assert is_sparse_table(form(DENSE))
    assert not is_sparse_table(DENSE)
    estimator = LPNNRegressor()
    assert read_sparse(estimator, form(DENSE), reset=True).numbers.toarray().tolist() == DENSE.tolist()
    assert estimator.n_features_in_ == 4
    assert read_sparse(estimator, DENSE[:1], reset=False).numbers.toarray().tolist() == DENSE[:1].tolist()


def test_what_sparse_rows_cannot_have_is_refused() -> None:
    rows = sparse.csr_matrix(DENSE)
    with pytest.raises(ValueError, match="The 'features' parameter of LPNNRegressor must be 'standard' for sparse X"):
        read_sparse(LPNNRegressor(features="quantile"), rows, reset=True)
    estimator = LPNNRegressor()
    read_sparse(estimator, rows, reset=True)
    with pytest.raises(ValueError, match="has 3 features, but LPNNRegressor is expecting 4"):
        read_sparse(estimator, rows[:, :3], reset=False)
    with pytest.raises(ValueError, match="NaN"):
        read_sparse(estimator, sparse.csr_matrix(np.where(DENSE == 4, np.nan, DENSE)), reset=False)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        read_sparse(LPNNRegressor(), rows[:1], reset=True)
