import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import polyladder
from polyladder import LPNNClassifier, OnnxTeacher

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3)).astype(np.float32)
NUMBERS = X[:, 0] * X[:, 1] + X[:, 2]
LABELS = np.array(["low", "high", "mid"])[np.digitize(NUMBERS, [-0.5, 0.5])]


def written(path, model):
    path.write_bytes(model.SerializeToString())
    return OnnxTeacher(path)


def graph(nodes, inputs, outputs, constants=()):
    """An ONNX model by hand."""
    described = [[helper.make_tensor_value_info(*each) for each in part] for part in (inputs, outputs)]
    made = helper.make_graph(
        [helper.make_node(*node) for node in nodes], "hand", *described, [helper.make_tensor(*c) for c in constants]
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def test_a_regression_says_what_its_model_says(tmp_path) -> None:
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, NUMBERS)
    teacher = written(tmp_path / "m.onnx", to_onnx(model, X[:1]))
    wanted = model.predict(X)
    assert teacher.predict(X) == pytest.approx(wanted, abs=1e-4)
    for library in (pd.DataFrame, pl.DataFrame):
        assert teacher.predict(library({f"x{i}": X[:, i] for i in range(3)})) == pytest.approx(wanted, abs=1e-4)
    # Without classes it is no classifier, to anyone who looks.
    assert "classes_" not in vars(teacher)
    with pytest.raises(TypeError, match="it gives numbers"):
        teacher.predict_proba(X)


def test_several_outputs_stay_several(tmp_path) -> None:
    rows = X.astype(np.float64)
    model = LinearRegression().fit(rows, rows[:, :2] * 3)
    teacher = written(tmp_path / "m.onnx", to_onnx(model, rows[:1]))
    # Inputs of double precision are given in it.
    assert teacher.predict(rows) == pytest.approx(rows[:, :2] * 3, abs=1e-9)


@pytest.mark.parametrize("maps", [True, False])
@pytest.mark.parametrize("classes", [LABELS, NUMBERS > 0, np.where(NUMBERS > 0, 7, 3)])
@pytest.mark.parametrize("kind", [GradientBoostingClassifier(n_estimators=5), LogisticRegression()])
def test_a_classifier_gives_labels_and_probabilities(tmp_path, kind, classes, maps) -> None:
    model = kind.fit(X, classes)
    teacher = written(tmp_path / "m.onnx", to_onnx(model, X[:1], options={"zipmap": maps}))
    assert teacher.classes_.tolist() == model.classes_.tolist()
    assert teacher.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-5)
    assert (teacher.predict(X) == model.predict(X)).all()


def test_classes_are_sorted_whatever_their_order_in_the_file(tmp_path) -> None:
    made = graph(
        [
            ("Softmax", ["rows"], ["p"]),
            ("ArgMax", ["p"], ["best"]),
            ("Gather", ["names", "best"], ["found"]),
            ("Reshape", ["found", "flat"], ["label"]),
        ],
        [("rows", TensorProto.FLOAT, ["n", 2])],
        [("label", TensorProto.STRING, ["n"]), ("p", TensorProto.FLOAT, ["n", 2])],
        [("names", TensorProto.STRING, [2], [b"b", b"a"]), ("flat", TensorProto.INT64, [1], [-1])],
    )
    made.graph.node[1].attribute.append(helper.make_attribute("axis", 1))
    teacher = written(tmp_path / "m.onnx", made)
    assert teacher.classes_.tolist() == ["a", "b"]
    assert teacher.predict_proba(np.array([[3.0, 0.0]]))[0, 1] == pytest.approx(1 / (1 + np.exp(-3)))
    assert teacher.predict(np.array([[3.0, 0.0]])).tolist() == ["b"]


def test_our_own_export_is_read_back(tmp_path) -> None:
    model = LPNNClassifier(order=2, width=2, n_estimators=1, max_iter=3, random_state=0).fit(X, LABELS)
    polyladder.to_onnx(model, tmp_path / "m.onnx")
    teacher = OnnxTeacher(tmp_path / "m.onnx")
    assert teacher.classes_.tolist() == ["high", "low", "mid"]
    assert teacher.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-9)


@pytest.fixture
def named(tmp_path):
    """A model of two columns, one of texts, that finds them by their names."""
    frame = pd.DataFrame({"town": np.where(X[:, 0] > 0, "Bern", "Ulm"), "size": X[:, 1]})
    encoded = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = make_pipeline(encoded, LinearRegression()).fit(frame, NUMBERS)
    return written(tmp_path / "m.onnx", to_onnx(model, frame[:1])), model, frame


def test_several_inputs_are_found_by_their_names(named) -> None:
    teacher, model, frame = named
    assert teacher.predict(frame[["size", "town"]].assign(more=1)) == pytest.approx(model.predict(frame), abs=1e-5)
    with pytest.raises(ValueError, match="the rows lack 'size'"):
        teacher.predict(frame[["town"]])
    with pytest.raises(ValueError, match=r"Column 'size' must hold numbers for .*m\.onnx; it holds texts\."):
        teacher.predict(frame.assign(size="large"))
    with pytest.raises(ValueError, match=r"Column 'town' must hold texts .* it holds numbers\."):
        teacher.predict(frame.assign(town=1.0))


def test_a_wrong_number_of_columns_is_refused(tmp_path) -> None:
    teacher = written(tmp_path / "m.onnx", to_onnx(LinearRegression().fit(X, NUMBERS), X[:1]))
    with pytest.raises(ValueError, match=r"takes 3 columns of numbers; the rows have 2: 'x0', 'x1'\. Give it"):
        teacher.predict(X[:, :2])
    with pytest.raises(ValueError, match=r"the rows have 4: .* Leave the others out"):
        teacher.predict(pd.DataFrame(np.ones((3, 4))).add_prefix("a"))
    # Texts are not counted where numbers are taken.
    assert len(teacher.predict(pd.DataFrame(X).add_prefix("a").assign(name="me"))) == 90


def test_a_model_for_so_many_rows_at_a_time_gets_so_many(tmp_path) -> None:
    made = graph(
        [("ReduceSum", ["rows", "axis"], ["total"])],
        [("rows", TensorProto.DOUBLE, [4, 2])],
        [("total", TensorProto.DOUBLE, [4, 1])],
        [("axis", TensorProto.INT64, [1], [1])],
    )
    rows = RNG.normal(size=(10, 2))
    assert written(tmp_path / "m.onnx", made).predict(rows) == pytest.approx(rows.sum(1))


def test_whole_numbers_must_not_be_missing(tmp_path) -> None:
    made = graph(
        [("Cast", ["count"], ["y"])],
        [("count", TensorProto.INT64, ["n", 1])],
        [("y", TensorProto.DOUBLE, ["n", 1])],
    )
    made.graph.node[0].attribute.append(helper.make_attribute("to", TensorProto.DOUBLE))
    teacher = written(tmp_path / "m.onnx", made)
    assert teacher.predict(np.array([[1.9], [3.0]])).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="Input 'count' takes whole numbers; some are missing"):
        teacher.predict(np.array([[1.0], [np.nan]]))


def test_what_is_no_teacher_is_refused_in_a_sentence(tmp_path) -> None:
    (tmp_path / "m.onnx").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"m\.onnx must be an ONNX model that onnxruntime can run; it says: .*\.$"):
        OnnxTeacher(tmp_path / "m.onnx")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        OnnxTeacher(tmp_path / "other.onnx")
    words = graph(
        [("Identity", ["a"], ["b"])],
        [("a", TensorProto.STRING, ["n", 1])],
        [("b", TensorProto.STRING, ["n", 1])],
    )
    with pytest.raises(ValueError, match=re.escape("its outputs are b (tensor(string)).")):
        written(tmp_path / "w.onnx", words)
    picture = graph(
        [("Identity", ["a"], ["b"])],
        [("a", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [("b", TensorProto.FLOAT, ["n", 3, 8, 8])],
    )
    with pytest.raises(ValueError, match="must take columns of numbers or texts; its input 'a' is"):
        written(tmp_path / "p.onnx", picture)
    scores = to_onnx(LinearSVC().fit(X, LABELS), X[:1])
    with pytest.raises(ValueError, match="do not sum to 1"):
        written(tmp_path / "s.onnx", scores).predict_proba(X)


def test_dates_are_days(tmp_path) -> None:
    made = graph(
        [("Identity", ["rows"], ["y"])],
        [("rows", TensorProto.DOUBLE, ["n", 1])],
        [("y", TensorProto.DOUBLE, ["n", 1])],
    )
    frame = pl.DataFrame({"day": [datetime.date(1970, 1, 3)]})
    assert written(tmp_path / "m.onnx", made).predict(frame).tolist() == [2.0]
