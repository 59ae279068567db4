import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from polyladder import load, widen
from polyladder.polynomial import store
from polyladder.polynomial.packed import LEAST, PLACES, pack, spread, unpack
from tests.ladders import random_ladder

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_zeros_take_a_bit_and_all_numbers_come_back(dtype: torch.dtype) -> None:
    diagonal = torch.eye(67).to(dtype)
    stored, shapes = pack({"a": diagonal, "b": torch.ones(2000).to(dtype), "c": torch.zeros(LEAST - 1).to(dtype)})
    assert shapes == {"a": [67, 67]}
    assert set(stored) == {"a", "b", "c", "a" + PLACES}
    assert (len(stored["a"]), len(stored["a" + PLACES])) == (67, -(-67 * 67 // 8))
    back = unpack(stored, shapes)
    assert list(back) == ["a", "b", "c"]
    assert back["a"].dtype == dtype
    assert torch.equal(back["a"], diagonal)


def test_every_bit_is_kept() -> None:
    strange = torch.zeros(40, 50, dtype=torch.float64)
    strange[3, :4] = torch.tensor([-0.0, float("nan"), float("-inf"), 5e-324], dtype=torch.float64)
    stored, shapes = pack({"a": strange})
    assert len(stored["a"]) == 4
    assert torch.equal(unpack(stored, shapes)["a"].view(torch.int64), strange.view(torch.int64))


def test_a_triangle_is_packed_and_a_full_matrix_is_not() -> None:
    full = random_ladder(40, (40,)).W[0]
    stored, shapes = pack({"full": full, "lower": full.tril()})
    assert set(shapes) == {"lower"}
    assert stored["full"] is full


TWO, BITS = torch.ones(2), torch.tensor([0b10100000, 0], dtype=torch.uint8)


@pytest.mark.parametrize(
    ("values", "places", "shape", "sentence"),
    [
        (TWO, BITS, [10**9, 10**9], "does not have a bit for each number of"),
        (TWO, BITS, [17], "does not have a bit for each number of"),
        (TWO, BITS, [8], "does not have a bit for each number of"),
        (TWO, BITS.float(), [16], "does not have a bit"),
        (TWO, BITS.reshape(1, 2), [16], "does not have a bit"),
        (TWO.reshape(1, 2), BITS, [16], "does not have a bit"),
        (torch.ones(3), BITS, [16], "has 3 numbers for 2 places"),
        (TWO, torch.tensor([128, 1], dtype=torch.uint8), [15], "has 2 numbers for 2 places"),
        (TWO, BITS, [16, 0], "has shape"),
        (TWO, BITS, [-16, -1], "has shape"),
        (TWO, BITS, [16.0], "has shape"),
        (TWO, BITS, [16, True], "has shape"),
        (TWO, BITS, [1] * 10**6, "has shape"),
        (TWO, BITS, "16", "has shape"),
    ],
)
def test_what_was_not_packed_is_refused(values: Any, places: Any, shape: Any, sentence: str) -> None:
    assert spread(TWO, BITS, [4, 4])[0].tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match=sentence):
        spread(values, places, shape)


def wide_ladder() -> Any:
    return widen([random_ladder(3, (20, 20), seed=seed) for seed in range(4)])


def test_a_wide_ladder_comes_back_from_a_small_file(tmp_path: Path) -> None:
    p = wide_ladder()
    p.save(tmp_path / "m.ladder")
    assert load(tmp_path / "m.ladder") == p
    assert (tmp_path / "m.ladder").stat().st_size < 0.6 * 8 * p.n_weights


def test_a_file_with_nothing_to_pack_has_the_format_of_before(tmp_path: Path) -> None:
    for p, version in ((random_ladder(), "1"), (wide_ladder(), "2")):
        p.save(tmp_path / "m.ladder")
        with safe_open(str(tmp_path / "m.ladder"), framework="pt") as file:
            assert file.metadata()["version"] == version


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        ({"W.1": [800, 800, 10**6]}, "the packed tensor 'W.1' does not have a bit for each number"),
        ({"W.1": None}, "the packed tensor 'W.1' has shape None"),
        ({"W.7": [80, 80]}, "there is no packed tensor 'W.7'"),
        ({"offset": [2]}, "there is no packed tensor 'offset'"),
        ([["W.1", [80, 80]]], "the shapes of its packed tensors are"),
        ({}, "its weights do not form a ladder"),
    ],
)
def test_a_forged_file_is_refused_in_a_sentence(packed: Any, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "m.ladder"
    wide_ladder().save(path)
    with safe_open(str(path), framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header = json.loads(metadata["header"])
    assert header["packed"] == {"W.1": [80, 80]}
    metadata["header"] = json.dumps({**header, "packed": packed})
    metadata["sha256"] = store.digest(tensors, metadata["header"])
    save_file(tensors, path, metadata=metadata)
    with pytest.raises(ValueError, match=rf"m\.ladder is damaged: {sentence}"):
        load(path)
