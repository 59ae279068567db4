"""Rows that are mostly zeros: compressed sparse row (CSR) tensors in the place of dense ones, never made dense."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor


def is_sparse(x: Tensor) -> bool:
    """Whether x is a sparse tensor of any layout."""
    return x.layout != torch.strided


def csr_rows(starts: Tensor, columns: Tensor, values: Tensor, in_features: int) -> Tensor:
    """A CSR tensor of shape (n, d) from its three parts.

    Args:
        starts: where each row starts among the values, and where the last one ends. Shape (n + 1,).
        columns: the column of each value. Shape (values,).
        values: shape (values,).
        in_features: d.
    """
    with warnings.catch_warnings():
        # PyTorch says once that CSR tensors are in beta; what is used of them here, products and copies, is tested.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        shape = (len(starts) - 1, in_features)
        return torch.sparse_csr_tensor(starts, columns, values, size=shape, check_invariants=False)


def as_rows(matrix: Any) -> Tensor:
    """A NumPy array, or a SciPy matrix in CSR form, as a tensor that shares its values."""
    if isinstance(matrix, np.ndarray):
        return torch.from_numpy(matrix)
    starts, columns = (torch.from_numpy(t).to(torch.int64) for t in (matrix.indptr, matrix.indices))
    return csr_rows(starts, columns, torch.from_numpy(matrix.data), matrix.shape[1])


def take_rows(x: Tensor, index: Tensor) -> Tensor:
    """Rows by number, in that order, of a dense or a CSR tensor. Shape (n, d) and (r,) to (r, d)."""
    if not is_sparse(x):
        return x.index_select(0, index)
    starts, columns = x.crow_indices(), x.col_indices()
    lengths = starts.diff()[index]
    ends = lengths.cumsum(0)
    # Value number i of the result stands (first value of its row) + (i - first value of that row in the result).
    shift = (starts[:-1][index] - ends + lengths).repeat_interleave(lengths)
    at = shift + torch.arange(len(shift), dtype=shift.dtype, device=shift.device)
    new_starts = torch.cat([ends.new_zeros(1), ends])
    return csr_rows(new_starts.to(starts.dtype), columns[at], x.values()[at], x.shape[1])


def row_parts(x: Tensor, size: int) -> Iterator[Tensor]:
    """The rows of a dense or a CSR tensor, at most ``size`` at a time."""
    if not is_sparse(x):
        yield from torch.split(x, size)
        return
    for first in range(0, len(x), size):
        yield take_rows(x, torch.arange(first, min(first + size, len(x)), device=x.device))


def stored_values(x: Tensor) -> Tensor:
    """Every entry of a dense tensor, the stored ones of a sparse tensor."""
    return x.values() if is_sparse(x) else x


def power(x: Tensor, exponent: int) -> Tensor:
    """Every entry to a power of at least 1, which leaves zeros zero. CSR and CSC tensors keep their pattern."""
    if not is_sparse(x):
        return x**exponent
    if x.layout == torch.sparse_csc:
        return power(x.mT, exponent).mT
    return csr_rows(x.crow_indices(), x.col_indices(), x.values() ** exponent, x.shape[1])


def times(x: Tensor, weight: Tensor) -> Tensor:
    """CSR rows x (n, i) times weight (*batch_shape, o, i), transposed. Shape (*batch_shape, n, o)."""
    # A sparse product takes one dense matrix: the models' rows are stacked.
    flat = weight.reshape(-1, weight.shape[-1])
    y = x @ flat.mT
    return y.reshape(len(x), *weight.shape[:-1]).movedim(0, -2)
