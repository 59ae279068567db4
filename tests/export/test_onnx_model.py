import numpy as np
import onnxruntime
import pytest

from polyladder import to_onnx
from tests.export.estimators import case, error, spread_model


def test_written_files_predict(tmp_path):
    model, rows, answers = case("numbers")
    place = to_onnx(model, tmp_path / "m.onnx")
    found = onnxruntime.InferenceSession(place).run(["prediction"], {"rows": rows.to_numpy()})[0]
    assert error(found, answers) < 1e-12
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]


def test_columns_of_a_mixed_table_are_inputs_of_their_own(tmp_path):
    model, rows, answers = case("gaps and categories")
    session = onnxruntime.InferenceSession(to_onnx(model, tmp_path / "m.onnx", dtype="float32"))
    assert [i.name for i in session.get_inputs()] == list(rows.columns)
    assert {i.name: i.type for i in session.get_inputs()}["color"] == "tensor(string)"
    assert np.isfinite(answers).all()


def test_an_unknown_type_is_refused(tmp_path):
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(case("numbers")[0], tmp_path / "m.onnx", dtype="float16")


def test_intervals_are_outputs_of_their_own(tmp_path):
    _, rows, answers = case("intervals")
    opened = onnxruntime.InferenceSession(to_onnx(spread_model()[0], tmp_path / "m.onnx", interval=90))
    assert [o.name for o in opened.get_outputs()] == [f"prediction{kind}" for kind in ("", "_low", "_high", "_scale")]
    assert [o.shape for o in opened.get_outputs()] == [["n", 2]] * 4
    assert error(np.concatenate(opened.run(None, {"rows": rows.to_numpy()}), 1), answers) < 1e-12
    said = opened.get_modelmeta().description
    assert said.startswith("A ladder polynomial of order 3 for prediction. Intervals, from low to high, ")
    with pytest.raises(ValueError, match="interval must be left out: the LPNNRegressor knows no errors"):
        to_onnx(case("numbers")[0], tmp_path / "none.onnx", interval=90)
