"""Ladders inside of scikit-learn pipelines, for skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from polyladder.convert.onnx.graph import OPSET, Graph
from polyladder.convert.onnx.model import body, tensor
from polyladder.estimators.registry import find_class
from polyladder.fitted.answers import Classes, Probit
from polyladder.fitted.model import fitted_model

FAMILIES = ("LPNN", "BayesianLPNN", "FactorizationMachine", "PolynomialKernel")
"""Estimators with a ladder behind them, by the beginnings of their names."""


def register_onnx_converters() -> None:
    """Teach skl2onnx every estimator with a ladder behind it, so that a pipeline that holds one converts.

    Inside of a pipeline the ladder reads one tensor of numbers, float or double; outputs are those of `to_onnx`. Ask
    for ``target_opset=19`` or later. Needs the extra ``onnx``.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            "register_onnx_converters needs skl2onnx. Install it with: pip install 'polyladder[onnx]'."
        ) from error
    for estimator in (find_class(family + kind) for family in FAMILIES for kind in ("Regressor", "Classifier")):
        options = OPTIONS if issubclass(estimator, ClassifierMixin) else None
        update_registered_converter(
            estimator, f"Polyladder{estimator.__name__}", result_shapes, convert, overwrite=True, options=options
        )


OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
"""Those that skl2onnx hands to every classifier."""


def result_shapes(operator: Any) -> None:
    """What a ladder gives: a prediction (and its deviation), or a label and probabilities."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    given = operator.inputs[0].type
    model = fitted_model(operator.raw_operator)
    wide: Any = type(given)
    n = given.shape[0]
    if isinstance(model.answer, Classes | Probit):
        whole = all(isinstance(label, int) for label in model.answer.labels)
        operator.outputs[0].type = Int64TensorType([n]) if whole else StringTensorType([n])
        operator.outputs[1].type = wide([n, len(model.answer.labels)])
        return
    for output in operator.outputs:
        output.type = wide([n, model.ladders.out_features])


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of one ladder to a graph under construction."""
    from onnx import helper
    from skl2onnx.common.data_types import DoubleTensorType

    if container.target_opset < OPSET:
        raise ValueError(f"target_opset must be at least {OPSET} for ladders; got {container.target_opset}.")
    model = fitted_model(operator.raw_operator)
    if any(column.kind == "category" for column in model.columns):
        raise ValueError("A ladder in a pipeline must read numbers alone; it has categories. Use to_onnx for it alone.")
    graph = Graph(prefix=scope.get_unique_variable_name("ladder") + "_")
    kind = np.float64 if isinstance(operator.inputs[0].type, DoubleTensorType) else np.float32
    results = body(graph, model, kind, mixed=False, rows=operator.inputs[0].full_name)
    wanted = ["label", "probabilities"] if "label" in results else ["prediction"]
    for name, output in zip(wanted, operator.outputs, strict=False):
        graph.rename(results[name], output.full_name)
    for name, values in graph.constants.items():
        made = tensor(helper, name, values)
        container.initializers.append(made)
    for op, inputs, outputs, attributes in graph.nodes:
        unique = scope.get_unique_operator_name(op)
        container.add_node(op, inputs, outputs, op_version=OPSET, name=unique, **attributes)
