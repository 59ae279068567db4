"""`polyladder demo`: what the library does, in under a minute and without any file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def demo() -> None:
    """Train a small ladder on a known polynomial, merge it and show that the result is exact."""
    import torch
    from rich.console import Console
    from rich.table import Table

    from polyladder import LPNN, merge

    console = Console()
    torch.manual_seed(0)
    x = torch.rand(512, 2) * 2 - 1
    y = target(x)
    net = LPNN(in_features=2, hidden=(16, 16), out_features=1, batch_norm=True, seed=0)
    console.print(f"Fitting y = 1 + 2 x1 x2 - x2^3 with an LPNN of order {net.order} (Adam, 1500 steps) ...")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1500)
    for _ in range(1500):
        optimizer.zero_grad()
        (net(x) - y).square().mean().backward()
        optimizer.step()
        schedule.step()
    polynomial = merge(net)
    console.print(f"Merged, batch norm included: {polynomial}")
    new = torch.tensor([[0.0, 0.0], [0.5, 0.5], [-0.5, 0.5], [0.9, -0.9]])
    difference = (polynomial(x) - net.eval()(x)).abs().max().item()
    table = Table("x1", "x2", "true", "polynomial")
    for row, true, fitted in zip(new, target(new), polynomial(new), strict=True):
        table.add_row(f"{row[0]:.1f}", f"{row[1]:.1f}", f"{true.item():.4f}", f"{fitted.item():.4f}")
    console.print(table)
    console.print(f"Largest difference between network and polynomial: {difference:.1e}")


def target(x: Tensor) -> Tensor:
    """The known polynomial of order 3."""
    return 1 + 2 * x[:, :1] * x[:, 1:] - x[:, 1:] ** 3
