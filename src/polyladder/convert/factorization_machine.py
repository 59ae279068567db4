"""A factorization machine as a ladder."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def from_factorization_machine(
    w0: float | Tensor,
    w: Tensor,
    factors: Tensor,
    factors3: Tensor | None = None,
    several_outputs: bool = False,
) -> LadderPolynomial:
    r"""The ladder that equals a factorization machine of order 2 or 3.

    Implements: Theorem 4.2.

    .. math:: f(x) = w_0 + w \cdot x + \sum_{i<j} \langle s_i, s_j \rangle x_i x_j
              + \sum_{i<j<k} \langle t_i, t_j, t_k \rangle x_i x_j x_k

    With p_q = sum_i (s_i x_i)^q for one factor, Newton's identities turn sums over distinct inputs into powers: the
    pairs are (p_1^2 - p_2) / 2, one rung, and the triples (p_1^3 - 3 p_1 p_2 + 2 p_3) / 6, two rungs. The powers of
    single inputs are shared by all factors and outputs, so the width is m rank + d + m at order 2. At order 3 it is
    m (rank + rank3) + d + m, then m rank3 + d + m.

    Args:
        w0: intercept, one number for all or one each. Shape (*batch_shape,).
        w: weights of the linear part. Shape (*batch_shape, d).
        factors: s, whose column i belongs to input i. Shape (*batch_shape, rank, d).
        factors3: t, those of the third order. Shape (*batch_shape, rank3, d). None for a machine of order 2.
        several_outputs: the arguments have shapes (*batch_shape, m), (*batch_shape, m, d) and (*batch_shape, m, rank,
            d): one machine for each output of one ladder.

    Returns:
        A ladder of order 2 or 3, in dtype and on the device of ``factors``, equal to the machine up to rounding.

    Example:
        >>> import torch
        >>> from_factorization_machine(0.5, torch.ones(3), torch.ones(2, 3))(torch.ones(1, 3))  # 0.5 + 3 + 2 * 3
        tensor([[9.5000]])
    """
    w0, w = check_machine(w0, w, factors, factors3, several_outputs)
    if not several_outputs:
        w0, w, factors = w0.unsqueeze(-1), w.unsqueeze(-2), factors.unsqueeze(-3)
    *batch, m, rank, d = factors.shape

    def constant(matrix: Tensor) -> Tensor:
        return matrix.to(factors).expand(*batch, *matrix.shape)

    def zeros(*shape: int) -> Tensor:
        return factors.new_zeros(*batch, *shape)

    one_each, inputs = constant(torch.eye(m)), constant(torch.eye(d))
    # First rung: (s . x)^2 for each factor of each output, x_i^2, and the linear part, whose gate is 1.
    pairs = factors.flatten(-3, -2)
    W = torch.cat([pairs, inputs, w], -2)
    V = torch.cat([pairs, inputs, zeros(m, d)], -2)
    c = torch.cat([zeros(m * rank + d), constant(torch.ones(m))], -1)
    second_order = torch.cat([owner(one_each, rank) / 2, -factors.square().sum(-2) / 2, one_each], -1)
    if factors3 is None:
        return LadderPolynomial(W=(W,), b=(torch.zeros_like(c),), V=(V,), c=(c,), readout=second_order, offset=w0)

    factors3 = (factors3 if several_outputs else factors3.unsqueeze(-3)).to(factors)
    triples, rank3 = factors3.flatten(-3, -2), factors3.shape[-2]
    W = torch.cat([W, triples], -2)
    V = torch.cat([V, triples], -2)
    c = torch.cat([c, zeros(m * rank3)], -1)
    # Second rung: the machine of order 2 under a gate of 1, p_1 (p_1^2 - 3 p_2) for each factor, and x_i^3.
    upper = torch.cat([second_order, zeros(m, m * rank3)], -1)
    newton = [zeros(m * rank3, m * rank), -3 * triples.square(), zeros(m * rank3, m), constant(torch.eye(m * rank3))]
    cubes = [zeros(d, m * rank), inputs, zeros(d, m + m * rank3)]
    upper = torch.cat([upper, torch.cat(newton, -1), torch.cat(cubes, -1)], -2)
    upper_gate = torch.cat([zeros(m, d), triples, inputs], -2)
    upper_c = torch.cat([constant(torch.ones(m)), zeros(m * rank3 + d)], -1)
    return LadderPolynomial(
        W=(W, upper),
        b=(torch.zeros_like(c), torch.zeros_like(upper_c)),
        V=(V, upper_gate),
        c=(c, upper_c),
        readout=torch.cat([one_each, owner(one_each, rank3) / 6, factors3.pow(3).sum(-2) / 3], -1),
        offset=w0,
    )


def owner(one_each: Tensor, rank: int) -> Tensor:
    """Which output each factor belongs to: ones (..., m, m) to (..., m, m * rank)."""
    return one_each.repeat_interleave(rank, -1)


def check_machine(
    w0: float | Tensor, w: Tensor, factors: Tensor, factors3: Tensor | None, several_outputs: bool
) -> tuple[Tensor, Tensor]:
    """Refuse parts that do not fit each other; return w0 and w in the factors' dtype, w0 in full shape."""
    parts = {"w": w, "factors": factors} | ({} if factors3 is None else {"factors3": factors3})
    for name, part in parts.items():
        if not isinstance(part, Tensor) or not part.is_floating_point():
            kind = part.dtype if isinstance(part, Tensor) else type(part).__name__
            raise TypeError(f"{name} must be a floating-point torch.Tensor; got {kind}.")
    if factors.dim() < (3 if several_outputs else 2):
        expected = "(*batch_shape, m, rank, d)" if several_outputs else "(*batch_shape, rank, d)"
        raise ValueError(f"factors must have shape {expected}; got shape {tuple(factors.shape)}.")
    lead, d = tuple(factors.shape[:-2]), factors.shape[-1]
    if tuple(w.shape) != (*lead, d):
        raise ValueError(f"w must have shape {(*lead, d)} as factors have; got shape {tuple(w.shape)}.")
    if factors3 is not None and (
        factors3.dim() != factors.dim() or tuple(factors3.shape[:-2]) != lead or factors3.shape[-1] != d
    ):
        raise ValueError(
            f"factors3 must have the shape of factors, {tuple(factors.shape)}, but for the rank; "
            f"got shape {tuple(factors3.shape)}."
        )
    intercept = torch.as_tensor(w0, dtype=factors.dtype, device=factors.device)
    if intercept.dim() and tuple(intercept.shape) != lead:
        raise ValueError(f"w0 must be one number or have shape {lead}; got shape {tuple(intercept.shape)}.")
    return intercept.expand(lead), w.to(factors)
