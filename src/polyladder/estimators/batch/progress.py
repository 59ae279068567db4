"""One line that moves while models are fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor


class Progress:
    """A progress bar on stderr with the time left and the mean loss, or nothing at all when not wanted."""

    def __init__(self, wanted: bool, title: str) -> None:
        self.wanted, self.title = wanted, title

    @contextmanager
    def of(self, total: int) -> Iterator[None]:
        """Show progress towards ``total`` steps while the block runs."""
        if not self.wanted:
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[loss]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True)) as bar:
            self.bar, self.task = bar, bar.add_task(self.title, total=total, loss="")
            yield
            bar.update(self.task, completed=total)

    def step(self, models: int, losses: Tensor) -> None:
        """Note that ``models`` models took one sweep or epoch."""
        if self.wanted:
            self.bar.update(self.task, advance=models, loss=f"loss {losses.nanmean().item():.4g}")
