"""Files are replaced whole or not at all, whatever happens on the way."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyladder.files.replace_file import replacing, write_atomically

WRITES_FOR_EVER = """
import sys
from polyladder.files.replace_file import replacing
parts = {letter: letter * 2**16 for letter in (b"a", b"b")}
while True:
    for letter, part in parts.items():
        with replacing(sys.argv[1]) as file:
            for _ in range(16):
                file.write(part)
        print(flush=True)
"""


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path, ordinary = tmp_path / "new", tmp_path / "ordinary"
    ordinary.touch()
    write_atomically(b"1", path)
    assert path.stat().st_mode == ordinary.stat().st_mode
    path.chmod(0o600)
    write_atomically(b"2", path)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"2", 0o600)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
def test_any_exception_leaves_the_old_file(error: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_replaces_nothing_even_if_it_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_atomically(b"first", path, new=True)
    with pytest.raises(OSError, match="secret cannot be written: File exists"):
        write_atomically(b"second", path, new=True)
    other = tmp_path / "other"

    def too_late() -> None:
        with replacing(other, new=True) as file:
            file.write(b"mine")
            other.write_bytes(b"theirs")

    with pytest.raises(OSError, match="other cannot be written: File exists"):
        too_late()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"secret": b"first", "other": b"theirs"}


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"the target is not there yet", b"now it is"):
        write_atomically(content, link)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [p.name for p in target.parent.iterdir()] == ["file"]


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=r"must be the name of a file; it is a folder\. Add a name"):
        write_atomically(b"", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a device or a pipe"):
        write_atomically(b"", tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"cannot be written: .*\. Choose another folder"):
        write_atomically(b"", tmp_path / "file" / "below")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "pipe"]


def test_a_folder_that_must_not_be_written_to_is_refused(tmp_path: Path) -> None:
    # The superuser may write anywhere but here.
    closed = Path("/proc") if os.geteuid() == 0 else tmp_path
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match=r"cannot be written: .*\. Choose another folder"):
        write_atomically(b"", closed / "file")
    tmp_path.chmod(0o700)


def test_long_names_are_written(tmp_path: Path) -> None:
    write_atomically(b"1", tmp_path / ("ü" * 127))
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"1"]


def test_errors_of_other_files_are_not_taken_for_ours(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"), replacing(tmp_path / "file") as file:
        file.write((tmp_path / "absent").read_bytes())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path, moments = tmp_path / "file", random.Random(0)
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", WRITES_FOR_EVER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # one file was written
            time.sleep(moments.uniform(0, 0.01))
            writer.kill()
        content = path.read_bytes()
        assert content in (b"a" * 2**20, b"b" * 2**20)
    assert all(p == path or p.name.startswith(".file.") for p in tmp_path.iterdir())
