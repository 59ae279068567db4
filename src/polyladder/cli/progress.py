"""Progress of long work on stderr: a moving line in a terminal, elsewhere plain sentences and a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from polyladder.cli.printable import make_console, terminal

EVERY = 10.0
"""Seconds between lines if stderr is not a terminal."""


class Shown:
    """What is shown: steps that pass, and sentences that stay."""

    def __init__(self, bar: Any, talk: bool) -> None:
        self.bar, self.talk, self.words = bar, talk, ""
        self.task = None if bar is None else bar.add_task("", total=None)

    def step(self, words: str) -> None:
        """Say what is being done."""
        self.words = words
        if self.bar is not None:
            self.bar.update(self.task, description=words)

    def say(self, sentence: str) -> None:
        """Say something that stays."""
        if not self.talk:
            return
        if self.bar is not None:
            self.bar.console.print(sentence, highlight=False, markup=False)
        else:
            print(sentence, file=sys.stderr, flush=True)


@contextmanager
def progress(talk: bool) -> Iterator[Shown]:
    """Show progress while the block runs; without a terminal, a line each `EVERY` seconds."""
    if not (talk and terminal(sys.stderr).isatty()):
        shown = Shown(None, talk)
        over = threading.Event()
        began = time.monotonic()

        def report() -> None:
            while not over.wait(EVERY):
                shown.say(f"{time.monotonic() - began:.0f} s: {shown.words}")

        if talk:
            threading.Thread(target=report, daemon=True).start()
        try:
            yield shown
        finally:
            over.set()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=make_console(stderr=True), transient=True) as bar:
        yield Shown(bar, talk)
