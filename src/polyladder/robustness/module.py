"""A ladder as a frozen PyTorch module, which attack libraries take as they take any network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.renamed import renamed


class LadderModule(nn.Module):
    """A module whose forward pass is the ladder.

    Args:
        polynomial: a single one.
        logits: whether a ladder of one output, the log-odds of the second class, becomes two logits (0 and it).
    """

    def __init__(self, polynomial: LadderPolynomial, logits: bool) -> None:
        super().__init__()
        self.polynomial, self.logits = polynomial, logits and polynomial.out_features == 1
        # Buffers, so that libraries which ask for a module's device or dtype find one.
        for name, t in polynomial.tensors().items():
            self.register_buffer(name.replace(".", "_"), t.detach())

    def forward(self, x: Tensor) -> Tensor:
        """Outputs at inputs of any shape that holds d numbers per row, such as images. Shape (n, m)."""
        f: Tensor = self.polynomial(x.flatten(1))
        return torch.cat([torch.zeros_like(f), f], 1) if self.logits else f


@renamed("logits", p="model")
def to_module(model: LadderPolynomial, *, logits: bool = True) -> LadderModule:
    """The ladder as a module for foolbox, ART and others, in ``eval`` mode and differentiable in its input.

    Args:
        model: a single ladder.
        logits: turn the single output of a two-class ladder into two logits; False for a ladder of numbers.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> to_module(square)(torch.tensor([[3.0]]))
        tensor([[0., 9.]])
    """
    if not isinstance(model, LadderPolynomial):
        raise TypeError(
            f"model must be a LadderPolynomial; got {type(model).__name__}. Give an estimator's polynomial_."
        )
    if model.batch_shape:
        raise ValueError(f"model must be a single ladder; got batch_shape {tuple(model.batch_shape)}. Index it first.")
    return LadderModule(model.map(Tensor.detach), logits).eval()
