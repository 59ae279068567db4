"""The coefficients of a ladder as a tensor train."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.absorb import absorb, append_one
from polyladder.polynomial.ladder import LadderPolynomial, check_rows


@dataclass(frozen=True, eq=False, repr=False)
class TensorTrain:
    r"""A polynomial of order p in d inputs as a chain of p cores over x-hat = [x; 1].

    Core l is indexed as G^l[r_l, n, r_(l-1)]: the bond to the core above it, the entry of x-hat that it is contracted
    with (the last one is the constant 1), and the bond to the core below it. The bottom bond has size 1, and the top
    bond counts the outputs, because the readout is multiplied into the last core:

    .. math:: f_i(x) = \sum_{n_0 \ldots n_L} \Big(\sum_{r_0 \ldots r_{L-1}} G^L[i, n_L, r_{L-1}] \cdots
              G^1[r_1, n_1, r_0] \, G^0[r_0, n_0, 1]\Big) \hat x_{n_0} \cdots \hat x_{n_L}

    Args:
        cores: from the input's to the readout's. Shapes (*batch_shape, r_l, d + 1, r_(l-1)).
        n_ladder_weights: how many numbers the ladder holds that the train was made from.
    """

    cores: tuple[Tensor, ...]
    n_ladder_weights: int

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch of polynomials; ``()`` for a single one."""
        return self.cores[0].shape[:-3]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The sizes of the bonds from bottom to top: 1, r_0, ..., r_(L-1), m."""
        return (1, *(int(core.shape[-3]) for core in self.cores))

    @property
    def n_parameters(self) -> int:
        """How many numbers the cores of one polynomial of the batch hold."""
        return sum(core.shape[-3:].numel() for core in self.cores)

    def __call__(self, x: Tensor) -> Tensor:
        """Contract with rows x of shape (n, d) or (*batch_shape, n, d); the result has shape (*batch_shape, n, m)."""
        first = self.cores[0]
        x = append_one(check_rows(x, int(first.shape[-2]) - 1, self.batch_shape).to(first))
        state = torch.ones_like(x[..., :1])
        for core in self.cores:
            # One product with the outer product of x-hat and the state: contracting the core with x-hat first would
            # make a matrix for every row.
            outer = (x.unsqueeze(-1) * state.unsqueeze(-2)).flatten(-2)
            state = outer @ core.flatten(-2).mT
        return state

    def __repr__(self) -> str:
        batch = f"batch_shape={tuple(self.batch_shape)}, " if self.batch_shape else ""
        d = int(self.cores[0].shape[-2]) - 1
        return (
            f"TensorTrain({batch}order={len(self.cores)}, {d} + 1 inputs, ranks {'-'.join(map(str, self.ranks))}, "
            f"{self.n_parameters} parameters; the ladder has {self.n_ladder_weights})"
        )


def tensor_train(polynomial: LadderPolynomial) -> TensorTrain:
    r"""The tensor train that the coefficients of a ladder are.

    Implements: Theorem 4.3.

    With the intercepts absorbed (`absorb`), rung l is the core

    .. math:: G^l[i, n, j] = \hat W^l_{ij} \hat V^l_{in}, \quad G^0 = I, \quad G^L \leftarrow \hat R \, G^L

    so the ranks are the widths plus one. A core repeats the ladder's weights once for every entry of x-hat: the
    train has more parameters than the ladder, and far fewer than the tensor of (d + 1)^p coefficients.

    Args:
        polynomial: order p, any ``batch_shape``. With no layers the one core is the readout.

    Returns:
        A train of p cores, differentiable in the weights; called on rows, it equals the ladder.

    Cost: O(k^2 d) numbers a core.

    Example:
        >>> from polyladder import LPNN, merge
        >>> tensor_train(merge(LPNN(8, (50, 50, 50), 1)))
        TensorTrain(order=4, 8 + 1 inputs, ranks 1-9-51-51-1, 28080 parameters; the ladder has 6951)
    """
    hat = absorb(polynomial)
    identity = torch.eye(hat.in_features, dtype=hat.dtype, device=hat.device).unsqueeze(-1)
    cores = [identity.expand(*hat.batch_shape, *identity.shape)]
    cores += [torch.einsum("...ij,...in->...inj", W, V) for W, V in zip(hat.W, hat.V, strict=True)]
    cores[-1] = torch.einsum("...mi,...inj->...mnj", hat.readout, cores[-1])
    return TensorTrain(cores=tuple(cores), n_ladder_weights=polynomial.n_weights)
