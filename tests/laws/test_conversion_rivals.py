"""Laws: factorization machines and polynomial-kernel networks are ladders, to rounding."""

import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder import from_factorization_machine, from_polynomial_kernel
from tests.ladders import BATCH_SHAPES


@given(
    d=st.integers(1, 5),
    ranks=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    batch_shape=st.sampled_from(BATCH_SHAPES),
    order=st.sampled_from([2, 3]),
    seed=st.integers(0, 2**31),
)
def test_factorization_machine(
    d: int, ranks: tuple[int, int], batch_shape: tuple[int, ...], order: int, seed: int
) -> None:
    g = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=g, dtype=torch.float64)

    w0, w, x = draw(*batch_shape), draw(*batch_shape, d), draw(5, d)
    factors = [draw(*batch_shape, rank, d) for rank in ranks[: order - 1]]
    expected = w0.unsqueeze(-1) + torch.einsum("...d,nd->...n", w, x)
    for degree, s in enumerate(factors, start=2):
        for chosen in itertools.combinations(range(d), degree):
            tuples = list(chosen)
            expected = expected + s[..., tuples].prod(-1).sum(-1).unsqueeze(-1) * x[:, tuples].prod(-1)
    found = from_factorization_machine(w0, w, *factors)(x)
    # Newton's identities subtract powers of sums: rounding is judged against those.
    scale = 1 + max((s.abs().sum(-1).max() * x.abs().max()).item() ** q for q, s in enumerate(factors, start=2))
    torch.testing.assert_close(found[..., 0], expected, rtol=1e-9, atol=1e-13 * scale)


@given(
    d=st.integers(1, 4),
    K=st.integers(1, 4),
    degree=st.integers(1, 7),
    batch_shape=st.sampled_from(BATCH_SHAPES),
    seed=st.integers(0, 2**31),
)
def test_polynomial_kernel(d: int, K: int, degree: int, batch_shape: tuple[int, ...], seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    weights, intercept, directions, x = (
        torch.randn(shape, generator=g, dtype=torch.float64)
        for shape in [(*batch_shape, K), (*batch_shape, K), (*batch_shape, K, d), (5, d)]
    )
    terms = weights.unsqueeze(-2) * (torch.einsum("...kd,nd->...nk", directions, x) + intercept.unsqueeze(-2)) ** degree
    found = from_polynomial_kernel(weights, intercept, directions, degree)(x)
    torch.testing.assert_close(found[..., 0], terms.sum(-1), rtol=1e-9, atol=1e-12 * terms.abs().max().item())
