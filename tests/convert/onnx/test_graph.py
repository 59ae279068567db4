import numpy as np

from polyladder.convert.onnx.graph import Graph, Value


def test_names_are_fresh_and_values_become_constants():
    graph = Graph("a_")
    first = Value(graph, "x") + 1.0
    second = 1.0 - first @ np.eye(2)
    assert len(graph.constants) == 3
    assert [op for op, *_ in graph.nodes] == ["Add", "MatMul", "Sub"]
    assert all(name.startswith("a_") for name in (first.name, second.name, *graph.constants))
    assert graph.nodes[1][1][0] == first.name
