"""What every trainable model here shares: a leading ``batch_shape`` on each of its parameters and buffers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar, cast

import torch
from torch import Tensor, nn

from polyladder.polynomial.ladder import LadderPolynomial, stack_ladders

Stackable = TypeVar("Stackable", bound="BatchedModule | LadderPolynomial")
Seeds = int | Sequence[int] | Tensor | None


class BatchedModule(nn.Module):
    """Many models of one architecture held as one module.

    The contract: every parameter and every buffer has shape (*batch_shape, ...), and `architecture` returns the
    constructor's arguments that are not per-model. Slicing and stacking then need to know nothing about the model.
    """

    batch_shape: torch.Size

    def architecture(self) -> dict[str, Any]:
        """Constructor arguments that models of one batch share."""
        raise NotImplementedError(f"{type(self).__name__} must say which constructor arguments its models share.")

    def __getitem__(self, index: Any) -> Self:
        """A copy of one model, or of a part, of the batch."""
        if not self.batch_shape:
            raise IndexError(f"This {type(self).__name__} has no batch_shape to index: it is a single model already.")
        positions = torch.arange(math.prod(self.batch_shape)).reshape(self.batch_shape)[index]
        depth = len(self.batch_shape)

        def part(name: str, t: Tensor) -> Tensor:
            return t.flatten(0, depth - 1)[positions.to(t.device)].clone()

        return self._rebuilt(positions.shape, part)

    def _rebuilt(self, batch_shape: Sequence[int], value: Callable[[str, Tensor], Tensor]) -> Self:
        """A module of this architecture with another ``batch_shape`` and the state that ``value`` gives it."""
        state = {name: value(name, t.detach()) for name, t in self.state_dict().items()}
        with torch.device("meta"):
            fresh = type(self)(**self.architecture(), batch_shape=tuple(batch_shape))
        fresh.load_state_dict(state, assign=True)
        for name, parameter in fresh.named_parameters():
            parameter.requires_grad_(self.get_parameter(name).requires_grad)
        return fresh.train(self.training)


def stack(models: Sequence[Stackable]) -> Stackable:
    """Join models, or polynomials, of one architecture along a new leading batch dimension.

    Example:
        >>> from polyladder import LPNN, stack
        >>> both = stack([LPNN(3, (4,), 1), LPNN(3, (4,), 1)])
        >>> tuple(both.batch_shape), tuple(both[0].batch_shape)
        ((2,), ())
    """
    members = list(models)
    if not members:
        raise ValueError("stack must be given at least one model; got none.")
    if isinstance(members[0], LadderPolynomial):
        return cast(Stackable, stack_ladders(cast(Sequence[LadderPolynomial], members)))
    modules = cast(list[BatchedModule], members)
    first = modules[0]
    for other in modules[1:]:
        same = type(other) is type(first) and other.architecture() == first.architecture()
        if not same or other.batch_shape != first.batch_shape:
            raise ValueError(f"stack must be given models of one architecture; got {first} and {other}.")
    states = [module.state_dict() for module in modules]
    batch = (len(modules), *first.batch_shape)
    return cast(Stackable, first._rebuilt(batch, lambda name, _: torch.stack([s[name].detach() for s in states])))


def positive_integer(name: str, value: object) -> int:
    """Refuse anything but an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
    return value


def per_model(name: str, value: float | Tensor, batch_shape: Sequence[int], low: float, high: float) -> Tensor:
    """One number, or one for each model, in [low, high) as a float64 tensor of ``batch_shape``."""
    tensor = torch.as_tensor(value, dtype=torch.float64)
    if tensor.dim() and tuple(tensor.shape) != tuple(batch_shape):
        raise ValueError(
            f"{name} must be one number or have shape {tuple(batch_shape)}, one per model; "
            f"got shape {tuple(tensor.shape)}."
        )
    if tensor.device.type != "meta" and not bool(((tensor >= low) & (tensor < high)).all()):
        raise ValueError(f"{name} must be in [{low:g}, {high:g}); got {value}.")
    return tensor.expand(tuple(batch_shape)).clone()


def generators(seed: Seeds, batch_shape: Sequence[int]) -> list[torch.Generator | None]:
    """One random stream a model, so that a model's start does not depend on its neighbors.

    With one integer, model number i of the flattened batch gets ``seed + i``; with None all draw from torch's own
    stream, as other modules do.
    """
    count = math.prod(batch_shape)
    if seed is None:
        return [None] * count
    if isinstance(seed, int):
        seeds = [seed + i for i in range(count)]
    else:
        seeds = [int(s) for s in torch.as_tensor(seed).flatten()]
        if len(seeds) != count:
            raise ValueError(f"seed must be one integer or {count} of them, one per model; got {len(seeds)}.")
    return [torch.Generator().manual_seed(s) for s in seeds]
