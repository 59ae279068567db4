import numpy as np
from scipy.special import ndtr

from polyladder.convert.onnx.answers import normal
from polyladder.convert.onnx.graph import OPSET, Graph, Value


def test_the_normal_distribution_is_right_to_rounding():
    from onnx import helper, numpy_helper

    graph = Graph()
    graph.rename(normal(graph, Value(graph, "x")), "y")
    made = helper.make_model(
        helper.make_graph(
            [helper.make_node(op, i, o, **a) for op, i, o, a in graph.nodes],
            "normal",
            [helper.make_tensor_value_info("x", 11, ["n"])],
            [helper.make_tensor_value_info("y", 11, ["n"])],
            [numpy_helper.from_array(v, name) for name, v in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=9,
    )
    from tests.convert.onnx.run import session

    x = np.concatenate([np.linspace(-40, 40, 4001), [0.0, -1e300, 1e300, -np.inf, np.inf]])
    y = session(made).run(None, {"x": x})[0]
    assert np.abs(y - ndtr(x)).max() < 1e-13
    tail = (x > -11) & (x < 0)
    assert np.abs(y[tail] / ndtr(x[tail]) - 1).max() < 1e-12
