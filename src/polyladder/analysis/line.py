"""The network along a line: its exact univariate polynomial, and that polynomial's extrema and roots."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.analysis.real_roots import derivative, horner, lowest_within, real_roots
from polyladder.polynomial.ladder import LadderPolynomial, check_tensor


def line_polynomial(
    polynomial: LadderPolynomial, point: Tensor, direction: Tensor, max_degree: int | None = None
) -> LinePolynomial:
    r"""Coefficients of the network along a line.

    Implements: eq. (10).

    .. math:: f(x_0 + t g) = \sum_{j=0}^{p} a_j t^j

    Layer by layer, with u_j the coefficients of W h + b (the intercept enters u_0 alone):

    .. math:: a_j = (V x_0 + c) * u_j + (V g) * u_{j-1}

    Args:
        polynomial: order p, any ``batch_shape``.
        point: x_0, broadcasting against direction. Shape (..., d), shared by all polynomials of the batch; or
            (*batch_shape, ..., d) with at least one dimension between, as rows have, one set for each polynomial.
        direction: g, shapes as for point.
        max_degree: compute and store only the coefficients up to this power. None for all.

    Returns:
        Ascending coefficients, of degree min(p, max_degree). Shape (*batch_shape, ..., m, degree + 1).

    Cost: p + 1 matrix products of the forward pass's size; nothing is sampled or differentiated. Differentiable with
    respect to weights, point and direction.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> line_polynomial(square, torch.tensor([3.0]), torch.tensor([2.0])).coefficients  # (3 + 2 t)^2
        tensor([[ 9., 12.,  4.]])
    """
    columns = check_max_degree(max_degree, polynomial.order) + 1
    lines, shape = paired_rows(polynomial, point, direction)

    # Shape (*batch_shape, degree + 1, n, k): powers and rows together are the rows of one matrix product.
    def product(a: Tensor, weight: Tensor) -> Tensor:
        y = a.flatten(-3, -2) @ weight.mT
        return y.reshape(*y.shape[:-2], *a.shape[-3:-1], y.shape[-1])

    h = lines[..., :columns, :, :]
    for W, b, V, c in polynomial.layers():
        u = product(h, W)
        u[..., 0, :, :] += b.unsqueeze(-2)
        gate = product(lines, V)
        constant, slope = gate[..., :1, :, :] + c[..., None, None, :], gate[..., 1:, :, :]
        parts = [
            u[..., :1, :, :] * constant,
            torch.addcmul(u[..., 1:, :, :] * constant, u[..., :-1, :, :], slope),
            u[..., -1:, :, :] * slope,
        ]
        # The highest power is the last part: truncation just leaves it out.
        h = torch.cat(parts if h.shape[-3] < columns else parts[:2], -3)
    a = product(h, polynomial.readout)
    a[..., 0, :, :] += polynomial.offset.unsqueeze(-2)
    # A view: the powers stay far apart in memory, which is how evaluation and root finding read them.
    return LinePolynomial(a.movedim(-3, -1).reshape(*polynomial.batch_shape, *shape, polynomial.out_features, columns))


@dataclass(frozen=True, eq=False)
class LinePolynomial:
    """Univariate polynomials sum_j a_j t^j, as many as the leading dimensions hold.

    Args:
        coefficients: a, ascending. Shape (..., degree + 1); from `line_polynomial`, (*batch_shape, ..., m, degree + 1).

    Example:
        >>> parabola = LinePolynomial(torch.tensor([1.0, -2.0, 1.0]))
        >>> parabola(3.0)
        tensor(4.)
        >>> parabola.minimize(-1.0, 4.0)
        (tensor(1.), tensor(0.))
        >>> parabola.roots(4.0)
        tensor([-1.,  3.])
    """

    coefficients: Tensor

    def __post_init__(self) -> None:
        a = self.coefficients
        check_tensor("coefficients", a)
        if a.dtype not in (torch.float32, torch.float64):
            raise TypeError(f"coefficients must be float32 or float64; got {a.dtype}. Convert them first.")
        if a.dim() == 0 or a.shape[-1] == 0:
            raise ValueError(f"coefficients must have shape (..., degree + 1); got shape {tuple(a.shape)}.")

    @property
    def degree(self) -> int:
        """The highest power stored; its coefficient may be zero."""
        return int(self.coefficients.shape[-1]) - 1

    @property
    def shape(self) -> torch.Size:
        """The shape of the batch of polynomials, (*batch_shape, ..., m) from `line_polynomial`."""
        return self.coefficients.shape[:-1]

    def __call__(self, t: float | Tensor) -> Tensor:
        """Values at t, which broadcasts against ``shape``: along one line, t of shape (n, 1) gives values (n, m)."""
        return horner(self.coefficients.unbind(-1), self.argument("t", t))

    def derivative(self) -> LinePolynomial:
        """The derivative with respect to t, one degree lower; of a constant, the constant 0."""
        if self.degree == 0:
            return LinePolynomial(torch.zeros_like(self.coefficients))
        return LinePolynomial(derivative(self.coefficients.movedim(-1, 0)).movedim(0, -1))

    def minimize(self, lo: float | Tensor, hi: float | Tensor) -> tuple[Tensor, Tensor]:
        """The global minimum over lo <= t <= hi: the lowest of all stationary points there and both ends.

        Args:
            lo: lower end, broadcasting against ``shape``. Finite.
            hi: upper end, broadcasting against ``shape``. Finite, not below lo.

        Returns:
            Where it lies and its value, (t, value), both of the broadcast shape; of equal values the first.
            The value is differentiable with respect to the coefficients, since at the minimum a shift of t changes
            nothing in first order; t carries no gradient. Where coefficients are infinite or NaN, both are NaN.

        All candidates are found and compared in float64. Values that are not the lowest may overflow. If the lowest one
        overflows, or cannot be determined because others do, a ValueError is raised.
        """
        return self.extremum(lo, hi, sign=1)

    def maximize(self, lo: float | Tensor, hi: float | Tensor) -> tuple[Tensor, Tensor]:
        """The global maximum over lo <= t <= hi; arguments and results as for `minimize`."""
        return self.extremum(lo, hi, sign=-1)

    def extremum(self, lo: float | Tensor, hi: float | Tensor, sign: int) -> tuple[Tensor, Tensor]:
        """Where on [lo, hi] ``sign`` times the polynomial is lowest, and the value there."""
        lo, hi = self.argument("lo", lo), self.argument("hi", hi)
        check_finite("lo", lo)
        check_finite("hi", hi)
        if bool((lo > hi).any()):
            raise ValueError(f"lo must not exceed hi; got a lo above hi by {(lo - hi).max().item():g}. Exchange them.")
        shape = np.broadcast_shapes(self.shape, lo.shape, hi.shape)
        with torch.no_grad():
            found = lowest_within(sign * self.columns(shape), lo.expand(shape).flatten(), hi.expand(shape).flatten())
            t, lowest = found[0].reshape(shape), sign * found[1].reshape(shape)
        value = horner(self.coefficients.double().unbind(-1), t.double())
        # This only matters for subnormal coefficients, for which Horner's scheme loses digits.
        value = (value + (lowest - value).detach()).to(self.coefficients.dtype)
        check_certain(value, lowest, self.coefficients)
        return t, value

    @torch.no_grad()
    def roots(self, value: float | Tensor = 0.0) -> Tensor:
        """All real t where the polynomial equals ``value``.

        Args:
            value: broadcasting against ``shape``. Finite.

        Returns:
            Distinct roots, ascending, padded with NaN at the end to one root for each degree. Shape (..., degree),
            without gradient. Where the polynomial touches ``value`` without crossing it, that is a root if the distance
            is within rounding of the coefficients. Rounding splits a root of multiplicity k into up to k nearby ones. A
            polynomial that is constant, even at ``value``, has none. A root too large for the dtype is left out. Where
            coefficients are infinite or NaN, all entries are NaN.
        """
        level = self.argument("value", value)
        check_finite("value", level)
        shape = np.broadcast_shapes(self.shape, level.shape)
        if self.degree == 0:
            return self.coefficients.new_empty(*shape, 0)
        return real_roots(self.columns(shape), level.expand(shape).flatten()).mT.reshape(*shape, self.degree)

    def columns(self, shape: tuple[int, ...]) -> Tensor:
        """Coefficients expanded to a batch of this shape, degree first. Shape (degree + 1, N)."""
        return self.coefficients.expand(*shape, -1).reshape(-1, self.degree + 1).mT.contiguous()

    def argument(self, name: str, value: float | Tensor) -> Tensor:
        """A number or tensor as a tensor like the coefficients, which must broadcast against ``shape``."""
        tensor = torch.as_tensor(value, dtype=self.coefficients.dtype, device=self.coefficients.device)
        try:
            np.broadcast_shapes(self.shape, tensor.shape)
        except ValueError:
            raise ValueError(
                f"{name} must broadcast against shape {tuple(self.shape)}; got shape {tuple(tensor.shape)}."
            ) from None
        return tensor


def check_finite(name: str, t: Tensor) -> None:
    """Refuse NaN and infinities."""
    if not bool(t.isfinite().all()):
        raise ValueError(f"{name} must be finite; got {t[~t.isfinite()][0].item()}.")


def check_certain(value: Tensor, lowest: Tensor, coefficients: Tensor) -> None:
    """Refuse extrema that overflow, and those that cannot be determined because other values overflow."""
    unknown = ~(value.isfinite() & lowest.isfinite()) & coefficients.isfinite().all(-1)
    if bool(unknown.any()):
        largest = torch.finfo(value.dtype).max
        raise ValueError(
            f"The extremum must be a number of {value.dtype}, at most {largest:.2g} in size; got values beyond it. "
            "Divide the coefficients by a constant or shorten the interval."
        )


def check_max_degree(max_degree: int | None, order: int) -> int:
    """The highest power to compute."""
    if max_degree is None:
        return order
    if isinstance(max_degree, bool) or not isinstance(max_degree, int):
        raise TypeError(f"max_degree must be an integer or None; got {max_degree!r}.")
    if max_degree < 0:
        raise ValueError(f"max_degree must be at least 0; got {max_degree}.")
    return min(max_degree, order)


def paired_rows(p: LadderPolynomial, point: Tensor, direction: Tensor) -> tuple[Tensor, tuple[int, ...]]:
    """Points and directions broadcast and flattened to n rows, and the shape that the rows had.

    Returns:
        Shape (2, n, d), or (*batch_shape, 2, n, d) if any of the two differs from polynomial to polynomial.
    """
    batch = tuple(p.batch_shape)
    rows: list[Tensor] = []
    own: list[bool] = []
    for name, x in (("point", point), ("direction", direction)):
        check_tensor(name, x)
        if x.dim() == 0 or x.shape[-1] != p.in_features:
            raise ValueError(f"{name} must have last dimension {p.in_features}; got shape {tuple(x.shape)}.")
        check_finite(name, x)
        rows.append(x.to(dtype=p.dtype, device=p.device))
        own.append(bool(batch) and x.dim() >= len(batch) + 2 and tuple(x.shape[: len(batch)]) == batch)
    lead = batch if any(own) else ()
    skip = [len(batch) if mine else 0 for mine in own]
    try:
        shape = np.broadcast_shapes(*(x.shape[s:-1] for x, s in zip(rows, skip, strict=True)))
    except ValueError:
        shapes = f"{tuple(point.shape)} and {tuple(direction.shape)}"
        raise ValueError(f"point and direction must broadcast against each other; got shapes {shapes}.") from None

    def flat(x: Tensor, s: int) -> Tensor:
        missing = len(shape) + 1 - (x.dim() - s)
        x = x.reshape(*x.shape[:s], *[1] * missing, *x.shape[s:])
        return x.expand(*lead, *shape, -1).reshape(*lead, math.prod(shape), p.in_features)

    return torch.stack([flat(x, s) for x, s in zip(rows, skip, strict=True)], -3), shape
