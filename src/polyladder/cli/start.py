"""The entry point: from the first import on, an interrupt prints one word and exits with code 130."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

INTERRUPTED = 130

PATIENCE = 1.5
"""Seconds after which an interrupt ends the process by force: a long product or solve cannot be stopped."""

INTERRUPT = threading.Event()
"""Set at the first interrupt, in whichever thread it arrived."""


def run() -> None:
    """Run the command line."""
    try:
        watch_interrupts()
        from polyladder.cli.main import app

        app()
    except KeyboardInterrupt:
        leave()
    except Exception:
        # An interrupt during an import can be lost and leave half a module behind, which fails later.
        if INTERRUPT.wait(0.1):
            leave()
        raise


def leave() -> None:
    """Print that it was interrupted, and end the process; files are renamed when complete, so none is half written."""
    if threading.current_thread() is threading.main_thread():  # no other may set it, nor needs to
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write("polyladder: interrupted.\n")
    sys.stderr.flush()
    # Threads that are still computing must not keep the process.
    os._exit(INTERRUPTED)


def watch_interrupts() -> None:
    """Exit soon after an interrupt even where Python cannot raise it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait() -> None:
        while os.read(reader, 1) != bytes([signal.SIGINT]):
            pass
        INTERRUPT.set()
        time.sleep(PATIENCE)
        leave()

    threading.Thread(target=wait, daemon=True).start()
    # Where Python cannot raise an interrupt (in a callback of the garbage collector, in another thread), it would print
    # a traceback and go on; the thread above ends the process all the same.
    unraisable, in_thread = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = lambda error: None if error.exc_type is KeyboardInterrupt else unraisable(error)
    threading.excepthook = lambda error: None if error.exc_type is KeyboardInterrupt else in_thread(error)
