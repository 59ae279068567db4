"""Safe output: names in tables may hold escape sequences, which must not control the terminal."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import wraps
from typing import IO, TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tabs and line ends, and characters that reverse text."""


def printable(text: str) -> str:
    r"""Text in which such characters are written out, as JSON does it.

    >>> print(printable("\x1b[2J wiped"))
    \u001b[2J wiped
    """
    return ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Printable(io.TextIOBase):
    """A text stream that writes such characters as escapes. It is no terminal to others, so that none sends colors."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text; the length that was given."""
        self.stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what is held back."""
        self.stream.flush()

    def fileno(self) -> int:
        """Of the stream itself."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """It is."""
        return True

    @property
    def buffer(self) -> IO[bytes]:
        """For bytes, which are written unchanged: they are data, not text."""
        return self.stream.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the stream itself."""
        return self.stream.encoding


def terminal(stream: TextIO | Printable) -> TextIO:
    """The stream behind a printable one, for callers that escape characters themselves."""
    return stream.stream if isinstance(stream, Printable) else stream


def make_console(stderr: bool = False, **options: Any) -> Console:
    """A console of rich that shows control characters instead of sending them to the terminal.

    Inside a `polyladder` command it keeps a terminal's colors, which other writers to standard output lose.

    Args:
        stderr: whether it writes to standard error instead of standard output.
        **options: of `rich.console.Console`.
    """
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.segment import Segment

    class PrintableParts:
        def __init__(self, inner: ConsoleRenderable) -> None:
            self.inner = inner

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for part in console.render(self.inner, options):
                yield part if part.control else Segment(printable(part.text), part.style)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [PrintableParts(each) for each in renderables]

    made = Console(file=terminal(sys.stderr if stderr else sys.stdout), **options)
    made.push_render_hook(Hook())
    return made


@contextmanager
def printable_streams() -> Iterator[None]:
    """Make standard output and standard error printable while the block runs."""
    with redirect_stdout(Printable(terminal(sys.stdout))), redirect_stderr(Printable(terminal(sys.stderr))):
        yield


def printing(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with printable streams."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        with printable_streams():
            command(*arguments, **options)

    return run
