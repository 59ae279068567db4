"""One network, one ordinary PyTorch training loop: what `polyladder.train` must amount to."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def plain_adam(
    net: nn.Module,
    x: Tensor,
    y: Tensor,
    loss: str,
    seed: int,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    l2: float = 0.0,
    schedule: str = "constant",
    clip: float | None = None,
    extra: Callable[[nn.Module, Tensor], Tensor] | None = None,
) -> list[float]:
    """Train in place with torch.optim.Adam; return the mean batch loss of every epoch. ``extra`` joins the penalty."""
    measure = {
        "squared": F.mse_loss,
        "softmax": F.cross_entropy,
        "logistic": F.binary_cross_entropy_with_logits,
    }[loss]
    steps = math.ceil(len(x) / batch_size)
    generator = torch.Generator().manual_seed(seed)
    order = [
        i for _ in range(epochs * steps * batch_size) for i in torch.randperm(len(x), generator=generator).tolist()
    ]
    optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * steps)
    net.train()
    losses = []
    for epoch in range(epochs):
        total = 0.0
        for step in range(epoch * steps, (epoch + 1) * steps):
            batch = order[step * batch_size : (step + 1) * batch_size]
            value = measure(net(x[batch]), y[batch])
            penalty = l2 * sum(p.square().sum() for p in net.parameters() if p.dim() >= 2)
            if extra is not None:
                penalty = penalty + extra(net, x[batch])
            optimizer.zero_grad()
            (value + penalty).backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            optimizer.step()
            if schedule == "cosine":
                decay.step()
            total += value.item()
        losses.append(total / steps)
    net.eval()
    return losses
