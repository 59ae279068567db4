"""An exported model as an ONNX model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from polyladder.convert.exported.cells import cell_words, number_words
from polyladder.convert.onnx.answers import answers
from polyladder.convert.onnx.features import features
from polyladder.convert.onnx.graph import OPSET, TEXT_OPSET, Graph, Value
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import IsCategory

ROWS = "rows"
"""The input of a model whose columns are all numbers."""

IR = 9
"""The file format that belongs to the operator set."""

Precision = Literal["float64", "float32"]


def onnx_model(model: FittedModel, dtype: Precision = "float64") -> Any:
    """The ONNX model of a description; see `polyladder.to_onnx`.

    Args:
        model: to be rendered.
        dtype: of inputs, ladders and outputs. Features are computed in double precision in either case.
    """
    try:
        from onnx import checker, helper
    except ImportError as error:
        raise ImportError("to_onnx needs onnx. Install it with: pip install 'polyladder[onnx]'.") from error
    refuse_empty_texts(model)
    # Names inside the graph start with a prefix that no column has.
    prefix = "/ladder/"
    while any(column.name.startswith(prefix) for column in model.columns):
        prefix = f"/{prefix}"
    graph = Graph(prefix)
    kind = {"float64": np.float64, "float32": np.float32}[dtype]
    number = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    text = helper.np_dtype_to_tensor_dtype(np.dtype(object))
    mixed = any(column.kind == "category" for column in model.columns)
    inputs = {ROWS: (number, len(model.columns))}
    told = {ROWS: "; ".join(f"{column.name!r}: {number_words(column)}" for column in model.columns)}
    if mixed:
        inputs = {column.name: (text if column.kind == "category" else number, 1) for column in model.columns}
        told = {column.name: input_words(column) for column in model.columns}
    results = body(graph, model, kind, mixed)
    labels = model.labels or ()
    label_kind = helper.np_dtype_to_tensor_dtype(np.dtype(np.int64))
    if mixed and (taken := [name for name in results if name in inputs]):
        raise ValueError(f"Columns must not be named {', '.join(results)} for ONNX; got {taken[0]!r}. Rename it first.")
    outputs = []
    for wanted, value in results.items():
        graph.rename(value, wanted)
        if wanted == "label":
            words = not all(isinstance(label, int) for label in labels)
            outputs.append(helper.make_tensor_value_info(wanted, text if words else label_kind, ["n"]))
        else:
            width = len(labels) or len(model.answer_names) // len(results)
            outputs.append(helper.make_tensor_value_info(wanted, number, ["n", width]))
    title = f"A ladder polynomial of order {model.ladders.order} for {model.target}."
    made = helper.make_model(
        helper.make_graph(
            [helper.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in graph.nodes],
            "ladder",
            [
                helper.make_tensor_value_info(name, kind, ["n", width], told[name])
                for name, (kind, width) in inputs.items()
            ],
            outputs,
            [tensor(helper, name, values) for name, values in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", TEXT_OPSET if mixed else OPSET)],
        ir_version=IR,
        producer_name="polyladder",
        doc_string=" ".join(filter(None, (title, model.answer.note))),
    )
    checker.check_model(made)
    return made


def body(graph: Graph, model: FittedModel, kind: Any, mixed: bool, rows: str = ROWS) -> dict[str, Value]:
    """Everything between the inputs and the outputs; results by their names."""

    def column(i: int) -> Value:
        if mixed:
            values = Value(graph, model.columns[i].name)
        else:
            values = graph("Gather", Value(graph, rows), np.array([i]), axis=1)
        return values if kind is np.float64 or model.columns[i].kind == "category" else graph.cast(values, np.float64)

    z = features(graph, model, column)
    typed = replace(graph, dtype=kind)
    return answers(typed, model, Value(typed, (z if kind is np.float64 else graph.cast(z, kind)).name))


def tensor(helper: Any, name: str, values: Any) -> Any:
    """A constant as ONNX stores it."""
    from onnx import numpy_helper

    if values.dtype == object:
        texts = [str(v).encode() for v in values.ravel()]
        return helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(values.dtype), values.shape, texts)
    return numpy_helper.from_array(np.ascontiguousarray(values), name)


def input_words(column: Column) -> str:
    """What an input holds, in words."""
    return cell_words(column) + ", the empty one if missing" if column.kind == "category" else number_words(column)


def refuse_empty_texts(model: FittedModel) -> None:
    """ONNX has no missing texts; the empty text represents them, so it cannot be a category or a column name."""
    if any(column.kind == "category" for column in model.columns) and "" in [column.name for column in model.columns]:
        raise ValueError("Columns must have names for ONNX, beside columns of texts; got ''. Rename it and fit again.")
    for feature in model.steps:
        if feature.steps and feature.steps[-1] == IsCategory(""):
            raise ValueError(
                f"Column {model.columns[feature.column].name!r} must not have the empty text as a category for ONNX, "
                "where it stands for a missing value. Rename the category and fit again."
            )
