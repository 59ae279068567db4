"""Names of classes in files: short, complete, and independent of where the classes live."""

from pathlib import Path

import pytest

import polyladder
from polyladder.estimators.first_files import OLD_NAMES
from polyladder.estimators.registry import CLASSES, UnknownClassError, find_class, name_of
from tests.estimators.test_store import LADDERS, RIVALS, fitted


@pytest.mark.parametrize("name", CLASSES)
def test_every_registered_class_is_where_the_table_says(name: str) -> None:
    kind = find_class(name)
    assert kind.__name__ == name.removeprefix("sklearn.")
    assert name_of(kind) == name
    if not name.startswith("sklearn."):
        assert kind.__module__ == CLASSES[name]


def test_every_public_estimator_is_registered() -> None:
    public = {name: getattr(polyladder, name) for name in polyladder.__all__}
    estimators = {name for name, kind in public.items() if hasattr(kind, "save") and hasattr(kind, "predict")}
    assert len(estimators) == 10
    assert estimators <= set(CLASSES)


def test_old_names_stand_for_registered_classes() -> None:
    assert set(OLD_NAMES.values()) < {name for name in CLASSES if not name.startswith("sklearn.")}
    for old, name in OLD_NAMES.items():
        assert find_class(old) is find_class(name)


@pytest.mark.parametrize(
    "name", ["os.system", "system", "LPNN", "polyladder.models.ladder.LPNN", "", None, 3, ["Growth"]]
)
def test_nothing_else_is_found(name: object) -> None:
    with pytest.raises(UnknownClassError):
        find_class(name)


@pytest.mark.parametrize("estimator", LADDERS + RIVALS, ids=repr)
def test_no_file_names_a_module(estimator, tmp_path: Path) -> None:
    fitted(estimator).save(tmp_path / "m.ladder")
    content = (tmp_path / "m.ladder").read_bytes()
    assert type(estimator).__name__.encode() in content
    assert b"polyladder." not in content
