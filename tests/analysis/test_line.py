import math
from fractions import Fraction

import pytest
import torch
from numpy.polynomial import Chebyshev, Polynomial

from polyladder import LadderPolynomial, line_polynomial
from polyladder.analysis.line import LinePolynomial
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles import line as oracle

F64 = torch.float64


def models(p: LadderPolynomial) -> list[LadderPolynomial]:
    return [p] if not p.batch_shape else [q for part in p for q in models(part)]


def line_of(*coefficients: float) -> LinePolynomial:
    return LinePolynomial(torch.tensor(coefficients, dtype=F64))


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_coefficients_equal_exact_interpolation(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(d=2, hidden=[3, 2, 3, 2, 3, 2][: order - 1], m=2, batch_shape=batch_shape, seed=order)
    point, direction = rows(2, 2, seed=10 + order)
    coefficients = line_polynomial(p, point, direction).coefficients
    expected = torch.stack([oracle.interpolated_coefficients(q, point, direction) for q in models(p)])
    torch.testing.assert_close(coefficients, expected.reshape(coefficients.shape), rtol=1e-9, atol=0)


def test_points_with_several_leading_dimensions() -> None:
    p = random_ladder(d=3, hidden=(4,), m=2, batch_shape=(3,))
    point, direction = rows(10, 3).reshape(2, 5, 3), rows(5, 3, seed=2)
    line = line_polynomial(p, point, direction)
    assert line.coefficients.shape == (3, 2, 5, 2, 3)
    one = line_polynomial(p[2], point[1, 3], direction[3])
    assert one.coefficients.shape == (2, 3)
    torch.testing.assert_close(line.coefficients[2, 1, 3], one.coefficients, rtol=1e-12, atol=1e-13)
    assert line_polynomial(p, point[:0], direction).coefficients.shape == (3, 0, 5, 2, 3)


def test_points_that_begin_with_the_batch_shape_belong_to_the_models() -> None:
    p = random_ladder(d=3, hidden=(4, 2), m=1, batch_shape=(2,))
    point, direction = rows(8, 3).reshape(2, 4, 3), rows(4, 3, seed=2)
    line = line_polynomial(p, point, direction)
    assert line.coefficients.shape == (2, 4, 1, 4)
    for i in range(2):
        own = line_polynomial(p[i], point[i], direction).coefficients
        torch.testing.assert_close(line.coefficients[i], own, rtol=1e-12, atol=1e-13)


def test_evaluation_broadcasts_t() -> None:
    line = line_polynomial(random_ladder(m=2), *rows(2, 3))
    t = torch.linspace(-1, 1, 5, dtype=F64)
    assert line(t[:, None]).shape == (5, 2)
    assert line(t[:, None])[3, 1].item() == pytest.approx(float(oracle.value(line.coefficients[1].tolist(), 0.5)))
    assert line_of(7.0)(t).tolist() == [7.0] * 5


def test_derivative_is_that_of_the_powers() -> None:
    assert line_of(5, 4, -3, 2).derivative().coefficients.tolist() == [4, -6, 6]
    assert line_of(5).derivative().coefficients.tolist() == [0]


@pytest.mark.slow
@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", [2, 3, 4, 7])
def test_extrema_of_random_lines(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(d=3, hidden=[4] * (order - 1), m=2, batch_shape=batch_shape, seed=order)
    line = line_polynomial(p, *rows(2, 3, seed=order))
    lo, hi = -1.5, 1.0
    (low_t, low), (high_t, high) = line.minimize(lo, hi), line.maximize(lo, hi)
    assert low.shape == low_t.shape == high.shape == high_t.shape == line.shape
    assert torch.equal(low, line(low_t))
    assert torch.equal(high, line(high_t))
    assert ((low_t >= lo) & (low_t <= hi) & (high_t >= lo) & (high_t <= hi)).all()
    for a, v, w in zip(line.coefficients.reshape(-1, order + 1).tolist(), low.flatten(), high.flatten(), strict=True):
        assert v.item() == pytest.approx(float(oracle.minimum(a, lo, hi)), rel=1e-9)
        assert w.item() == pytest.approx(-float(oracle.minimum([-c for c in a], lo, hi)), rel=1e-9)


def chebyshev(n: int) -> list[float]:
    return list(Chebyshev.basis(n).convert(kind=Polynomial).coef)


def from_roots(*roots: float) -> list[float]:
    return list(Polynomial.fromroots(roots).coef)


def primitive(*stationary: float) -> list[float]:
    """A polynomial whose derivative has these roots."""
    return list(Polynomial.fromroots(stationary).integ().coef)


HARD = {
    "constant": [2.0],
    "linear": [2.0, -3.0],
    "zero": [0.0, 0.0, 0.0],
    "constant stored at degree 4": [2.0, 0.0, 0.0, 0.0, 0.0],
    "linear stored at degree 4": [2.0, -3.0, 0.0, 0.0, 0.0],
    "parabola stored at degree 5": [2.0, -3.0, 4.0, 0.0, 0.0, 0.0],
    "leading coefficient 1e-17": [1.0, -3.0, 0.5, 2.0, 1e-17],
    "leading coefficient 1e-300": [1.0, -3.0, 0.5, 2.0, 1e-300],
    "two tiny leading coefficients": [1.0, -3.0, 0.5, 2.0, -1e-14, 1e-200],
    "tiny low coefficients": [1e-200, 1e-100, 1e-14, 1.0, -2.0],
    "double root of the slope": primitive(0.3, 0.3, -0.7),
    "nearly double root of the slope": primitive(0.3, 0.3 + 1e-8, -0.7),
    "triple root of the slope": primitive(0.3, 0.3, 0.3),
    "quintuple root of the slope": primitive(0.5, 0.5, 0.5, 0.5, 0.5),
    "triple root of the slope at zero": [0.0, 0.0, 0.0, 0.0, 1.0],
    "flat minimum of order 12": from_roots(*[0.4] * 12),
    "two equal minima": [0.0, 0.0, -2.0, 0.0, 1.0],
    "nearly equal minima": [0.0, 1e-13, -2.0, 0.0, 1.0],
    "minimum just inside": primitive(0.9999999, -3.0),
    "minimum at the end": primitive(1.0, -3.0),
    "order 11 Chebyshev": chebyshev(11),
    "order 12 Chebyshev": chebyshev(12),
    "order 16 Chebyshev": chebyshev(16),
    "narrow dip": [1.0, 0.0, -1e8, 0.0, 1e16],
    "huge": [1e300, -3e300, 1e299, 4e299, 1e300],
    "small": [1e-300, -3e-300, 1e-301, 4e-301, 1e-300],
    "all roots outside": primitive(3.0, -4.0, 5.0, 6.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("interval", [(-1.0, 1.0), (-1.0, 0.3), (0.25, 1.0), (0.3, 0.3)])
@pytest.mark.parametrize("name", HARD)
def test_ill_conditioned_minimum(name: str, interval: tuple[float, float]) -> None:
    a, (lo, hi) = HARD[name], interval
    line = line_of(*a)
    t, value = line.minimize(lo, hi)
    assert lo <= t.item() <= hi
    rounding = 4 * len(a) * 2.0**-53 * float(sum(abs(Fraction(c)) for c in a))
    exact = oracle.minimum(a, lo, hi)
    assert abs(Fraction(value.item()) - exact) <= rounding
    # Nothing hides behind the rounding of the value: the place itself is as low, in exact arithmetic.
    assert oracle.value(a, t.item()) - exact <= rounding
    dense = line(torch.linspace(lo, hi, 20_001, dtype=F64))
    assert value.item() <= dense.min().item() + rounding


@pytest.mark.parametrize("scale", [2.0**-200, 1e-20, 1e-3, 1e4, 1e20, 2.0**200])
def test_minimum_at_any_scale_of_t(scale: float) -> None:
    base = [1.0, -1.0, -3.0, 1.0, 1.0]
    a = [c / scale**j for j, c in enumerate(base)]
    t, value = line_of(*a).minimize(-3 * scale, 2 * scale)
    expected_t, expected = line_of(*base).minimize(-3.0, 2.0)
    assert t.item() == pytest.approx(scale * expected_t.item(), rel=1e-12)
    assert value.item() == pytest.approx(expected.item(), rel=1e-12)


def test_minimum_of_a_scale_far_below_the_interval() -> None:
    # f(s) = 1 - s + s^3 + s^4 in s = 1e20 t has its minimum at t of the order 1e-20, and the interval is [-1, 1].
    t, value = line_of(1.0, -1e20, 0.0, 1e60, 1e80).minimize(-1, 1)
    near_t, near = line_of(1.0, -1.0, 0.0, 1.0, 1.0).minimize(-1, 1)
    assert t.item() == pytest.approx(1e-20 * near_t.item(), rel=1e-9)
    assert value.item() == pytest.approx(near.item(), rel=1e-9)


def test_minimum_where_the_ends_overflow() -> None:
    t, value = line_of(0.0, 0.0, -2.0, 0.0, 1.0).minimize(-1e100, 1e100)
    assert abs(t.item()) == pytest.approx(1.0, rel=1e-12)
    assert value.item() == pytest.approx(-1.0, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [3, 5, 8, 11, 13])
def test_many_random_minima_are_below_dense_samples(degree: int) -> None:
    g = torch.Generator().manual_seed(degree)
    a = torch.randn(300, degree + 1, generator=g, dtype=F64)
    # A third with clustered stationary points, a third with leading coefficients over 30 orders of magnitude.
    for i in range(100):
        a[i] = torch.tensor(primitive(*(0.5 + 1e-4 * torch.randn(degree - 1, generator=g, dtype=F64)).tolist()))
    a[100:200, -2:] *= 10 ** (-30 * torch.rand(100, 2, generator=g, dtype=F64))
    line = LinePolynomial(a)
    lo = -2 * torch.rand(300, generator=g, dtype=F64)
    hi = lo + 3 * torch.rand(300, generator=g, dtype=F64)
    t, low = line.minimize(lo, hi)
    high = line.maximize(lo, hi)[1]
    dense = line(lo + (hi - lo) * torch.linspace(0, 1, 3001, dtype=F64)[:, None])
    rounding = 4 * degree * 2.0**-53 * LinePolynomial(a.abs())(torch.maximum(lo.abs(), hi.abs()))
    assert (low <= dense.amin(0) + rounding).all()
    assert (high >= dense.amax(0) - rounding).all()
    assert ((t >= lo) & (t <= hi)).all()


def test_minimize_does_not_depend_on_the_batch() -> None:
    a = torch.randn(50, 7, generator=torch.Generator().manual_seed(0), dtype=F64)
    together = LinePolynomial(a).minimize(-1, 1)
    alone = [LinePolynomial(row).minimize(-1, 1) for row in a]
    assert torch.equal(together[0], torch.stack([t for t, _ in alone]))
    assert torch.equal(together[1], torch.stack([v for _, v in alone]))


def test_interval_broadcasts() -> None:
    line = line_of(0, 0, 1)
    t, value = line.minimize(torch.tensor([-1.0, 0.5, 2.0]), torch.tensor([[1.0], [3.0]]).to(F64).clamp(min=2.0))
    assert t.tolist() == [[0, 0.5, 2], [0, 0.5, 2]]
    assert value.tolist() == [[0, 0.25, 4], [0, 0.25, 4]]


def test_first_of_equal_minima() -> None:
    assert line_of(0, 0, -2, 0, 1).minimize(-2, 2)[0].item() == -1
    assert line_of(0, 0, 1).maximize(-2, 2)[0].item() == -2


def test_float32() -> None:
    line = LinePolynomial(torch.tensor(primitive(-0.5, 0.1, 0.8), dtype=torch.float32))
    t, value = line.minimize(-1, 1)
    assert t.dtype == value.dtype == torch.float32
    assert t.item() == pytest.approx(0.8, abs=1e-5)
    torch.testing.assert_close(line.derivative().roots(), torch.tensor([-0.5, 0.1, 0.8]), rtol=1e-5, atol=1e-6)


def test_value_has_the_gradient_of_the_minimum() -> None:
    a = torch.tensor([1.0, -1.0, -3.0, 1.0, 1.0], dtype=F64, requires_grad=True)
    t, value = LinePolynomial(a).minimize(-3.0, 2.0)
    assert not t.requires_grad
    (gradient,) = torch.autograd.grad(value, a)
    step = 1e-6
    for j in range(5):
        up, down = (
            LinePolynomial(a.detach() + s * step * torch.eye(5, dtype=F64)[j]).minimize(-3, 2)[1] for s in (1, -1)
        )
        assert gradient[j].item() == pytest.approx(((up - down) / (2 * step)).item(), rel=1e-6)


def test_coefficients_have_gradients() -> None:
    p = random_ladder(d=2, hidden=(2, 2), m=1)
    point, direction = (row.clone().requires_grad_() for row in rows(2, 2))
    weights = {name: t.clone().requires_grad_() for name, t in p.tensors().items()}

    def coefficients(x: torch.Tensor, g: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
        named = dict(zip(weights, tensors, strict=True))
        q = LadderPolynomial(
            **{kind: tuple(named[f"{kind}.{l}"] for l in range(2)) for kind in "WbVc"},
            readout=named["readout"],
            offset=named["offset"],
        )
        return line_polynomial(q, x, g).coefficients

    assert torch.autograd.gradcheck(coefficients, (point, direction, *weights.values()))


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 3, 4, 7, 11])
def test_roots_equal_exact_isolation(order: int) -> None:
    p = random_ladder(d=3, hidden=[4] * (order - 1), m=3, seed=order)
    line = line_polynomial(p, rows(4, 3, seed=3), rows(4, 3, seed=4))
    for level in (0.0, 1.5):
        roots = line.roots(level)
        assert roots.shape == (4, 3, order)
        for a, found in zip(line.coefficients.reshape(-1, order + 1), roots.reshape(-1, order), strict=True):
            expected = oracle.real_roots(a.tolist(), level)
            assert found[: len(expected)].tolist() == pytest.approx(expected, rel=1e-9)
            assert found[len(expected) :].isnan().all()


@pytest.mark.parametrize(
    ("coefficients", "roots"),
    [
        (from_roots(1e-6, 1, 1e6), [1e-6, 1, 1e6]),
        (from_roots(1e-100, 1e-50, 1, 1e50, 1e100), [1e-100, 1e-50, 1, 1e50, 1e100]),
        (from_roots(-3, -2, -1, 1, 2, 3), [-3, -2, -1, 1, 2, 3]),
        (chebyshev(12), sorted(math.cos((2 * k + 1) * math.pi / 24) for k in range(12))),
        ([1e300 * c for c in from_roots(1, 2, 3)], [1, 2, 3]),
        ([1e-300 * c for c in from_roots(1, 2, 3)], [1, 2, 3]),
        ([1.0, 2.0, 1e-200], [-2e200, -0.5]),
        ([1.0, 2.0, 0.0, 0.0], [-0.5]),
        ([1.0, 0.0, 1.0], []),
        ([0.0, 1.0, 0.0, 1.0], [0]),
        ([0.0, 0.0, 0.0], []),
        ([5.0], []),
    ],
)
def test_roots_of_awkward_polynomials(coefficients: list[float], roots: list[float]) -> None:
    found = line_of(*coefficients).roots()
    assert found.shape == (len(coefficients) - 1,)
    assert found[: len(roots)].tolist() == pytest.approx(roots, rel=1e-10, abs=1e-12)
    assert found[len(roots) :].isnan().all()


@pytest.mark.parametrize("root", [-3.0, -1.0, 0.0, 0.25, 1.0, 2.0, 1e5])
@pytest.mark.parametrize("multiplicity", [2, 3, 4, 6])
def test_repeated_root_is_found(multiplicity: int, root: float) -> None:
    found = line_of(*from_roots(*[root] * multiplicity)).roots()
    found = found[~found.isnan()]
    assert 1 <= len(found) <= multiplicity
    # A relative change of 1e-16 in the coefficients moves a root of multiplicity k by about 1e-16^(1/k).
    assert (found - root).abs().max().item() <= 20 * abs(root) * 1e-16 ** (1 / multiplicity)


def test_level_that_is_just_touched() -> None:
    line = line_of(1, 2, -3, 1, 0.5)
    t, value = line.minimize(-5, 5)
    assert line.roots(value)[0].item() == pytest.approx(t.item(), rel=1e-7)
    assert line.roots(value - 1e-6).isnan().all()
    above = line.roots(value + 1e-6)
    assert above[0] < t < above[1]
    assert above[2:].isnan().all()


def test_levels_broadcast() -> None:
    roots = line_of(0, 0, 1).roots(torch.tensor([4.0, 9.0, -1.0]))
    assert roots[:2].tolist() == [[-2, 2], [-3, 3]]
    assert roots[2].isnan().all()


def test_nan_coefficients_stay_with_their_polynomial() -> None:
    line = LinePolynomial(torch.tensor([[0.0, -1.0, 0.0, 1.0, 1.0], [0.0, math.nan, 1.0, 1.0, 1.0]], dtype=F64))
    t, value = line.minimize(-1, 1)
    assert t.isnan().tolist() == value.isnan().tolist() == [False, True]
    assert line.roots().isnan().all(-1).tolist() == [False, True]


P, X = random_ladder(d=3, batch_shape=(2,)), rows(1, 3)[0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: line_polynomial(P, X[:2], X), ValueError, r"point must have last dimension 3; got shape \(2,\)"),
        (lambda: line_polynomial(P, X, X[:2]), ValueError, r"direction must have last dimension 3; got shape \(2,\)"),
        (lambda: line_polynomial(P, X[0], X), ValueError, r"point must have last dimension 3; got shape \(\)"),
        (lambda: line_polynomial(P, X.tolist(), X), TypeError, r"point must be a torch.Tensor; got list"),
        (lambda: line_polynomial(P, X, X * math.nan), ValueError, r"direction must be finite; got nan"),
        (lambda: line_polynomial(P, X / 0, X), ValueError, r"point must be finite; got -?inf"),
        (
            lambda: line_polynomial(P, rows(4, 3), rows(5, 3)),
            ValueError,
            r"point and direction must broadcast against each other; got shapes \(4, 3\) and \(5, 3\)",
        ),
        (lambda: line_polynomial(P, X, X, max_degree=-1), ValueError, r"max_degree must be at least 0; got -1"),
        (
            lambda: line_polynomial(P, X, X, max_degree=1.5),
            TypeError,
            r"max_degree must be an integer or None; got 1.5",
        ),
        (
            lambda: line_polynomial(P, X, X, max_degree=True),
            TypeError,
            r"max_degree must be an integer or None; got True",
        ),
        (lambda: line_of(1, 2).minimize(1, 0), ValueError, r"lo must not exceed hi; got a lo above hi by 1"),
        (lambda: line_of(1, 2).maximize(1, 0), ValueError, r"lo must not exceed hi"),
        (lambda: line_of(1, 2).minimize(math.nan, 1), ValueError, r"lo must be finite; got nan"),
        (lambda: line_of(1, 2).minimize(0, math.inf), ValueError, r"hi must be finite; got inf"),
        (lambda: line_of(1, 2).roots(math.nan), ValueError, r"value must be finite; got nan"),
        (
            lambda: LinePolynomial(torch.ones(3, 2)).minimize(torch.zeros(2), 1),
            ValueError,
            r"lo must broadcast against shape \(3,\); got shape \(2,\)",
        ),
        (lambda: LinePolynomial([1.0]), TypeError, r"coefficients must be a torch.Tensor; got list"),
        (
            lambda: LinePolynomial(torch.ones(2, dtype=torch.int64)),
            TypeError,
            r"coefficients must be float32 or float64",
        ),
        (lambda: LinePolynomial(torch.ones(2, 0)), ValueError, r"coefficients must have shape \(..., degree \+ 1\)"),
    ],
)
def test_bad_input(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()  # type: ignore[operator]
