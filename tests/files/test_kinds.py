"""What commands write is recognized, and nothing else is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from polyladder import encrypt, to_onnx, to_source
from polyladder.cli.demo import friedman
from polyladder.cli.fit import write_metrics
from polyladder.convert.encrypted.bundle import Bundle, Ids, pack
from polyladder.export.source import LANGUAGES
from polyladder.files import kinds
from polyladder.files.kinds import Kind
from polyladder.polynomial.store import save
from polyladder.report.page import write_report
from tests.export.estimators import fitted
from tests.ladders import random_ladder

LADDER = random_ladder(d=2, hidden=(2,), m=1)
FIXTURES = Path(__file__).parents[1] / "fixtures"


def written_source(language: str, **options: str) -> Callable[[Path], object]:
    return lambda path: to_source(LADDER, language, **options).write(path)


def written_header(path: Path) -> None:
    to_source(LADDER, "c").write(path.with_suffix(".c"))
    path.with_suffix(".h").rename(path)


def written_metrics(path: Path) -> None:
    card = {"target": "y", "task": "regression", "rows": 3, "scores": [], "selection": {"held_out": 1}}
    write_metrics(card, path)
    assert json.loads(path.read_text())["rows"] == 3


def written_bundle(kind: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(pack(kind, Bundle(Ids("m", "r", "k"), {"part": b"1"})))


WRITERS: dict[str, tuple[Kind, Callable[[Path], object]]] = {
    "model": (kinds.MODEL, fitted("gaps and categories")[0].save),
    "ladder": (kinds.MODEL, lambda path: save(LADDER, path, ['"', "\\"])),
    "page": (kinds.PAGE, lambda path: write_report(fitted("numbers")[0], path)),
    "metrics": (kinds.METRICS, written_metrics),
    "onnx": (kinds.ONNX, lambda path: to_onnx(LADDER, path)),
    "recipe": (
        kinds.RECIPE,
        lambda path: path.write_text(encrypt(LADDER, ranges=[(-1.0, 1.0)] * 2).recipe.to_json()),
    ),
    "header": (kinds.HEADER, written_header),
    **{name: (language.kind, written_source(name)) for name, language in LANGUAGES.items() if language.comment},
    "secret key": (kinds.SECRET_KEY, written_bundle("secret key")),
    "public key": (kinds.PUBLIC_KEY, written_bundle("public key")),
    "encrypted rows": (kinds.ENCRYPTED_ROWS, written_bundle("encrypted rows")),
    "encrypted scores": (kinds.ENCRYPTED_SCORES, written_bundle("encrypted scores")),
}
ALL = [value for value in vars(kinds).values() if isinstance(value, Kind)]
ALL += [language.kind for language in LANGUAGES.values()]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_of_its_own_kind_and_of_no_other(name: str, tmp_path: Path) -> None:
    own, write = WRITERS[name]
    write(tmp_path / "it")
    assert [kind for kind in ALL if kind.recognizes(tmp_path / "it")] == [own]
    content = (tmp_path / "it").read_bytes()
    (tmp_path / "it").write_bytes(b" " + content)
    assert not own.recognizes(tmp_path / "it")


def test_every_kind_with_a_mark_has_a_writer() -> None:
    assert {kind.words for kind in ALL if kind.mark} == {kind.words for kind, _ in WRITERS.values()}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ladder")), ids=lambda path: path.stem)
def test_models_of_the_first_version_are_recognized(path: Path) -> None:
    """Their metadata stand in other orders."""
    assert kinds.MODEL.recognizes(path)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        friedman()[:300],
        b"prediction\n1\n",
        b"<!doctype html><html><body>polyladder report</body></html>",
        b'{"format": "else", "note": "polyladder metrics 1"}',
        b'12345678{"__metadata__":{"format":"pt"},"x":"polyladder"}',
        b"-- polyladder\nSELECT 1;",
        b"PK\x03\x04" + bytes(100),
        b"\x08\x09\x12\x07pytorch",
        bytes(1000),
    ],
)
def test_files_of_others_are_not_recognized(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(content)
    assert [kind for kind in ALL if kind.recognizes(tmp_path / "it")] == []


def test_an_empty_file_holds_nothing_and_what_cannot_be_read_is_not_recognized(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert all(kind.recognizes(tmp_path / "empty") for kind in ALL)
    assert not any(kind.recognizes(tmp_path) for kind in ALL)
