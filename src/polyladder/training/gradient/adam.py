"""Adam for many models at once, each with a learning rate, a step count and a pause of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8


class BatchedAdam:
    """Adam's moments for parameters whose first dimension counts models.

    ``torch.optim.Adam`` has one learning rate and one step count per tensor, and no model can pause. Here every number
    of the update rule has a value for each model, and a model that pauses keeps its moments.

    Args:
        parameters: updated in place. Shapes (B, p_1), (B, p_2), ...
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.steps = torch.zeros(self.parameters[0].shape[0], dtype=torch.float64, device=self.parameters[0].device)

    def step(self, gradients: Sequence[Tensor], rate: Tensor, active: Tensor) -> None:
        """Update the active models. The gradients are overwritten.

        Args:
            gradients: one per parameter, same shapes. Those of models that pause may be anything, NaN included.
            rate: learning rates, float64. Shape (B,).
            active: which models take the step. Shape (B,), bool.
        """
        moving = active.double()
        self.steps += moving
        count = self.steps.clamp(min=1)
        correction = (1 - BETA2**count).sqrt()

        def column(value: Tensor) -> Tensor:
            return value.to(self.parameters[0].dtype).unsqueeze(-1)

        gain, keep = column((1 - BETA1) * moving), column(1 - (1 - BETA2) * moving)
        rate, eps = column(moving * rate * correction / (1 - BETA1**count)), column(EPS * correction)
        paused = None if bool(active.all()) else ~active.unsqueeze(-1)
        for p, g, m, v in zip(self.parameters, gradients, self.first, self.second, strict=True):
            if paused is not None:
                g.masked_fill_(paused, 0)
            m.lerp_(g, gain)
            v.mul_(keep).addcmul_(g, g, value=1 - BETA2)
            torch.sqrt(v, out=g).add_(eps)
            p.addcmul_(torch.div(m, g, out=g), rate, value=-1)

    def resume(self, other: BatchedAdam, models: Tensor) -> None:
        """Copy the moments and step counts of some models of ``other``."""
        at = models.to(self.steps.device)
        self.first, self.second = [m[at] for m in other.first], [v[at] for v in other.second]
        self.steps = other.steps[at]
