"""How much each input contributes to an output, and which inputs act together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.analysis.jacobian import hessian_vector_product, jacobian
from polyladder.polynomial.ladder import LadderPolynomial, check_tensor
from polyladder.polynomial.names import input_names


def integrated_gradients(polynomial: LadderPolynomial, x: Tensor, baseline: Tensor) -> Tensor:
    r"""What each input contributes to the change of the output from a baseline to x, exactly.

    .. math:: a_i = (x_i - x'_i) \int_0^1 \partial_i f(x' + t (x - x')) \, dt

    On the line the gradient is a polynomial of degree p - 1 in t, so the Gauss-Legendre rule of ceil(p / 2) nodes
    integrates it without error, where a general network needs many steps and still leaves a gap. The contributions of
    all inputs add up to f(x) - f(x').

    Args:
        polynomial: order p, any ``batch_shape``.
        x: the rows to explain. Shape (n, d) or (*batch_shape, n, d).
        baseline: x', what they are compared with. Shape (d,) for one point, or as x.

    Returns:
        a. Shape (*batch_shape, n, m, d).

    Cost: ceil(p / 2) Jacobians.
    """
    x = polynomial.check_rows(x)
    start = check_baseline(polynomial, x, baseline)
    change = x - start
    # Nodes of [-1, 1], moved to [0, 1].
    nodes, weights = np.polynomial.legendre.leggauss((polynomial.order + 1) // 2)
    mean_gradient = sum(
        weight / 2 * jacobian(polynomial, start + (node + 1) / 2 * change)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True)
    )
    return mean_gradient * change.unsqueeze(-2)


def check_baseline(polynomial: LadderPolynomial, x: Tensor, baseline: Tensor) -> Tensor:
    """Refuse a baseline that is neither one point nor one for each row; return it with a row dimension."""
    d, n = polynomial.in_features, x.shape[-2]
    check_tensor("baseline", baseline)
    shape = tuple(baseline.shape)
    if shape not in ((d,), (n, d), (*polynomial.batch_shape, n, d)):
        raise ValueError(f"baseline must have shape ({d},) or that of x, {tuple(x.shape)}; got shape {shape}.")
    return (baseline.unsqueeze(0) if baseline.dim() == 1 else baseline).to(x)


@dataclass(frozen=True, eq=False, repr=False)
class Interactions:
    """How strongly inputs act alone and in pairs over a sample, in units of the output.

    Args:
        single: root mean square of df/dx_i times the standard deviation of x_i. Shape (*batch_shape, m, d).
        pairs: root mean square of d2f/dx_i dx_j times both standard deviations; symmetric, with the curvature in one
            input on the diagonal. Shape (*batch_shape, m, d, d).
        names: of the d inputs.
    """

    single: Tensor
    pairs: Tensor
    names: tuple[str, ...]

    @property
    def ranked_features(self) -> Tensor:
        """Inputs from the strongest to the weakest. Shape (*batch_shape, m, d)."""
        return self.single.argsort(dim=-1, descending=True, stable=True)

    @property
    def ranked_pairs(self) -> Tensor:
        """Pairs (i, j), i < j, from the strongest to the weakest. Shape (*batch_shape, m, d (d - 1) / 2, 2)."""
        d = len(self.names)
        i, j = torch.triu_indices(d, d, offset=1, device=self.pairs.device)
        order = self.pairs[..., i, j].argsort(dim=-1, descending=True, stable=True)
        return torch.stack([i[order], j[order]], -1)

    def table(self, output: int = 0, top: int = 10) -> str:
        """The strongest inputs and pairs of one output as text; only for a single polynomial."""
        if self.single.dim() > 2:
            raise ValueError(
                f"table must be asked of a single polynomial; got batch_shape {tuple(self.single.shape[:-2])}. "
                "Call interactions(p[i], data)."
            )
        features = [(self.names[i], self.single[output, i].item()) for i in self.ranked_features[output, :top].tolist()]
        pairs = [
            (f"{self.names[i]} * {self.names[j]}", self.pairs[output, i, j].item())
            for i, j in self.ranked_pairs[output, :top].tolist()
        ]
        width = max(len(name) for name, _ in features + pairs)
        lines = [f"{'input':<{width}}  strength", *(f"{name:<{width}}  {value:8.4g}" for name, value in features)]
        if pairs:
            lines += ["", f"{'pair':<{width}}  strength", *(f"{name:<{width}}  {value:8.4g}" for name, value in pairs)]
        return "\n".join(lines)

    def __str__(self) -> str:
        if self.single.dim() > 2:
            return repr(self)
        m = self.single.shape[-2]
        return "\n\n".join((f"output {j}\n" if m > 1 else "") + self.table(j) for j in range(m))

    def __repr__(self) -> str:
        *batch, m, d = self.single.shape
        return f"Interactions({f'batch_shape={tuple(batch)}, ' if batch else ''}{d} inputs, {m} outputs)"


def interactions(polynomial: LadderPolynomial, data: Tensor, names: Sequence[str] | None = None) -> Interactions:
    """Rank inputs, and pairs of inputs, by how much they change the output over a sample.

    An input counts by its derivative and a pair by its mixed second derivative, both exact, in steps of one standard
    deviation, as root mean squares over the rows. A pair of strength 0 does not interact: at no row does the slope in
    one of the two depend on the other.

    Args:
        polynomial: any ``batch_shape``.
        data: the sample, at least two rows. Shape (n, d) or (*batch_shape, n, d).
        names: of the d inputs, all different; x0, x1, ... if not given.

    Cost: one Jacobian and d Hessian-vector products; never the n Hessians at once.
    """
    data = polynomial.check_rows(data)
    d = polynomial.in_features
    labels = input_names(names, d)
    if data.shape[-2] < 2:
        raise ValueError(f"data must have at least 2 rows; got {data.shape[-2]}. One row has no spread.")
    spread = data.std(-2, correction=0).unsqueeze(-2)
    single = root_mean_square(jacobian(polynomial, data)) * spread
    columns = [
        root_mean_square(hessian_vector_product(polynomial, data, direction)) * spread
        for direction in torch.eye(d, dtype=data.dtype, device=data.device)
    ]
    pairs = torch.stack(columns, -1) * spread.unsqueeze(-2)
    return Interactions(single=single, pairs=pairs, names=labels)


def root_mean_square(derivatives: Tensor) -> Tensor:
    """Over the rows: (*batch_shape, n, m, d) to (*batch_shape, m, d)."""
    return derivatives.square().mean(-3).sqrt()
