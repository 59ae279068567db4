"""The order of the house: what one room may know of another, checked on the source itself."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import polyladder
import polyladder_lab

PACKAGE = Path(polyladder.__file__).parent
LABORATORY = Path(polyladder_lab.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted([*PACKAGE.rglob("*.py"), *LABORATORY.rglob("*.py")])

PYTHONS_OWN = {"_asdict", "_fields", "_replace", "_exit"}
"""Public names of the standard library that begin with an underscore."""

LOOKUPS = 11
"""`hasattr` and `getattr` are a last resort: a type should say what a value has."""

TESTED_ELSEWHERE = {
    "__main__.py": "tests/cli/test_start.py runs it",
    "fitted/steps/affine.py": "tests/fitted/steps/test_step.py holds it to finite differences and to its inverse",
    "fitted/steps/blank.py": "tests/fitted/steps/test_step.py says what is missing after it",
    "fitted/steps/clip.py": "tests/fitted/steps/test_step.py holds it to finite differences and to its span",
    "fitted/steps/fill.py": "tests/fitted/steps/test_step.py says what is missing after it",
    "fitted/steps/indicators.py": "tests/fitted/steps/test_step.py says what they are for each value",
    "fitted/steps/ramp.py": "tests/fitted/steps/test_step.py holds it to finite differences and to its inverse",
    "fitted/steps/yeo_johnson.py": "tests/fitted/steps/test_step.py holds it to finite differences and its inverse",
    "models/merge.py": "tests/laws/test_merge.py holds it to the trained network, for every depth and batch shape",
    "polynomial/shallower.py": "tests/laws/test_conversion.py holds it to the deeper ladder, and names what it refuses",
    "polynomial/widen.py": "tests/laws/test_conversion.py holds it to the mean of its members and names refusals",
    "training/solves/sweep.py": "tests/training/solves/test_alternating.py holds every block to least squares by numpy",
}
"""Modules without a test file of their own: the file that tests them, and what it says of them."""


def inside(path: Path) -> Path:
    """A file's place in its package; the laboratory's begin with ``lab``, as those of its tests do."""
    return "lab" / path.relative_to(LABORATORY) if path.is_relative_to(LABORATORY) else path.relative_to(PACKAGE)


def room_of(path: Path) -> str:
    """The room of a file: the first folder inside the package."""
    parts = inside(path).parts
    return "/".join(parts[: 2 if parts[0] == "lab" else 1])


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PYTHONS_OWN


@cache
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
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("polyladder.", "polyladder_lab.")):
                package, room = (node.module or "").split(".")[:2]
                room = room if package == "polyladder" else f"lab/{room}"
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
    assert 0 < len(calls) <= LOOKUPS, calls


def test_every_module_has_its_test_file() -> None:
    lacking = []
    for path in FILES:
        place = inside(path)
        if path.name == "__init__.py" or str(place) in TESTED_ELSEWHERE:
            continue
        mirrored = TESTS / place.parent / f"test_{path.name}"
        if not mirrored.exists():
            lacking.append(str(place))
    assert lacking == []
    assert all((PACKAGE / name).exists() for name in TESTED_ELSEWHERE)


def public_names(tree: ast.Module) -> set[str]:
    """Functions and classes of a module that others may use."""
    defined = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return {name for name in defined if not name.startswith("_")}


def test_modules_tested_elsewhere_are_tested_there() -> None:
    """The file that a reason begins with is there, and calls a function of the module or runs the module itself."""
    for module, reason in TESTED_ELSEWHERE.items():
        place, _, says = reason.partition(" ")
        assert says, f"{module}: say what {place} says of it"
        written = TESTS.parent / place
        assert written.is_file(), f"{module}: there is no {place}"
        source = (PACKAGE / module).read_text(encoding="utf-8")
        names, text = public_names(ast.parse(source)), written.read_text(encoding="utf-8")
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        called = {f.id if isinstance(f, ast.Name) else f.attr for f in calls if isinstance(f, ast.Name | ast.Attribute)}
        if names:
            assert names & called, f"{module}: {place} calls none of {sorted(names)}"
        else:
            assert '"-m", "polyladder"' in text, f"{module}: {place} does not run it"


def strange_to_users(tree: ast.Module) -> list[str]:
    """What a program takes from polyladder and is no public name of it."""
    strange = []
    public = {*polyladder.__all__, "__version__", "__file__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            strange += [alias.name for alias in node.names if alias.name.startswith("polyladder.")]
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("polyladder.")):
            strange.append(node.module or ".")
        elif isinstance(node, ast.ImportFrom) and node.module == "polyladder":
            strange += [alias.name for alias in node.names if alias.name not in public]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "polyladder":
            strange += [] if node.attr in public else [node.attr]
    return strange


def test_the_laboratory_uses_public_names_only() -> None:
    wrong = {str(path): strange_to_users(trees()[path]) for path in LABORATORY.rglob("*.py")}
    assert {path: names for path, names in wrong.items() if names} == {}
    for line, name in {
        "import polyladder.models.ladder": "polyladder.models.ladder",
        "from polyladder.models.ladder import LPNN": "polyladder.models.ladder",
        "def f():\n    from polyladder import models": "models",
        "from polyladder import load_dataset": "load_dataset",
        "import polyladder\npolyladder.models": "models",
        "from ..polyladder import LPNN": "polyladder",
    }.items():
        assert strange_to_users(ast.parse(line)) == [name]
    assert strange_to_users(ast.parse("import polyladder\nfrom polyladder import LPNN\npolyladder.merge")) == []


def test_examples_of_the_docs_use_public_names_only() -> None:
    """Whatever a reader copies keeps working when modules move."""
    root, seen = TESTS.parent, 0
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md")), *(root / "docs/examples").glob("*.py")]:
        text = path.read_text(encoding="utf-8")
        blocks = [text] if path.suffix == ".py" else re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        seen += len(blocks)
        assert {name for block in blocks for name in strange_to_users(ast.parse(block))} == set(), path
    assert seen > 50


def test_no_class_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(inside(path)))
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
