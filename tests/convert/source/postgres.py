"""A PostgreSQL server of its own for the tests, started from the distribution's binaries, once per session."""

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
import warnings
from functools import cache
from pathlib import Path

import pytest


def skip(reason):
    warnings.warn(f"SQL was not tested in PostgreSQL: {reason}.", stacklevel=2)
    pytest.skip(f"SQL is not tested in PostgreSQL: {reason}")


def as_user(command):
    """The command, run by a user that PostgreSQL accepts: it refuses to be root."""
    return command if os.getuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]


def found_binaries():
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, installed)])
    return {name: shutil.which(name, path=path) for name in ("initdb", "postgres", "pg_ctl", "psql")}


@cache
def server():
    """(psql, folder of the socket), or the reason why there is none."""
    binaries = found_binaries()
    if lacking := [name for name, place in binaries.items() if place is None]:
        return None, f"there is no {lacking[0]}"
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if not os.getuid():
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return None, "there is no user postgres, and it refuses to be root"
        shutil.chown(folder, "postgres", "postgres")
    data = str(folder / "data")
    subprocess.run(
        as_user([binaries["initdb"], "-D", data, "-A", "trust", "-U", "test"]), check=True, capture_output=True
    )
    options = f"-c listen_addresses='' -k {folder}"
    start = [binaries["pg_ctl"], "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(as_user(start), check=True, stdout=subprocess.DEVNULL)

    def stop():
        subprocess.run(
            as_user([binaries["pg_ctl"], "-D", data, "-m", "immediate", "stop"]), check=False, capture_output=True
        )
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return binaries["psql"], str(folder)


def run(query, frame):
    """The rows that a query gives, over a table ``rows`` that holds the frame."""
    kinds = ["double precision" if kind.kind in "fi" else "text" for kind in frame.dtypes]
    names = ['"' + name.replace('"', '""') + '"' for name in frame.columns]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "rows.csv"
        frame.to_csv(data, index=False, float_format="%.17g")
        made = f"DROP TABLE IF EXISTS rows;\nCREATE TABLE rows ({columns});\n\\copy rows FROM '{data}' CSV HEADER\n"
        return answers(made, query)


def answers(made, query):
    """The rows that a query gives after some statements; an error of the server is a `ValueError`."""
    psql, folder = server()
    if psql is None:
        skip(folder)
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "query.sql"
        script.write_text(f"SET client_min_messages = error;\n{made}\n{query}")
        command = [psql, "-h", folder, "-U", "test", "-d", "postgres", "-qAt", "-F", "\t", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run([*command, "-f", str(script)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr[-2000:])
    return [tuple(cell(text) for text in line.split("\t")) for line in done.stdout.splitlines()]


def cell(text):
    try:
        return float(text)
    except ValueError:
        return text
