"""Two processes over a local socket: the server has a model, the client has rows, and neither sees the other's.

Run: python docs/examples/encrypted_socket.py
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_friedman1

from polyladder import ClientRecipe, LPNNRegressor, encrypt, load


def send(link: socket.socket, content: bytes) -> None:
    link.sendall(struct.pack("!Q", len(content)) + content)


def receive(link: socket.socket) -> bytes:
    def exactly(count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            part = link.recv(min(1 << 20, count - len(found)))
            if not part:
                raise ConnectionError("The other side is gone.")
            found += part
        return bytes(found)

    return exactly(struct.unpack("!Q", exactly(8))[0])


def serve(model_file: str, port: int) -> None:
    """The server: it answers with a recipe, takes a public key and encrypted rows, and sends encrypted scores."""
    model = encrypt(load(model_file))
    with socket.create_connection(("127.0.0.1", port)) as link:
        send(link, model.recipe.to_json().encode())
        public_key, rows = receive(link), receive(link)
        send(link, model.score(public_key, rows))


def main() -> None:
    X, y = make_friedman1(400, noise=0.5, random_state=0)
    fitted = LPNNRegressor(order=3, width=5, n_estimators=1, random_state=0).fit(X[:300], y[:300])
    secret_rows = X[300:]
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as door:
        model_file = str(Path(folder) / "model.ladder")
        fitted.save(model_file)
        command = [sys.executable, __file__, "serve", model_file, str(door.getsockname()[1])]
        with subprocess.Popen(command) as server:
            link, _ = door.accept()
            with link:
                recipe = ClientRecipe.from_json(receive(link).decode())
                keys = recipe.make_keys()
                sent = recipe.encrypt(keys.secret, secret_rows)
                send(link, keys.public)
                send(link, sent)
                answers = recipe.decrypt(keys.secret, receive(link))[:, 0]
        assert server.returncode == 0
    error = np.abs(answers - fitted.predict(secret_rows)).max()
    print(f"{len(answers)} rows, {len(sent) / 1e6:.1f} MB sent; largest error {error:.1e}, bound {recipe.bound[0]:.1e}")
    assert error <= recipe.bound[0]


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()
