import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder import LPNNRegressor
from polyladder.convert.onnx.model import onnx_model
from polyladder.convert.onnx.texts import any_of, pattern_text
from polyladder.fitted.model import fitted_model
from tests.convert.onnx.run import run, session
from tests.export.cells import BASE, as_numbers, error, models, predicted, rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "default"])
def test_cells_are_read_as_predict_reads_them(name):
    made = onnx_model(fitted_model(models()[name]))
    ready = as_numbers(rows(), name).to_pandas()
    assert error(run(made, ready)["prediction"], predicted(name)) < 1e-12
    assert {i.name: i.doc_string for i in made.graph.input}["sold"].startswith("days since 1970-01-01")
    # Neither yes nor no, and infinite numbers, have no answer; a text in place of a number is refused.
    one = as_numbers(pl.DataFrame([BASE]), name).to_pandas()
    for wrong in ({"own": "maybe"}, {"age": np.inf}, {"flag": -np.inf}):
        assert np.isnan(run(made, one.assign(**wrong))["prediction"]).all()
    with pytest.raises(Exception, match="Unexpected input data type"):
        run(made, one.assign(age="30"))


def test_a_frame_may_have_categories_that_no_file_has():
    X = pd.DataFrame({"a": ["x", " x", "NA", "y\0z\n\\d.*"] * 10, "b": np.arange(40.0)})
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0)
    model.fit(X, X["b"] * (X["a"] == "NA"))
    made = onnx_model(fitted_model(model))
    assert error(run(made, X)["prediction"][:, 0], model.predict(X)) < 1e-12
    spaced = pd.DataFrame({"a": ["x\t", "\u2003y\0z\n\\d.* "], "b": [1.0, 1.0]})
    plain = pd.DataFrame({"a": ["x", "y\0z\n\\d.*"], "b": [1.0, 1.0]})
    assert error(run(made, spaced)["prediction"][:, 0], model.predict(plain)) < 1e-12


def test_names_inside_begin_as_no_column_does():
    X = pd.DataFrame({"/ladder/v0_0_0": ["a", "b"] * 10, "/ladder/c0": np.arange(20.0), "//ladder/c1": np.ones(20)})
    model = LPNNRegressor(order=2, width=2, n_estimators=1).fit(X, X["/ladder/c0"])
    assert error(run(onnx_model(fitted_model(model)), X)["prediction"][:, 0], model.predict(X)) < 1e-12
    with pytest.raises(ValueError, match="Columns must have names for ONNX"):
        onnx_model(
            fitted_model(LPNNRegressor(order=2, width=2).fit(X.rename(columns={"/ladder/c0": ""}), X["/ladder/c0"]))
        )


def test_patterns_match_their_text_alone():
    from onnx import helper

    texts = ["a.b", "(x)*", "é\n", "[\\]", "", "a\0b"]
    node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern="|".join(map(pattern_text, texts)))
    other = helper.make_node("RegexFullMatch", ["x"], ["z"], pattern=any_of("нет", "no"))
    made = helper.make_model(
        helper.make_graph(
            [node, other],
            "texts",
            [helper.make_tensor_value_info("x", 8, ["n"])],
            [helper.make_tensor_value_info(name, 9, ["n"]) for name in "yz"],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=9,
    )
    given = [*texts, "axb", "x", "a", " НЕТ\u3000", "nO", "not"]
    found = session(made).run(None, {"x": np.array(given, dtype=object)})
    assert found[0].tolist() == [True] * 6 + [False] * 6
    assert found[1].tolist() == [False] * 9 + [True, True, False]
