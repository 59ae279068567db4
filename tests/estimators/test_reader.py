import math
from typing import Any

import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.estimators import reader as reader_module
from polyladder.estimators.reader import ValueReader, check_attribute, checked_key, plain_dtype
from polyladder.estimators.registry import UnknownClassError
from polyladder.estimators.writer import DEPTH, TAG, Writer
from polyladder.models.factorization_machine import FactorizationMachine
from tests.ladders import random_ladder, rows


def back(value: Any) -> Any:
    """Through the writer's JSON and tensors."""
    writer = Writer()
    node = writer.node(value, "it")
    return ValueReader(writer.tensors).value(node)


@pytest.mark.parametrize(
    "value",
    [None, 10**30, -math.inf, ((1,), {"a": [2.5], 3: None}), np.float16(0.5), np.str_("é"), np.dtype("u1"), np.int8],
)
def test_values_come_back(value: Any) -> None:
    found = back(value)
    assert type(found) is type(value)
    assert found == value


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.array([["a", "bcd"]]),
        np.array([None, "a", 2, 0.5, True], dtype=object),
        np.zeros((0, 3), dtype=np.int16),
        np.array(3.5),
    ],
)
def test_arrays_come_back_in_their_order_of_memory(array: Any) -> None:
    found = back(array)
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    assert found.strides == array.strides or 0 in array.shape


def test_one_array_is_one_again_and_the_reader_knows_what_it_used() -> None:
    array = np.arange(3.0)
    writer = Writer()
    node = writer.node([array, array], "it")
    reader = ValueReader({**writer.tensors, "other": torch.zeros(1)})
    one, two = reader.value(node)
    assert np.shares_memory(one, two)
    assert set(reader.used) == {"t0"}


def test_modules_and_records_come_back() -> None:
    machine = FactorizationMachine(3, 2, 1, 3, batch_shape=(2,), seed=0, dtype=torch.float64)
    again = back(machine)
    assert torch.equal(again(rows(4, 3)), machine(rows(4, 3)))
    assert not again.training
    assert not any(p.requires_grad for p in again.parameters())
    assert back(random_ladder()) == random_ladder()
    model = back(LPNNRegressor(order=7))
    assert model.get_params() == LPNNRegressor(order=7).get_params()


def test_a_generator_of_the_first_files_is_forgotten_with_its_tensors_named() -> None:
    reader = ValueReader({"t0": torch.zeros(3)})
    node = {TAG: "random state", "state": {TAG: "tuple", "items": ["MT19937", {TAG: "array", "name": "t0"}, 10**6]}}
    assert reader.value(node) is None
    assert set(reader.used) == {"t0"}
    assert reader.value({TAG: "random state", "state": {TAG: "nonsense"}}) is None


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        ({TAG: "pickle"}, "unknown kind of value 'pickle'"),
        ({TAG: "tuple", "items": "ab"}, "the items of a tuple are no list"),
        ({TAG: "scalar", "dtype": "<f8", "value": [1]}, "a scalar must be a number or text; got list"),
        ({TAG: "scalar", "dtype": "|O", "value": 1}, "a scalar must be a number or text"),
        ({TAG: "dtype", "name": "<U9"}, "unknown type of numbers '<U9'"),
        ({TAG: "dict", "items": [[[1], 2]]}, "a key is neither text nor a small integer"),
        ({TAG: "text", "dtype": "|O", "shape": [2], "items": ["a"]}, r"an array of 1 items has shape \[2\]"),
        ({TAG: "text", "dtype": "|U", "shape": [1], "items": [1]}, "an array of text holds other things"),
        ({TAG: "text", "dtype": "|V", "shape": [1], "items": ["a"]}, "an array of text has type"),
        ({TAG: "tensor", "name": "t0", "order": [0, 0]}, "'t0' has no dimensions"),
        ({TAG: "module", "class": "LadderPolynomial", "made": {TAG: "dict", "items": []}, "state": {}}, "is no module"),
        ({TAG: "object", "class": "FactorizationMachine", "state": {}}, "FactorizationMachine is a module"),
        ({TAG: "object", "class": "LPNNRegressor", "state": {"fit": 1}}, "LPNNRegressor has no attribute 'fit'"),
    ],
)
def test_what_no_writer_wrote_is_refused(node: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ValueReader({"t0": torch.zeros(2, 2)}).value(node)


def test_only_registered_classes_are_made() -> None:
    with pytest.raises(UnknownClassError):
        ValueReader({}).value({TAG: "object", "class": "os.system", "state": {}})


def test_depth_and_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    nested: list[Any] = []
    for _ in range(DEPTH + 1):
        nested = [nested]
    with pytest.raises(ValueError, match="it is nested too deep"):
        ValueReader({}).value(nested)
    monkeypatch.setattr(reader_module, "TEXT_BYTES", 4 * 2 * 6)
    node = {TAG: "text", "dtype": "|U", "shape": [2], "items": ["abc", "a"]}
    reader = ValueReader({})
    assert reader.value([node, node])[0].dtype == np.dtype("<U3")
    with pytest.raises(ValueError, match="its arrays of text need more than"):
        reader.value(node)


def test_names_of_types_attributes_and_keys() -> None:
    assert plain_dtype("<f4") == np.float32
    assert checked_key("a") == "a"
    for name in ("f8, f8", "(3,)f8", 8, None, "S5"):
        with pytest.raises(ValueError, match="unknown type of numbers"):
            plain_dtype(name)
    check_attribute(LPNNRegressor, "members_")
    for name in ("__class__", "a b", "predict", ""):
        with pytest.raises(ValueError, match="LPNNRegressor has no attribute"):
            check_attribute(LPNNRegressor, name)
