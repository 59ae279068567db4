import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import polyladder
import polyladder_lab

PACKAGES = pytest.mark.parametrize("package", [polyladder, polyladder_lab], ids=lambda package: package.__name__)


@PACKAGES
def test_every_public_name_resolves_and_is_documented(package: ModuleType) -> None:
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


@PACKAGES
def test_lazy_names_and_typed_names_are_the_same(package: ModuleType) -> None:
    """Type checkers read the imports under TYPE_CHECKING, programs the table: they must not drift apart."""
    assert package.__file__
    tree = ast.parse(Path(package.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: statement.module.removeprefix(f"{package.__name__}.")
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
    assert typed == package._HOME


@pytest.mark.parametrize("name", ["catalog", "load_dataset"])
def test_names_that_moved_to_the_laboratory_still_work_and_say_where_they_are(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"polyladder\.{name} is now polyladder_lab\.{name}") as said:
        found = getattr(polyladder, name)
    assert found is getattr(polyladder_lab, name)
    assert said[0].filename == __file__
    assert name not in polyladder.__all__


def test_unknown_names_are_refused() -> None:
    for package in (polyladder, polyladder_lab):
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'lader'"):
            package.lader  # noqa: B018


@pytest.mark.slow
def test_importing_is_light() -> None:
    """Neither torch nor anything else outside the standard library is loaded before a name is used."""
    heavy = "[m for m in ('torch', 'numpy', 'sklearn', 'safetensors') if m in sys.modules]"
    code = f"import sys, polyladder, polyladder_lab, polyladder.cli.main; print({heavy})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
    code = "import sys, polyladder; polyladder.LPNN; print([m for m in ('sklearn', 'safetensors') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


@pytest.mark.slow
def test_dir_shows_public_names_only() -> None:
    code = """
import polyladder, polyladder_lab
polyladder.LPNN, polyladder_lab.catalog
print(dir(polyladder) == sorted([*polyladder.__all__, "__version__"]))
print(dir(polyladder_lab) == sorted(polyladder_lab.__all__))
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["True", "True"]
