"""The models that are computed together, and the training step that they share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from polyladder.models.batched import BatchedModule
from polyladder.models.processes import process_count, process_number, sum_over_processes
from polyladder.polynomial.sparse import is_sparse, take_rows
from polyladder.training.gradient.adam import BatchedAdam
from polyladder.training.gradient.data import TrainingData
from polyladder.training.gradient.robust import jacobian_norms, robust_losses
from polyladder.training.gradient.row_stream import RowStream
from polyladder.training.gradient.validation import ValidationRows
from polyladder.training.history import TrainingLog


@dataclass(frozen=True, eq=False)
class Settings:
    """The numbers that differ from model to model, float64. Every field has shape (B,).

    Args:
        learning_rate: at the start of the schedule.
        l2: weight of the penalty.
        clip: largest norm of the gradient; infinite if there is none.
        decay_steps: steps over which the learning rate falls to 0 along a cosine; infinite if it stays.
        mean_weight: mean sample weight of the rows that the model trains on.
        jacobian: weight of the penalty on derivatives by the inputs.
        radius: by which inputs may move.
        warmup_steps: over which the radius grows from 0.
    """

    learning_rate: Tensor
    l2: Tensor
    clip: Tensor
    decay_steps: Tensor
    mean_weight: Tensor
    jacobian: Tensor
    radius: Tensor
    warmup_steps: Tensor

    def map(self, function: Callable[[Tensor], Tensor]) -> Settings:
        """The settings whose every tensor is ``function`` of this one's."""
        return Settings(**{f.name: function(vars(self)[f.name]) for f in fields(self)})


class ModelBatch:
    """The models that are computed together: at first all, later the part that is still running.

    Args:
        net: the models, trained in place.
        data: with the row numbers of these models.
        settings: of these models.
        stream: of these models' rows.
        members: their positions in the flattened batch of the caller's network; all of it by default. Shape (B,).
    """

    def __init__(
        self,
        net: BatchedModule,
        data: TrainingData,
        settings: Settings,
        stream: RowStream,
        members: Tensor | None = None,
    ) -> None:
        self.net, self.data, self.settings, self.stream = net, data, settings, stream
        self.members = torch.arange(len(data.rows)) if members is None else members
        self.state = by_model(net, net.state_dict())
        self.trained = [p for p in net.parameters() if p.requires_grad]
        self.penalized = [p.dim() - len(net.batch_shape) >= 2 for p in self.trained]
        self.buffers = list(by_model(net, dict(net.named_buffers())).values())
        self.kept_buffers = [torch.empty_like(t) for t in self.buffers]
        self.adam = BatchedAdam([p.detach().view(len(self.members), -1) for p in self.trained])
        # Averages the gradients of all processes while they are computed.
        self.outputs = net if process_count() == 1 else DistributedDataParallel(net)
        self.validation = None if data.validation is None else ValidationRows.of(data)

    def part(self, models: Tensor) -> ModelBatch:
        """A copy of some of the models, to be trained on its own."""
        chosen = models.tolist()
        held_out = self.data.validation
        data = replace(
            self.data,
            rows=[self.data.rows[i] for i in chosen],
            validation=None if held_out is None else [held_out[i] for i in chosen],
        )
        net = self.net[torch.unravel_index(models, self.net.batch_shape)]
        settings = self.settings.map(lambda t: t[models.to(t.device)])
        other = ModelBatch(net, data, settings, self.stream.part(models), self.members[models])
        other.adam.resume(self.adam, models)
        return other

    def epoch(self, log: TrainingLog) -> None:
        """Train every running model for one epoch of its own."""
        self.net.train()
        device = self.data.x.device
        steps = self.stream.steps.to(device)
        running = log.running[self.members].to(device)
        total = torch.zeros(len(self.members), dtype=torch.float64, device=device)
        for number, batch in enumerate(self.stream.epoch().to(device)):
            # A model that has taken all its steps waits for neighbors that have more.
            active = running & (number < steps)
            losses, finite = self.step(batch, active)
            total += losses.where(active, 0)
            failed = active & ~finite
            running &= ~failed
        log.advance(self.members, (total / steps).cpu(), running.cpu())

    def step(self, batch: Tensor, active: Tensor) -> tuple[Tensor, Tensor]:
        """One Adam step of the active models whose loss and gradient are finite.

        Args:
            batch: row numbers. Shape (B, batch_size).
            active: which models may move. Shape (B,).

        Returns:
            The losses before the step and which models are finite. Shapes (B,).
        """
        data, settings, whole = self.data, self.settings, batch.shape[-1]
        # Every process has the same batch and computes a share of it.
        batch = batch[:, process_number() :: process_count()].contiguous()
        for kept, buffer in zip(self.kept_buffers, self.buffers, strict=True):
            kept.copy_(buffer)
        self.net.zero_grad(set_to_none=True)
        picked, shape = batch.view(-1), (*self.net.batch_shape, batch.shape[-1])
        x = take_rows(data.x, picked)
        x = x if is_sparse(x) else x.view(*shape, -1)
        target = data.target.index_select(0, picked).view(*shape, *data.target.shape[1:])
        radius = settings.radius * ((self.adam.steps + 1) / settings.warmup_steps).clamp(max=1)
        losses = self.averaged(
            robust_losses(self.net, data.loss, data.robust, x, target, radius, self.outputs), batch, whole
        )
        objective = losses
        if bool(settings.jacobian.any()):
            objective = losses + settings.jacobian.to(x.dtype) * self.averaged(
                jacobian_norms(self.net, x), batch, whole
            )
        # Sum over models, mean within one: a mean over models would shrink every model's gradient by the number of
        # its neighbors, and with it the meaning of the L2 weight and of the clipping norm.
        objective.sum().backward()  # type: ignore[no-untyped-call]
        losses = sum_over_processes(losses.detach()) / process_count()
        gradients = [gradient(p).view(len(active), -1) for p in self.trained]
        if bool(settings.l2.any()):
            doubled = (2 * settings.l2).to(x.dtype).unsqueeze(-1)
            for g, weight, penalized in zip(gradients, self.adam.parameters, self.penalized, strict=True):
                if penalized:
                    g.addcmul_(weight, doubled)
        norms = torch.linalg.vector_norm(
            torch.stack([torch.linalg.vector_norm(g, dim=-1) for g in gradients]), dim=0, dtype=torch.float64
        )
        finite = losses.isfinite() & norms.isfinite()
        active = active & finite
        if not bool(active.all()):
            for kept, buffer in zip(self.kept_buffers, self.buffers, strict=True):
                buffer[~active] = kept[~active]
        if bool((norms > settings.clip).any()):
            scale = (settings.clip / norms).clamp(max=1).to(x.dtype).unsqueeze(-1)
            for g in gradients:
                g.mul_(scale)
        rate = settings.learning_rate * (1 + torch.cos(math.pi * self.adam.steps / settings.decay_steps)) / 2
        self.adam.step(gradients, rate, active)
        return losses.double(), finite

    def averaged(self, by_row: Tensor, batch: Tensor, whole: int) -> Tensor:
        """Means over the rows of a batch, of which this process may have a share. Shape (B,)."""
        by_row = by_row.view(batch.shape)
        if self.data.weight is not None:
            # Divided by the mean weight of all of the model's rows, not of the batch: the gradient is then unbiased,
            # and a batch of weight zero does not divide by zero.
            by_row = by_row * (self.data.weight[batch] / self.settings.mean_weight.to(by_row.dtype).unsqueeze(-1))
        return by_row.mean(-1) if process_count() == 1 else by_row.sum(-1) * (process_count() / whole)

    def validate(self, log: TrainingLog, patience: int | None) -> Tensor:
        """Measure the validation losses, stop models that have run out of patience, and return those at their best.

        Returns:
            Positions in this batch. Shape (k,).
        """
        assert self.validation is not None
        self.net.eval()
        losses = self.validation.losses(self.net, self.data, self.settings.radius).cpu()
        return log.validate(self.members, losses, patience).nonzero().squeeze(-1)


def by_model(net: BatchedModule, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Views of parameters or buffers with one row per model. Shapes (B, p)."""
    models = math.prod(net.batch_shape)
    return {name: t.detach().view(models, -1) for name, t in tensors.items()}


def copy_models(source: dict[str, Tensor], at: Tensor, target: dict[str, Tensor], to: Tensor) -> None:
    """Copy the rows ``at`` of one state to the rows ``to`` of another."""
    if len(at):
        for name, values in source.items():
            target[name][to.to(values.device)] = values[at.to(values.device)]


def gradient(parameter: Tensor) -> Tensor:
    """A parameter's gradient; zero if the loss does not depend on it."""
    return parameter.new_zeros(parameter.shape) if parameter.grad is None else parameter.grad
