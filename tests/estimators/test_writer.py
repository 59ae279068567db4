import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.estimators.writer import DEPTH, SMALL, TAG, Writer, content_of, is_cell, is_key
from polyladder.models.factorization_machine import FactorizationMachine
from tests.ladders import random_ladder


def written(value: Any) -> Any:
    """The JSON of a value, through text and back."""
    return json.loads(json.dumps(Writer().node(value, "it"), allow_nan=False))


@pytest.mark.parametrize("value", [None, True, 3, 10**30, "é", 1.5, [1, [2.0]], []])
def test_plain_values_are_their_own_json(value: Any) -> None:
    assert written(value) == value


@pytest.mark.parametrize(
    ("value", "node"),
    [
        (float("inf"), {TAG: "float", "value": "inf"}),
        (float("nan"), {TAG: "float", "value": "nan"}),
        ((1, "a"), {TAG: "tuple", "items": [1, "a"]}),
        (torch.Size([2, 3]), {TAG: "tuple", "items": [2, 3]}),
        ({"a": 1, 2: (3,)}, {TAG: "dict", "items": [["a", 1], [2, {TAG: "tuple", "items": [3]}]]}),
        (np.float32(0.5), {TAG: "scalar", "dtype": "<f4", "value": 0.5}),
        (np.bool_(True), {TAG: "scalar", "dtype": "|b1", "value": True}),
        (np.float64("-inf"), {TAG: "scalar", "dtype": "<f8", "value": {TAG: "float", "value": "-inf"}}),
        (np.dtype("int16"), {TAG: "dtype", "name": "<i2"}),
        (np.float32, {TAG: "scalar type", "name": "<f4"}),
        (np.array(["a", None], dtype=object), {TAG: "text", "dtype": "|O", "shape": [2], "items": ["a", None]}),
        (np.array([["a", "bc"]]), {TAG: "text", "dtype": "|U", "shape": [1, 2], "items": ["a", "bc"]}),
        (np.random.default_rng(0), None),
        (np.random.RandomState(0), None),
    ],
    ids=repr,
)
def test_other_values_say_what_they_are(value: Any, node: Any) -> None:
    assert written(value) == node


def test_numbers_go_into_tensors_once() -> None:
    writer, array = Writer(), np.arange(6.0).reshape(2, 3)
    node = writer.node([array, array, torch.arange(2)], "it")
    assert node == [{TAG: "array", "name": "t0"}, {TAG: "array", "name": "t0"}, {TAG: "tensor", "name": "t1"}]
    assert torch.equal(writer.tensors["t0"], torch.from_numpy(array))
    assert writer.tensors["t1"].tolist() == [0, 1]


def test_the_order_in_memory_is_kept() -> None:
    writer = Writer()
    across = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert writer.node(across, "it") == {TAG: "array", "name": "t0", "order": [1, 0]}
    assert writer.tensors["t0"].tolist() == across.T.tolist()
    assert writer.node(np.arange(3, dtype=">i4"), "it")["name"] == "t1"
    assert writer.tensors["t1"].tolist() == [0, 1, 2]


class Pair(NamedTuple):
    """A class that no reader would find."""

    a: int


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({0.5: 1}, r"it must have keys that are text or small integers to be saved; got 0\.5"),
        ({SMALL: 1}, "keys that are text or small integers"),
        ([{"a": [object()]}], r"it\[0\]\['a'\]\[0\] must hold numbers, text, arrays, .*; got object"),
        (np.array([object()]), "it must hold numbers or text to be saved; got other objects"),
        (np.array([1j]), "it must hold numbers or text to be saved; got complex128"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "got datetime64"),
        (torch.zeros(2, 2).to_sparse(), r"it must be dense and real to be saved; got torch.sparse_coo"),
        (torch.zeros(2, dtype=torch.complex64), "it must be dense and real"),
        (Path("a"), "got PosixPath|got WindowsPath"),
        (Pair(1), "got Pair"),
        ({1, 2}, "got set"),
        (np.complex64, "got type"),
        (np.longdouble(1), "it must hold numbers, text, arrays, .*; got longdouble"),
        (np.array([np.longdouble(1)], dtype=object), "got longdouble"),
    ],
    ids=repr,
)
def test_what_cannot_be_read_back_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        Writer().node(value, "it")


def test_depth_is_bounded() -> None:
    nested: list[Any] = []
    for _ in range(DEPTH):
        nested = [nested]
    assert written(nested) == nested
    with pytest.raises(TypeError, match=f"must be nested at most {DEPTH} deep to be saved"):
        Writer().node([nested], "it")


def test_modules_are_their_architecture_and_state() -> None:
    writer, machine = Writer(), FactorizationMachine(3, 2, 1, 2, batch_shape=(4,), seed=0)
    node = writer.node(machine, "it")
    assert (node[TAG], node["class"]) == ("module", "FactorizationMachine")
    made = dict(node["made"]["items"])
    assert made["in_features"] == 3
    assert made["batch_shape"] == {TAG: "tuple", "items": [4]}
    assert set(node["state"]) == set(machine.state_dict())
    assert torch.equal(writer.tensors[node["state"]["linear"]["name"]], machine.linear)


def test_objects_are_their_named_parts() -> None:
    node = Writer().node(random_ladder(), "it")
    assert (node[TAG], node["class"]) == ("object", "LadderPolynomial")
    assert set(node["state"]) == {"W", "b", "V", "c", "readout", "offset"}
    assert content_of(LPNNRegressor(order=7))["order"] == 7
    assert content_of(Pair(1)) == {"a": 1}


def test_keys_and_cells() -> None:
    assert all(map(is_key, ["a", 0, -5, SMALL - 1]))
    assert not any(map(is_key, [SMALL, True, 1.0, None, ("a",), np.int64(1)]))
    assert all(map(is_cell, [None, "a", True, 0.5, 3, np.float32(1)]))
    assert not any(map(is_cell, [[], SMALL, object(), b"a"]))
