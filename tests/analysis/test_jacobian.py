import pytest
import torch

from polyladder import LadderPolynomial, hessian_vector_product, jacobian, line_polynomial
from polyladder.analysis.jacobian import weighted_gradient
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.jacobian import difference_hessian_vector, difference_jacobian


def models(p: LadderPolynomial) -> list[LadderPolynomial]:
    return [p] if not p.batch_shape else [q for part in p for q in models(part)]


def ladder(order: int, batch_shape: tuple[int, ...], m: int = 2) -> LadderPolynomial:
    return random_ladder(d=3, hidden=[3, 2, 3, 2, 3, 2][: order - 1], m=m, batch_shape=batch_shape, seed=order)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_jacobian_equals_exact_differences(order: int, batch_shape: tuple[int, ...]) -> None:
    p, x = ladder(order, batch_shape), rows(2, 3, seed=order)
    found = jacobian(p, x)
    assert found.shape == (*batch_shape, 2, 2, 3)
    expected = torch.stack([difference_jacobian(q, row) for q in models(p) for row in x]).reshape(found.shape)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_hessian_vector_product_equals_exact_differences(order: int, batch_shape: tuple[int, ...]) -> None:
    p, x, v = ladder(order, batch_shape), rows(1, 3, seed=order), rows(1, 3, seed=-order)
    found = hessian_vector_product(p, x, v)
    assert found.shape == (*batch_shape, 1, 2, 3)
    expected = torch.stack([difference_hessian_vector(q, x[0], v[0]) for q in models(p)]).reshape(found.shape)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(2, 8))
def test_both_equal_autograd_for_rows_of_each_model(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(d=4, hidden=[5] * (order - 1), m=3, batch_shape=batch_shape, seed=order)
    g = torch.Generator().manual_seed(order)
    x, v = torch.randn(2, *batch_shape, 6, 4, generator=g, dtype=torch.float64)
    # Rows and models are independent of each other, so the derivative of a sum over them holds all of theirs.
    gradients, products = [], []
    for i in range(3):
        leaf = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(p(leaf)[..., i].sum(), leaf, create_graph=True)
        gradients.append(gradient.detach())
        products.append(torch.autograd.grad((gradient * v).sum(), leaf)[0])
    torch.testing.assert_close(jacobian(p, x), torch.stack(gradients, -2), rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(hessian_vector_product(p, x, v), torch.stack(products, -2), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_the_gradient_of_a_weighted_sum(order: int, batch_shape: tuple[int, ...]) -> None:
    p, x, weights = ladder(order, batch_shape), rows(6, 3), rows(6, 2, seed=8)
    expected = (weights.unsqueeze(-2) @ jacobian(p, x)).squeeze(-2)
    torch.testing.assert_close(weighted_gradient(p, x, weights), expected)


def test_one_vector_for_all_rows() -> None:
    p, x, v = ladder(4, (2,)), rows(5, 3), rows(1, 3, seed=2)[0]
    torch.testing.assert_close(hessian_vector_product(p, x, v), hessian_vector_product(p, x, v.expand(5, 3)))


def test_along_a_line_they_are_its_derivatives() -> None:
    p, x, v = ladder(5, (3,)), rows(4, 3), rows(4, 3, seed=2)
    line = line_polynomial(p, x, v).coefficients
    torch.testing.assert_close((jacobian(p, x) @ v.unsqueeze(-1)).squeeze(-1), line[..., 1])
    twice = (hessian_vector_product(p, x, v) @ v.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(twice, 2 * line[..., 2])


def test_hessian_is_symmetric() -> None:
    p, x = ladder(6, ()), rows(4, 3)
    hessian = torch.stack([hessian_vector_product(p, x, e) for e in torch.eye(3, dtype=torch.float64)], -2)
    torch.testing.assert_close(hessian, hessian.mT, rtol=1e-11, atol=1e-12)


def test_affine_ladder_and_no_rows() -> None:
    p = random_ladder(d=3, hidden=(), m=2, batch_shape=(2,))
    assert torch.equal(jacobian(p, rows(4, 3)), p.readout.unsqueeze(1).expand(2, 4, 2, 3))
    assert torch.equal(hessian_vector_product(p, rows(4, 3), rows(4, 3)), torch.zeros(2, 4, 2, 3, dtype=torch.float64))
    assert jacobian(ladder(3, (2,)), rows(0, 3)).shape == (2, 0, 2, 3)


def test_dtype_follows_the_weights() -> None:
    p = ladder(4, ()).to(torch.float32)
    x = rows(4, 3)
    assert jacobian(p, x).dtype == hessian_vector_product(p, x, x).dtype == torch.float32
    torch.testing.assert_close(jacobian(p, x).double(), jacobian(p.to(torch.float64), x), rtol=1e-3, atol=1e-4)


def test_derivatives_are_differentiable() -> None:
    p = ladder(3, ())
    x, v = (t.clone().requires_grad_() for t in (rows(2, 3), rows(2, 3, seed=2)))
    assert torch.autograd.gradcheck(lambda x: jacobian(p, x), (x,))
    assert torch.autograd.gradcheck(lambda x, v: hessian_vector_product(p, x, v), (x, v))


def test_bad_input() -> None:
    p, x = ladder(3, (2,)), rows(4, 3)
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\) or \(2, n, 3\); got shape \(4, 2\)"):
        jacobian(p, x[:, :2])
    with pytest.raises(TypeError, match=r"x must be a torch.Tensor; got list"):
        jacobian(p, x.tolist())
    with pytest.raises(
        ValueError, match=r"vector must have shape \(3,\) or \(4, 3\) or \(2, 4, 3\); got shape \(5, 3\)"
    ):
        hessian_vector_product(p, x, rows(5, 3))
    with pytest.raises(TypeError, match=r"vector must be a torch.Tensor; got list"):
        hessian_vector_product(p, x, x.tolist())
