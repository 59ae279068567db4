import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder.polynomial.sparse import as_rows, is_sparse, power, row_parts, stored_values, take_rows, times
from tests.ladders import rows


def table(n: int = 7, d: int = 5, seed: int = 0) -> np.ndarray:
    """Numbers of which two thirds are zero; row 2 and column 3 are empty."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, d)) < 0.35, rng.normal(size=(n, d)), 0.0)
    dense[2], dense[:, 3] = 0.0, 0.0
    return dense


def test_scipy_rows_become_tensors_that_share_their_values() -> None:
    matrix = sparse.csr_matrix(table())
    x = as_rows(matrix)
    assert is_sparse(x)
    assert torch.equal(x.to_dense(), torch.from_numpy(table()))
    matrix.data[0] = 42.0
    assert stored_values(x)[0] == 42.0
    dense = as_rows(table())
    assert not is_sparse(dense)
    assert torch.equal(dense, torch.from_numpy(table()))
    assert stored_values(dense) is dense


@pytest.mark.parametrize("index", [[0], [2], [6, 0, 6, 2, 1], [], list(range(7))])
def test_rows_are_taken_by_number_in_order(index: list[int]) -> None:
    numbers = torch.tensor(index, dtype=torch.int64)
    expected = torch.from_numpy(table()[index])
    taken = take_rows(as_rows(sparse.csr_matrix(table())), numbers)
    assert is_sparse(taken)
    assert taken.shape == (len(index), 5)
    assert torch.equal(taken.to_dense(), expected)
    assert torch.equal(take_rows(torch.from_numpy(table()), numbers), expected)


@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.parametrize("form", [sparse.csr_matrix, np.asarray])
def test_parts_cover_the_rows_once(form: type, size: int) -> None:
    parts = list(row_parts(as_rows(form(table())), size))
    assert [len(part) for part in parts] == [min(size, 7 - first) for first in range(0, 7, size)]
    together = torch.cat([part.to_dense() if is_sparse(part) else part for part in parts])
    assert torch.equal(together, torch.from_numpy(table()))


@pytest.mark.parametrize("exponent", [1, 2, 3])
def test_powers_keep_the_pattern(exponent: int) -> None:
    x = as_rows(sparse.csr_matrix(table()))
    expected = torch.from_numpy(table() ** exponent)
    raised = power(x, exponent)
    assert raised.layout == torch.sparse_csr
    assert len(raised.values()) == len(x.values())
    torch.testing.assert_close(raised.to_dense(), expected)
    columns = power(x.mT, exponent)
    assert columns.layout == torch.sparse_csc
    torch.testing.assert_close(columns.to_dense(), expected.T)
    torch.testing.assert_close(power(torch.from_numpy(table()), exponent), expected)


@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3)])
def test_products_with_the_weights_of_many_models(batch_shape: tuple[int, ...]) -> None:
    weight = rows(int(np.prod(batch_shape)) * 4, 5).reshape(*batch_shape, 4, 5)
    product = times(as_rows(sparse.csr_matrix(table())), weight)
    assert product.shape == (*batch_shape, 7, 4)
    np.testing.assert_allclose(product, np.einsum("ni,...oi->...no", table(), weight), rtol=1e-12, atol=1e-14)
