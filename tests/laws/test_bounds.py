"""Laws: no point or pair in the ball exceeds a bound; local <= recursive <= the paper's."""

import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from polyladder import LadderPolynomial, lipschitz_bound, output_bound
from tests.ladders import ladders, rows

METHODS = ("paper", "recursive", "local")
RADII = st.sampled_from([0.0, 1e-3, 0.3, 1.0, 5.0])


def in_balls(center: torch.Tensor, radius: float, n: int, seed: int) -> torch.Tensor:
    """n points in the ball around each center, the first half on its boundary. Shape (centers, n, d)."""
    step = torch.randn(*center.shape[:1], n, center.shape[-1], generator=torch.Generator().manual_seed(seed))
    step = (step / step.norm(dim=-1, keepdim=True)).to(center)
    step[:, n // 2 :] *= torch.rand(n - n // 2, 1, generator=torch.Generator().manual_seed(seed))
    return center.unsqueeze(1) + radius * step


@given(ladders(dtypes=(torch.float64, torch.float32)), RADII, st.integers(0, 2**31))
def test_each_method_is_at_most_the_one_before(p: LadderPolynomial, radius: float, seed: int) -> None:
    centers = rows(3, p.in_features, seed)
    for bound in (lipschitz_bound, output_bound):
        for center, shape in ((None, ()), (centers, (3,))):
            paper, recursive, local = (bound(p, radius, center, method) for method in METHODS)
            assert paper.shape == recursive.shape == local.shape == p.batch_shape + shape
            assert paper.dtype == local.dtype == torch.float64
            assert (local <= recursive).all()
            assert (recursive <= paper).all()
            assert (local >= 0).all()
            assert paper.isfinite().all()


@given(ladders(), RADII, st.integers(0, 2**31))
def test_no_point_and_no_pair_exceeds_a_bound(p: LadderPolynomial, radius: float, seed: int) -> None:
    centers = rows(2, p.in_features, seed)
    x, y = (in_balls(centers, radius, 40, s) for s in (seed, seed + 1))
    f, g = (p(z.flatten(0, 1)).unflatten(-2, (2, 40)) for z in (x, y))
    # Differences of outputs carry the rounding of the outputs themselves.
    rise = (f - g).norm(dim=-1) - 1e-13 * (f.norm(dim=-1) + g.norm(dim=-1) + 1)
    distance = (x - y).norm(dim=-1)
    for method in METHODS:
        assert (rise <= lipschitz_bound(p, radius, centers, method).unsqueeze(-1) * distance).all()
        assert (f.norm(dim=-1) <= output_bound(p, radius, centers, method).unsqueeze(-1)).all()


@given(ladders(), RADII)
def test_a_member_of_a_batch_is_bounded_as_if_alone(p: LadderPolynomial, radius: float) -> None:
    assume(p.batch_shape)
    index, centers = tuple(size - 1 for size in p.batch_shape), rows(2, p.in_features)
    for method in METHODS:
        together, alone = (lipschitz_bound(q, radius, centers, method) for q in (p, p[index]))
        torch.testing.assert_close(together[index], alone, rtol=1e-9, atol=1e-12)
