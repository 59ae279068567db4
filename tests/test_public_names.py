import ast
import subprocess
import sys
from pathlib import Path

import pytest

import polyladder


def test_every_public_name_resolves_and_is_documented() -> None:
    for name in polyladder.__all__:
        assert getattr(polyladder, name).__doc__, name


def test_lazy_names_and_typed_names_are_the_same() -> None:
    """Type checkers read the imports under TYPE_CHECKING, programs the table: they must not drift apart."""
    tree = ast.parse(Path(polyladder.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: statement.module.removeprefix("polyladder.")
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
    assert typed == polyladder._HOME


@pytest.mark.slow
def test_importing_is_light() -> None:
    """Neither torch nor anything else outside the standard library is loaded before a name is used."""
    code = (
        "import sys, polyladder; print([m for m in ('torch', 'numpy', 'sklearn', 'safetensors') if m in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
    code = "import sys, polyladder; polyladder.LPNN; print([m for m in ('sklearn', 'safetensors') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


@pytest.mark.slow
def test_dir_shows_public_names_only() -> None:
    code = "import polyladder; polyladder.LPNN; print(dir(polyladder) == sorted([*polyladder.__all__, '__version__']))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "True"
