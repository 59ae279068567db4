"""The order of the house: what one room may know of another, checked on the source itself."""

import ast
from collections import defaultdict
from pathlib import Path

import polyladder

PACKAGE = Path(polyladder.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

PYTHONS_OWN = {"_asdict", "_fields", "_replace", "_exit"}
"""Public names of the standard library that begin with an underscore."""

LOOKUPS = 25
"""`hasattr` and `getattr` are a last resort: a type should say what a value has."""

TESTED_ELSEWHERE = {
    "__main__.py": "tests/cli/test_start.py runs it",
}
"""Modules without a test file of their own, and where they are tested."""


def room_of(path: Path) -> str:
    """The room of a file: the first folder inside the package."""
    return path.relative_to(PACKAGE).parts[0]


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PYTHONS_OWN


def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def test_no_room_reads_private_attributes_of_another() -> None:
    defined: dict[str, set[str]] = defaultdict(set)
    read: list[tuple[Path, int, str]] = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[room_of(path)].add(node.name)
            elif isinstance(node, ast.Attribute) and private(node.attr):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if isinstance(node.ctx, ast.Store) or own:
                    defined[room_of(path)].add(node.attr)
                else:
                    read.append((path, node.lineno, node.attr))
    strangers = [f"{path}:{line} {name}" for path, line, name in read if name not in defined[room_of(path)]]
    assert read
    assert strangers == []


def test_private_functions_stay_in_their_room() -> None:
    wrong = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyladder."):
                room = (node.module or "").split(".")[1]
                names = [alias.name for alias in node.names if private(alias.name)]
                wrong += [f"{path}:{node.lineno} {name}" for name in names if room != room_of(path)]
    assert wrong == []


def test_attributes_are_seldom_looked_up_by_name() -> None:
    calls = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("hasattr", "getattr")
    ]
    assert 0 < len(calls) < LOOKUPS, calls


def test_every_module_has_its_test_file() -> None:
    lacking = []
    for path in FILES:
        inside = path.relative_to(PACKAGE)
        if path.name == "__init__.py" or str(inside) in TESTED_ELSEWHERE:
            continue
        mirrored = TESTS / inside.parent / f"test_{path.name}"
        if not mirrored.exists():
            lacking.append(str(inside))
    assert lacking == []
    assert all((PACKAGE / name).exists() for name in TESTED_ELSEWHERE)
