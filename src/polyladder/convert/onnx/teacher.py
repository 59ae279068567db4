"""A model in an ONNX file as something with `predict`, so that a small ladder can learn from it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from polyladder.tables.number_style import counted
from polyladder.tables.table import Table, as_numbers, find_categories, is_frame, matrix_table, read_table

Array = np.ndarray[Any, Any]

FLOATS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
WHOLES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}
TEXTS = "tensor(string)"
MAPS = "seq(map("
"""How onnxruntime calls the types of inputs and outputs."""

LISTED = 8
"""Names that a message lists, at most."""

ROUNDING = 1e-3
"""How far the probabilities of a row may be from a sum of 1: some models compute them in half precision."""

AGREEING = 0.5
"""Share of rows, at least, whose label is the class of the largest probability; else the classes are read wrongly."""


@dataclass(frozen=True)
class OnnxInput:
    """An input of a model.

    Attributes:
        name: of the input.
        kind: its type, as onnxruntime calls it.
        shape: its sizes; what is not a whole number may be any.
    """

    name: str
    kind: str
    shape: tuple[Any, ...]

    @property
    def texts(self) -> bool:
        """Whether it takes texts."""
        return self.kind == TEXTS

    @property
    def width(self) -> int | None:
        """How many columns it takes; None for any number."""
        return self.shape[1] if len(self.shape) > 1 and isinstance(self.shape[1], int) else None

    def cells(self, table: Table, places: Sequence[int]) -> Array:
        """Columns of a table in its type and its number of dimensions; missing texts are empty ones."""
        if self.texts:
            found = np.array([["" if text is None else text for text in table.categories[i]] for i in places], object).T
        else:
            numbers = table.numbers[:, [table.positions.index(i) for i in places]]
            if self.kind in WHOLES and np.isnan(numbers).any():
                raise ValueError(f"Input {self.name!r} takes whole numbers; some are missing. Leave out those rows.")
            found = (numbers.round() if self.kind in WHOLES else numbers).astype({**FLOATS, **WHOLES}[self.kind])
        return found if len(self.shape) != 1 else found[:, 0]


class OnnxTeacher:
    """A model in an ONNX file, with ``predict`` as models of scikit-learn have it. Needs the extra ``onnx``.

    `polyladder.compress` makes a small ladder of it. A model with one input of shape (n, d) takes the columns of
    numbers in their order; a model with several inputs finds its columns by their names. A model that gives labels and
    probabilities, in a tensor or in one map per row, is a classifier; any other gives numbers, those of its first
    output.

    Args:
        path: the file.

    Attributes:
        classes_: its labels, sorted. Only classifiers have it.
    """

    classes_: Array

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._session = opened(self.path)
        self.inputs = tuple(OnnxInput(i.name, i.type, tuple(i.shape)) for i in self._session.get_inputs())
        for each in self.inputs:
            if each.kind not in {*FLOATS, *WHOLES, TEXTS} or len(each.shape) > 2:
                raise ValueError(
                    f"{path} must take columns of numbers or texts; its input {each.name!r} is {each.kind} of shape "
                    f"{list(each.shape)}."
                )
        outputs = {each.name: each.type for each in self._session.get_outputs()}
        maps = next((name for name, kind in outputs.items() if kind.startswith(MAPS)), None)
        numbers = next((name for name, kind in outputs.items() if kind in FLOATS), None)
        answer = maps or numbers
        if answer is None:
            listed = ", ".join(f"{name} ({kind})" for name, kind in outputs.items())
            raise ValueError(f"{path} must give numbers or probabilities; its outputs are {listed}.")
        self._answer = answer
        self._label = next((name for name, kind in outputs.items() if kind == TEXTS or kind in WHOLES), None)
        self._order: list[Any] = []
        if maps is not None or self._label is not None:
            self._order = class_labels(self.path, self._label or answer)
            self.classes_ = np.sort(np.asarray(self._order))

    def columns(self, names: Sequence[str], texts: Container[int]) -> list[list[int]]:
        """Which columns of a table each input takes, by their places; refused where some are lacking or do not fit.

        Args:
            names: of the columns.
            texts: places of those that hold texts.
        """
        first = self.inputs[0]
        single = len(first.shape) == 1 or first.width == 1
        if len(self.inputs) == 1 and not (single and first.name in names):
            found = [i for i in range(len(names)) if (i in texts) == first.texts]
            if not found or len(found) != (first.width or len(found)):
                wanted = counted(first.width or 1, f"column of {kind_words(first)}", f"columns of {kind_words(first)}")
                listed = shortened([names[i] for i in found]) or "none"
                way = "Leave the others out" if len(found) > (first.width or 1) else "Give it those it was made for"
                raise ValueError(f"{self.path} takes {wanted}; the rows have {len(found)}: {listed}. {way}.")
            return [found]
        lacking = [each.name for each in self.inputs if each.name not in names]
        if lacking:
            raise ValueError(f"{self.path} finds its columns by their names; the rows lack {shortened(lacking)}.")
        places = [list(names).index(each.name) for each in self.inputs]
        for each, place in zip(self.inputs, places, strict=True):
            if (place in texts) != each.texts:
                got = "texts" if place in texts else "numbers"
                raise ValueError(f"Column {each.name!r} must hold {kind_words(each)} for {self.path}; it holds {got}.")
            if each.width not in (None, 1):
                raise ValueError(f"{self.path} must take one column by each of its inputs; {each.name!r} takes more.")
        return [[place] for place in places]

    def predict(self, X: Any) -> Array:
        """Numbers (n,) or (n, m), or labels (n,), of an array or a data frame."""
        if self._label is not None:
            return self._run(self._label, X).reshape(-1)
        if self._order:
            return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])
        found = self._run(self._answer, X).astype(np.float64)
        if found.ndim > 2:
            raise ValueError(f"{self.path} must give one or several numbers for each row; got {list(found.shape)}.")
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found

    def predict_proba(self, X: Any) -> Array:
        """Probabilities, in the order of ``classes_``. Shape (n, classes)."""
        if not self._order:
            raise TypeError(f"{self.path} must be a classifier to have probabilities; it gives numbers. Use predict.")
        order = np.asarray(self._order)
        found = self._run(self._answer, X).astype(np.float64)
        if found.ndim != 2 or found.shape[1] != len(order):
            raise ValueError(f"{self.path} must give {len(order)} probabilities for each row; got {list(found.shape)}.")
        if (found < -ROUNDING).any() or (np.abs(found.sum(1) - 1) > ROUNDING).any():
            raise ValueError(
                f"{self.path} must give probabilities; those of some rows do not sum to 1. Are they scores?"
            )
        if self._label is not None:
            agreeing = (order[found.argmax(1)] == self._run(self._label, X).reshape(-1)).mean()
            if agreeing < AGREEING:
                raise ValueError(
                    f"{self.path} must give the label of the largest probability; it does for {agreeing:.0%} of rows."
                )
        found = np.clip(found[:, np.argsort(order)], 0.0, None)
        return np.asarray(found / found.sum(1, keepdims=True))

    def _run(self, output: str, X: Any) -> Array:
        """One output for all rows, maps of classes as columns; a model for so many rows at a time gets so many."""
        table = (
            read_table(X, find_categories(X)) if is_frame(X) else matrix_table(np.asarray(as_numbers(X), np.float64))
        )
        places = self.columns(table.names, table.categories)
        feed = {each.name: each.cells(table, place) for each, place in zip(self.inputs, places, strict=True)}
        sizes = [each.shape[0] for each in self.inputs if each.shape and isinstance(each.shape[0], int)]
        step = max(1, *sizes) if sizes else max(1, len(table))
        parts = []
        for first in range(0, len(table), step):
            # The last rows are repeated where there are not enough of them.
            rows = np.minimum(np.arange(first, first + step), len(table) - 1)
            found = self._session.run([output], {name: cells[rows] for name, cells in feed.items()})[0]
            if isinstance(found, list):
                found = np.array([[row[label] for label in self._order] for row in found])
            parts.append(np.asarray(found)[: len(table) - first])
        return np.concatenate(parts)


def opened(path: Path) -> Any:
    """The model of a file, ready to run."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("OnnxTeacher needs onnxruntime. Install it with: pip install 'polyladder[onnx]'.") from error
    if not path.is_file():
        raise FileNotFoundError(f"{path} must be an ONNX model; there is no such file.")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common class
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{path} must be an ONNX model that onnxruntime can run; it says: {reason}.") from error


def class_labels(path: Path, output: str) -> list[Any]:
    """The labels of a classifier in the order of its probabilities: what the nodes before its label or maps say.

    Args:
        path: the file.
        output: its labels, or its maps.
    """
    from onnx import helper, load, numpy_helper

    graph = load(str(path), load_external_data=False).graph
    made = {name: node for node in graph.node for name in node.output}
    fixed = {each.name: each for each in graph.initializer}
    fixed |= {
        n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == "Constant" and n.attribute[0].HasField("t")
    }
    waiting, seen = [output], set()
    while waiting:
        name = waiting.pop(0)
        node = made.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        for attribute in node.attribute:
            if attribute.name.startswith("classlabels") and len(labels := helper.get_attribute_value(attribute)) > 1:
                return [as_label(each) for each in labels]
        # A label is looked up by the number of its class.
        if node.op_type in ("Gather", "ArrayFeatureExtractor") and node.input[0] in fixed:
            return [as_label(each) for each in numpy_helper.to_array(fixed[node.input[0]]).ravel().tolist()]
        waiting += node.input
    raise ValueError(f"{path} must name its classes, as classifiers converted from scikit-learn do; it does not.")


def as_label(value: Any) -> Any:
    """A label as Python has it."""
    return value.decode() if isinstance(value, bytes) else value


def kind_words(each: OnnxInput) -> str:
    """What an input takes."""
    return "texts" if each.texts else "numbers"


def shortened(names: Sequence[str]) -> str:
    """A list of names, not too long."""
    return ", ".join(map(repr, names[:LISTED])) + (", ..." if len(names) > LISTED else "")
