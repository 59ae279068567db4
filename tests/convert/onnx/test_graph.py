import numpy as np

from polyladder.convert.onnx.graph import Graph


def test_names_are_fresh_and_values_become_constants():
    graph = Graph("a_")
    first = graph("Add", "x", np.array(1.0))
    second = graph("Add", first, np.array(1.0))
    assert first != second
    assert len(graph.constants) == 2
    assert all(name.startswith("a_") for name in (first, second, *graph.constants))
    assert graph.nodes[1][1][0] == first
