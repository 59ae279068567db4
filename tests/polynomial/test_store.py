import json
import os
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from polyladder import load
from polyladder.polynomial import store
from tests.ladders import random_ladder


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    random_ladder().save(path)
    content = path.read_bytes()
    for end in (0, 4, 20, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(ValueError, match="damaged or foreign"):
            load(path)


def test_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    random_ladder().save(path)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        load(path)


def rewrite(path: Path, *, format: str = "polyladder", version: str = "1", **header: object) -> None:
    p = random_ladder()
    tensors = {name: t.clone() for name, t in p.tensors().items()}
    full = {"kind": "LadderPolynomial", "batch_shape": [], "in_features": 3, "hidden": [4, 5], "out_features": 2}
    metadata = {"format": format, "version": version, "header": json.dumps(full | header)}
    save_file(tensors, path, metadata=metadata | {"sha256": store.digest(tensors)})


NESTED = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "was not written by polyladder"),
        ({"version": "99"}, "format version 99; this polyladder reads versions 1 and 2"),
        ({"kind": "Poem"}, "must hold a LadderPolynomial or|must hold a LadderPolynomial"),
        ({"hidden": [4]}, "is damaged"),
        ({"hidden": [4, 6]}, "is damaged: its header promises"),
        ({"hidden": [4, 5, 5]}, "is damaged: its weights do not form a ladder"),
        ({"hidden": None}, "is damaged"),
        ({"in_features": 4}, "is damaged: its header promises"),
        ({"in_features": 3.0}, "is damaged: its header promises"),
        ({"out_features": True}, "is damaged: its header promises"),
        ({"batch_shape": [3.5]}, "is damaged: its header promises"),
        ({"batch_shape": None}, "is damaged: its header promises"),
        ({"hidden": "ab"}, "is damaged: its header promises"),
        ({"hidden": [4, [5]]}, "is damaged: its header promises"),
        ({"hidden": [4] * 10**6}, "is damaged: its weights do not form a ladder"),
        ({"in_features": NESTED}, "is damaged: its header promises"),
        ({"feature_names": "abc"}, "feature_names must be a list of text; got 'abc'"),
        ({"feature_names": [1, 2, 3]}, "feature_names must be a list of text"),
        ({"feature_names": ["a"]}, "it names 1 of its 3 inputs"),
        ({"kind": ["LadderPolynomial"]}, "must hold a LadderPolynomial or an estimator; got kind"),
        ({"kind": {}}, "must hold a LadderPolynomial or an estimator; got kind"),
        ({"kind": 7}, "must hold a LadderPolynomial or an estimator; got kind 7"),
    ],
)
def test_a_foreign_or_inconsistent_file_is_refused(tmp_path: Path, changes: dict[str, str], sentence: str) -> None:
    path = tmp_path / "m.ladder"
    rewrite(path)
    assert load(path) == random_ladder()
    rewrite(path, **changes)
    with pytest.raises(ValueError, match=sentence) as caught:
        load(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("header", ["[]", "[" * 10**5, "1" * 5000, "{", ""])
def test_a_header_that_is_no_object_is_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    tensors = random_ladder().tensors()
    metadata = {"format": "polyladder", "version": "1", "header": header, "sha256": store.digest(tensors, header)}
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(ValueError, match=r"m\.ladder (is damaged|cannot be read as a polyladder file)"):
        load(path)


def raw(tensors: dict[str, object], length: int | None = None) -> bytes:
    """A safetensors file of a header alone."""
    text = json.dumps({"__metadata__": {"format": "polyladder", "version": "1", "header": "{}"}, **tensors}).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "damaged or foreign"),
        (raw({}, 2**63), "damaged or foreign"),
        (raw({}, 10**8), "damaged or foreign"),
        (raw({"a": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}}), "damaged or foreign"),
        (raw({"a": {"dtype": "F64", "shape": [0, 2**40], "data_offsets": [0, 0]}}), "'a' must hold numbers"),
        (raw({"a": {"dtype": "F64", "shape": [0, 2**63], "data_offsets": [0, 0]}}), "damaged or foreign"),
        (raw({"a": {"dtype": "F8_E4M3", "shape": [0], "data_offsets": [0, 0]}}), "damaged"),
        (raw({"a": {"dtype": "C64", "shape": [0], "data_offsets": [0, 0]}}), "damaged"),
    ],
)
def test_sizes_are_held_against_the_file(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        load(path)


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match=f"{place} must be a file that polyladder wrote; it is a folder, a device or"):
            load(place)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop"):
        load(tmp_path / "loop")


def test_a_file_that_must_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    random_ladder().save(path)
    path.chmod(0)
    owner = os.geteuid()
    if owner == 0:  # the superuser may read everything, nobody else may
        os.seteuid(65534)
    try:
        with pytest.raises(OSError, match=r"m\.ladder cannot be read: Permission denied"):
            load(path)
    finally:
        os.seteuid(owner)


def test_no_file_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is none"):
        load(tmp_path / "absent.ladder")
    with pytest.raises(FileNotFoundError, match="there is none"):
        load("nul\0")
    with pytest.raises(OSError, match="cannot be written"):
        random_ladder().save(tmp_path / "absent" / "m.ladder")


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.ladder"
    random_ladder().save(path)

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left on device"):
        random_ladder(seed=1).save(path)
    assert load(path) == random_ladder()
    assert list(tmp_path.iterdir()) == [path]


def test_feature_names_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    random_ladder().save(path, feature_names=["age", "größe", "<b>"])
    assert store.feature_names(path) == ["age", "größe", "<b>"]
    random_ladder().save(path)
    assert store.feature_names(path) is None
    with pytest.raises(ValueError, match="feature_names must have 3 entries; got 1"):
        random_ladder().save(path, feature_names=["age"])


def test_weights_that_need_gradients_or_share_memory_are_stored(tmp_path: Path) -> None:
    p = random_ladder(batch_shape=(3,)).map(lambda t: t.clone().requires_grad_())
    p[1].save(tmp_path / "m.ladder")
    assert torch.equal(load(tmp_path / "m.ladder").readout, p.readout[1])
