import numpy as np

from polyladder.convert.onnx.features import apply
from polyladder.convert.onnx.graph import OPSET, Graph, Value
from polyladder.fitted.steps import Clip, Ramp
from tests.convert.onnx.run import session


def evaluated(step, x):
    from onnx import helper, numpy_helper

    graph = Graph()
    graph.rename(apply(graph, step, Value(graph, "x")), "y")
    made = helper.make_model(
        helper.make_graph(
            [helper.make_node(op, i, o, **a) for op, i, o, a in graph.nodes],
            "step",
            [helper.make_tensor_value_info("x", 11, ["n", 1])],
            [helper.make_tensor_value_info("y", 11, ["n", 1])],
            [numpy_helper.from_array(v, name) for name, v in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    return session(made).run(None, {"x": np.array(x).reshape(-1, 1)})[0][:, 0].tolist()


def test_ramps():
    assert evaluated(Ramp(1.0, 3.0), [0.0, 1.0, 1.5, 3.0, 9.0]) == [0.0, 0.0, 0.25, 1.0, 1.0]


def test_what_is_missing_stays_missing():
    found = evaluated(Clip(0.0, 1.0), [-1.0, np.nan, 2.0])
    assert (found[0], found[2]) == (0.0, 1.0)
    assert np.isnan(found[1])
