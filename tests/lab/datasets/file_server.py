"""A web server on this machine that serves files well, and in every way a download can go wrong."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class FileServer:
    """Files by path, and how each is served.

    Behaviors: "good" (with ranges), "no ranges", "no length", "truncate once" (half, then the rest when asked for it),
    "truncate" (half of what is asked for, each time), "stall once" (half, then nothing), "stall" (nothing at all).
    Anything else answers 404.
    """

    address: str = ""
    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def serve(self, path: str, content: bytes, behavior: str = "good") -> str:
        """Put a file on the server and give its address."""
        self.files[path] = (content, behavior)
        return self.address + path


@contextmanager
def running_server() -> Iterator[FileServer]:
    """A server for the length of a block."""
    state = FileServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            state.requests.append((self.path, wanted))
            if self.path not in state.files:
                return self.send_error(404)
            content, behavior = state.files[self.path]
            first = sum(path == self.path for path, _ in state.requests) == 1
            start = 0
            if wanted and behavior != "no ranges":
                start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
                if start >= len(content):
                    return self.send_error(416)
            rest = content[start:]
            self.send_response(206 if start else 200)
            if behavior != "no length":
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            once = behavior in ("truncate once", "stall once")
            if behavior == "truncate" or (once and first):
                rest = rest[: len(rest) // 2]
            if behavior != "stall":
                self.wfile.write(rest)
                self.wfile.flush()
            if behavior == "stall" or (behavior == "stall once" and first):
                state.closing.wait(10)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
