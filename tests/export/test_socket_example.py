import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_two_processes_over_a_socket():
    example = Path(__file__).parents[2] / "docs" / "examples" / "encrypted_socket.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("100 rows, ")
