"""Law: the tensor train contracts to the network, and so do its monomials."""

import torch
from hypothesis import given

from polyladder import LadderPolynomial, coefficients, tensor_train
from tests.ladders import ladders, rows


@given(ladders(max_layers=6, dtypes=[torch.float32, torch.float64]))
def test_contraction(p: LadderPolynomial) -> None:
    x = rows(5, p.in_features, dtype=p.dtype)
    expected, tolerance = p(x), 1e-9 if p.dtype == torch.float64 else 2e-4
    scale = expected.abs().max().item() + 1
    torch.testing.assert_close(tensor_train(p)(x), expected, rtol=tolerance, atol=tolerance * scale)


@given(ladders(max_layers=6))
def test_monomials(p: LadderPolynomial) -> None:
    found, x = coefficients(p), rows(5, p.in_features)
    # Monomials of opposite sign may cancel, so rounding is judged against their absolute sum.
    powers = (x.unsqueeze(1) ** found.exponents.to(x.dtype)).prod(-1).abs()
    scale = (powers @ found.values.abs()).max().item()
    torch.testing.assert_close(found(x), p(x), rtol=1e-9, atol=1e-12 * scale)
