"""Second derivatives of all pairs, against autograd and against the products with vectors."""

import pytest
import torch

from polyladder import LadderPolynomial, hessian_vector_product
from polyladder.analysis.hessian import hessian
from polyladder.polynomial.widen import lengthen
from tests.ladders import BATCH_SHAPES, random_ladder, rows


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 6))
def test_hessian_equals_products_with_unit_vectors(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(d=4, hidden=[3, 2, 3, 3][: order - 1], m=2, batch_shape=batch_shape, seed=order)
    x, inputs = rows(5, 4, seed=order), torch.tensor([0, 2, 3])
    found = hessian(p, x, inputs)
    assert found.shape == (*batch_shape, 5, 2, 3, 3)
    eye = torch.eye(4, dtype=torch.float64)
    expected = torch.stack([hessian_vector_product(p, x, eye[i])[..., inputs] for i in inputs], -2)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_diagonal_layers_and_shared_gates_equal_autograd() -> None:
    """A kernel's ladder: the same gate in every layer, and units that keep to themselves."""
    g = torch.Generator().manual_seed(0)
    V = torch.randn(6, 3, generator=g, dtype=torch.float64)
    c, scale, b = torch.randn(3, 6, generator=g, dtype=torch.float64)
    W = (V, torch.diag(scale), torch.diag(2 * scale))
    readout, offset = torch.randn(1, 6, generator=g, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    p = lengthen(LadderPolynomial(W, (c, b, b), (V, V, V), (c, c, c), readout, offset), 5)
    x = rows(4, 3)
    found = hessian(p, x, torch.arange(3))
    expected = torch.stack([torch.autograd.functional.hessian(lambda row: p(row[None])[0, 0], row) for row in x])
    torch.testing.assert_close(found[:, 0], expected, rtol=1e-10, atol=1e-12)
