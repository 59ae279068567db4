"""Proven bounds on a ladder's output and on its gradient over a ball."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from polyladder.analysis.monomials import count
from polyladder.analysis.taylor import (
    ENTRIES,
    TINY,
    exact_degree,
    length,
    spectral_norm,
    taylor_bounds,
    unfolded_size,
)
from polyladder.polynomial.absorb import absorb, bordered
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled, shifted
from polyladder.polynomial.substitute import recenter

EPSILON = torch.finfo(torch.float64).eps

ORDINARY = 300.0
"""Units of sizes from 2**-300 to 2**300 are kept. Others are rescaled, because products of them may overflow or
underflow although the function does not."""


class Bounds(NamedTuple):
    """What one method proves over the balls around n centers."""

    output: Tensor
    """Bound on norm(f(x)). Shape (*batch_shape, n)."""
    gradient: Tensor
    """Bound on the spectral norm of the Jacobian. Shape (*batch_shape, n)."""


def output_bound(
    polynomial: LadderPolynomial, radius: float, center: Tensor | None = None, method: str = "paper"
) -> Tensor:
    """A proven upper bound on norm(f(x)) over the ball norm(x - center) <= radius, Euclidean norms.

    Implements: eq. (16), Theorem A.1.

    Args:
        polynomial: any ``batch_shape``.
        radius: finite and not negative.
        center: one center, shape (d,), or many, shape (n, d) or (*batch_shape, n, d). None is the origin.
        method: "paper", "recursive" or "local"; see `lipschitz_bound`.

    Returns:
        Shape batch_shape, or (*batch_shape, n) with many centers. float64 whatever the weights are.
    """
    return bounds(polynomial, radius, center, method).output


def lipschitz_bound(
    polynomial: LadderPolynomial, radius: float, center: Tensor | None = None, method: str = "paper"
) -> Tensor:
    """A proven upper bound on the spectral norm of the Jacobian over the ball norm(x - center) <= radius.

    It is a Lipschitz constant of the polynomial on that ball, since a ball is convex.

    Implements: eq. (17), Theorem A.1.

    The methods, of which each is at most the one before it:

    - ``"paper"``: the product of the spectral norms of all weights times the order, on the ball around the origin that
      contains the given one. Where there are intercepts, of the weights that have absorbed them.
    - ``"recursive"``: the same ball, with intercepts carried through layer by layer instead of being absorbed.
    - ``"local"``: the Taylor polynomial around the center, written out exactly as far as it is small enough, its parts
      bounded together; or the recursion around the center where that is better.

    Everything is computed in float64 and enlarged by a bound on the rounding (`norm_rounding`), so that the result
    holds for the exact function of the given weights.

    Args:
        polynomial: any ``batch_shape``.
        radius: finite and not negative.
        center: one center, shape (d,), or many, shape (n, d) or (*batch_shape, n, d). None is the origin.
        method: "paper", "recursive" or "local".

    Returns:
        Shape batch_shape, or (*batch_shape, n) with many centers. float64 whatever the weights are.

    Cost: a few singular value decompositions of the weights; ``"local"`` also one of a matrix with about d^(order / 2)
    rows and columns for every model and center, or less where that is above a fixed budget.

    Example:
        >>> one, zero = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> [round(float(lipschitz_bound(square, 3.0, method=m)), 6) for m in ("paper", "recursive", "local")]
        [6.0, 6.0, 6.0]
    """
    return bounds(polynomial, radius, center, method).gradient


def bounds(polynomial: LadderPolynomial, radius: float, center: Tensor | None, method: str) -> Bounds:
    """Both bounds by one method, of shape batch_shape, or (*batch_shape, n) with many centers."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}.")
    r = check_radius(radius)
    p = polynomial.to(torch.float64)
    if not all(bool(t.isfinite().all()) for t in p.tensors().values()):
        raise ValueError("polynomial must have finite weights; got some that are infinite or NaN.")
    centers = check_center(p, center)
    found = METHODS[method](p, r, centers)
    # 0 * inf after an overflow: only infinity is still a bound.
    found = Bounds(*(b.masked_fill(b.isnan(), math.inf) for b in found))
    found = without_underflow(found, p)
    return found if center is not None and center.dim() > 1 else Bounds(*(b.squeeze(-1) for b in found))


def paper(polynomial: LadderPolynomial, radius: float, centers: Tensor) -> Bounds:
    r"""Products of spectral norms of the weights.

    Implements: eq. (16), eq. (17), Theorem A.1.

    .. math:: \|h^l\| \le r^{l+1} P_l, \quad \|\nabla h^l\| \le (l+1) \, r^l P_l, \quad
              P_l = \prod_{i \le l} \|V^i\| \|W^i\|

    A ladder with intercepts is one without of :math:`\hat x = [x; 1]`: the same with absorbed weights, and
    :math:`\hat r^2 = r^2 + 1`.

    Args:
        polynomial: float64.
        radius: of the balls.
        centers: shape (*batch_shape, n, d).
    """
    reach = outer_radius(radius, centers)
    hats, literal = products(absorb(polynomial), hat(reach)), products(polynomial, reach)
    offset = length(polynomial.offset).unsqueeze(-1)
    literal = Bounds(literal.output + offset, literal.gradient)
    bare = torch.stack([(t == 0).all(-1) for t in (*polynomial.b, *polynomial.c, torch.zeros_like(polynomial.offset))])
    chosen = (torch.where(bare.all(0).unsqueeze(-1), b, h) for b, h in zip(least(literal, hats), hats, strict=True))
    return enlarged(Bounds(*chosen), norm_rounding(polynomial))


def products(polynomial: LadderPolynomial, reach: Tensor) -> Bounds:
    """Eq. (16) and eq. (17) for a ladder whose intercepts are left out, at radii (*batch_shape, n)."""
    order = polynomial.order
    weights = (polynomial.readout, *polynomial.W, *polynomial.V)
    return Bounds(norm_product(weights, reach, order), order * norm_product(weights, reach, order - 1))


def norm_product(weights: Sequence[Tensor], reach: Tensor, degree: int) -> Tensor:
    """The product of all spectral norms and of reach**degree, computed so that no factor underflows or overflows."""
    power = torch.frexp(reach.detach())[1].to(reach.dtype)
    product, exponent = shifted(reach, -power) ** degree, degree * power
    for weight in weights:
        power = torch.frexp(weight.detach().abs().amax((-1, -2), keepdim=True))[1].to(reach.dtype)
        product = product * spectral_norm(shifted(weight, -power)).unsqueeze(-1)
        exponent = exponent + power.squeeze(-1)
    return shifted(product, exponent)


def recursive(polynomial: LadderPolynomial, radius: float, centers: Tensor) -> Bounds:
    """The layers' recursion on the ball around the origin that contains the given one.

    Implements: eq. (16), eq. (17).

    Args:
        polynomial: float64.
        radius: of the balls.
        centers: shape (*batch_shape, n, d).
    """
    reach = outer_radius(radius, centers)
    outer = paper(polynomial, radius, centers)
    if not reach.numel():
        return outer
    found = enlarged(recursion(evened(polynomial, reach.amax(-1)), reach), norm_rounding(polynomial))
    # The recursion never exceeds the product; this only matters where they are equal up to rounding.
    return least(found, outer)


def evened(polynomial: LadderPolynomial, reach: Tensor) -> LadderPolynomial:
    """The same function with extremely large or small units rescaled, for inputs up to a reach of shape batch_shape."""
    reach = torch.where(reach > 0, reach, 1.0)
    return rescaled(polynomial, reach.unsqueeze(-1).expand(*reach.shape, polynomial.in_features), ORDINARY)


def local(polynomial: LadderPolynomial, radius: float, centers: Tensor) -> Bounds:
    """The best of what can be proven on the balls themselves.

    Implements: eq. (16), eq. (17).

    Args:
        polynomial: float64.
        radius: of the balls.
        centers: shape (*batch_shape, n, d).
    """
    outer = recursive(polynomial, radius, centers)
    if not outer.output.numel():
        return outer
    degree = exact_degree(polynomial)
    flat = polynomial.map(lambda t: t.reshape(-1, *t.shape[len(polynomial.batch_shape) :]))
    points = centers.reshape(-1, centers.shape[-1])
    models = torch.arange(len(flat)).repeat_interleave(centers.shape[-2])
    # One ladder for every model and center, some at a time: written out, each takes up to ENTRIES numbers.
    size = max(*polynomial.hidden, polynomial.out_features, 1) * unfolded_size(polynomial.in_features, degree)
    step = max(1, ENTRIES // size)
    chunks = [slice(start, start + step) for start in range(0, len(points), step)]
    found = [around(flat[models[chunk]], radius, points[chunk], degree) for chunk in chunks]
    together = Bounds(*(torch.cat(part).reshape(centers.shape[:-1]) for part in zip(*found, strict=True)))
    return least(together, outer)


def around(polynomial: LadderPolynomial, radius: float, center: Tensor, degree: int) -> Bounds:
    """The better of the Taylor bounds and the recursion, around one center per model.

    Args:
        polynomial: ``batch_shape`` (c,).
        radius: of the balls.
        center: shape (c, d).
        degree: up to which the Taylor polynomial is written out.

    Returns:
        Shapes (c,).
    """
    reach = center.new_full((len(center), 1), radius)
    polynomial = evened(polynomial, center.abs().amax(-1) + radius)
    moved = recenter(polynomial, center)
    layers = Bounds(*(b.squeeze(-1) for b in recursion(moved, reach)))
    best = least(Bounds(*taylor_bounds(moved, radius, degree)), layers)
    # Intercepts and coefficients may cancel, so their rounding errors are measured by a ladder in which nothing
    # cancels. Its unfoldings may exceed its forms by sqrt(d), and a layer by 2, since two different units may be the
    # largest.
    uncanceled = recursion(recenter(polynomial.map(torch.abs), center.abs()), reach)
    d = polynomial.in_features
    growth = sum_rounding(polynomial) * 2 ** len(polynomial.W) * math.sqrt(d)
    relative = norm_rounding(polynomial, count(d, degree - degree // 2))
    return Bounds(*(b * (1 + relative) + growth * u.squeeze(-1) for b, u in zip(best, uncanceled, strict=True)))


def recursion(polynomial: LadderPolynomial, radius: Tensor) -> Bounds:
    r"""Bounds on h^l and on its Jacobian, layer by layer, over balls around the origin.

    With G the largest value that a single gate can take, max_i norm(V_i) r + abs(c_i), and U the smaller of
    norm(W) norm(h) + norm(b) and what the absorbed weights say about W h + b,

    .. math:: \|h^l\| \le G U, \quad \|\nabla h^l\| \le G \|W\| \, \|\nabla h^{l-1}\| + U \max_i \|V_i\|

    By induction sqrt(norm(h)^2 + 1) stays below the product of eq. (16), and hence both bounds stay below the paper's.

    Args:
        polynomial: float64, any ``batch_shape``.
        radius: shape (*batch_shape, n).
    """
    state, gradient = radius, torch.ones_like(radius)
    for W, b, V, c in polynomial.layers():
        norm, reach = spectral_norm(W).unsqueeze(-1), length(V)
        gate = (reach.unsqueeze(-2) * radius.unsqueeze(-1) + c.abs().unsqueeze(-2)).amax(-1)
        # Bounds the norm of [W h + b; 1], whose last entry is known. Enlarged first: the subtraction would otherwise
        # lose the whole of a small W h + b to rounding.
        absorbed = spectral_norm(bordered(W, b)).unsqueeze(-1) * hat(state) * (1 + norm_rounding(polynomial))
        without_one = (absorbed.square() - 1).clamp_min(TINY).sqrt()
        inner = torch.minimum(norm * state + length(b).unsqueeze(-1), without_one) + TINY
        # Whatever underflows here, or where coefficients are computed, is less than TINY, which later weights multiply.
        gradient = (gate + TINY) * norm * gradient + inner * reach.amax(-1, keepdim=True) + TINY
        state = (gate + TINY) * inner + TINY
    norm = spectral_norm(polynomial.readout).unsqueeze(-1)
    joint = spectral_norm(torch.cat([polynomial.readout, polynomial.offset.unsqueeze(-1)], -1)).unsqueeze(-1)
    output = torch.minimum(norm * state + length(polynomial.offset).unsqueeze(-1), joint * hat(state))
    return Bounds(output, norm * gradient)


METHODS: dict[str, Callable[[LadderPolynomial, float, Tensor], Bounds]] = {
    "paper": paper,
    "recursive": recursive,
    "local": local,
}


def sum_rounding(polynomial: LadderPolynomial) -> float:
    """A bound on the relative rounding error of a number computed through all layers, if nothing cancels.

    In every layer it is a sum of at most max(d, width) products.
    """
    return 4.0 * EPSILON * polynomial.order * largest_size(polynomial)


def norm_rounding(polynomial: LadderPolynomial, monomials: int = 1) -> float:
    """A bound on the relative rounding error of spectral norms, and of their products over the layers.

    The norm of a matrix with n rows or columns, taken from its Gram matrix, is off by a small multiple of n^2 roundings
    of itself. An unfolding has one row for each unit and each of ``monomials``.
    """
    return 4.0 * EPSILON * polynomial.order * (largest_size(polynomial) * monomials) ** 2


def largest_size(polynomial: LadderPolynomial) -> int:
    """The largest dimension of any absorbed weight, and at least the order."""
    return max(polynomial.in_features, polynomial.out_features, *polynomial.hidden, polynomial.order) + 1


def enlarged(found: Bounds, unit: float) -> Bounds:
    """Bounds made of sums and products of positive numbers, with room for their rounding."""
    return Bounds(*(b * (1 + unit) for b in found))


def least(first: Bounds, second: Bounds) -> Bounds:
    """The smaller of two proven bounds, or the one that is not NaN: NaN comes from 0 * inf after an overflow."""
    return Bounds(*map(torch.fmin, first, second))


def without_underflow(found: Bounds, polynomial: LadderPolynomial) -> Bounds:
    """Bounds raised to at least TINY, below which norms are not reliable; a bound stays zero if the readout is zero."""
    slopes = polynomial.readout.detach().abs().amax((-1, -2))
    values = torch.maximum(slopes, polynomial.offset.detach().abs().amax(-1))
    zero = Bounds(values.unsqueeze(-1) == 0, slopes.unsqueeze(-1) == 0)
    return Bounds(*(torch.where((b < TINY) & ~none, TINY, b) for b, none in zip(found, zero, strict=True)))


def hat(norm: Tensor) -> Tensor:
    """The norm of [x; 1] from that of x."""
    return torch.hypot(norm, torch.ones_like(norm))


def outer_radius(radius: float, centers: Tensor) -> Tensor:
    """The radius around the origin that contains the balls. Shape (..., n, d) to (..., n)."""
    return torch.add(length(centers), radius)


def check_radius(radius: float) -> float:
    """Refuse a radius that is not a finite number, or is negative."""
    try:
        r = float(radius)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"radius must be one number; got {radius!r}.") from error
    if not 0 <= r < math.inf:
        raise ValueError(f"radius must be finite and not negative; got {radius!r}.")
    return r


def check_center(polynomial: LadderPolynomial, center: Tensor | None) -> Tensor:
    """Centers as float64 rows, one set for each model. Shape (*batch_shape, n, d)."""
    d, batch = polynomial.in_features, tuple(polynomial.batch_shape)
    if center is None:
        return polynomial.readout.new_zeros(*batch, 1, d)
    if not isinstance(center, Tensor):
        raise TypeError(
            f"center must be a torch.Tensor or None; got {type(center).__name__}. Wrap it in torch.as_tensor."
        )
    rows = center.unsqueeze(0) if center.dim() == 1 else center
    if rows.dim() < 2 or rows.shape[-1] != d or (rows.dim() > 2 and tuple(rows.shape[:-2]) != batch):
        batched = f" or ({', '.join(map(str, batch))}, n, {d})" if batch else ""
        raise ValueError(f"center must have shape ({d},), (n, {d}){batched}; got shape {tuple(center.shape)}.")
    if not bool(center.isfinite().all()):
        raise ValueError("center must be finite; got infinite or NaN entries.")
    rows = rows.to(dtype=polynomial.dtype, device=polynomial.device)
    return rows.expand(*batch, *rows.shape[-2:])
