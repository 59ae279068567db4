import numpy as np
import onnxruntime
import pytest
from skl2onnx import to_onnx
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from polyladder import BayesianLPNNRegressor, LPNNClassifier, LPNNRegressor, register_onnx_converters
from tests.export.estimators import classes, error, table

SMALL = {"order": 3, "width": 4, "random_state": 0}


def rows(n=300):
    X, y = table(n, 0)
    return X.to_numpy(), y


def run(pipeline, X, dtype):
    made = to_onnx(pipeline, X[:1].astype(dtype), target_opset=19, options={"zipmap": False})
    return onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": X.astype(dtype)})


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_a_pipeline_that_holds_a_ladder_converts(dtype, tolerance):
    register_onnx_converters()
    X, y = rows()
    X = X.astype(np.float32).astype(np.float64)
    scaled = ColumnTransformer([("a", MinMaxScaler(), [0, 1]), ("b", StandardScaler(), [2])])
    pipeline = make_pipeline(scaled, LPNNRegressor(n_estimators=2, max_iter=4, **SMALL)).fit(X, y)
    made = to_onnx(pipeline, X[:1].astype(dtype), target_opset=19)
    found = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": X.astype(dtype)})[0]
    assert error(found[:, 0], pipeline.predict(X)) < tolerance


@pytest.mark.parametrize("count", [2, 3])
def test_classes(count):
    register_onnx_converters()
    X, y = rows()
    labels = classes(y, count)
    pipeline = make_pipeline(StandardScaler(), LPNNClassifier(max_iter=5, **SMALL)).fit(X, labels)
    label, probability = run(pipeline, X, np.float64)
    assert label.tolist() == pipeline.predict(X).tolist()
    assert error(probability, pipeline.predict_proba(X)) < 1e-12


def test_posteriors_and_old_operators():
    register_onnx_converters()
    X, y = rows(150)
    model = BayesianLPNNRegressor(chains=2, warmup=4, draws=6, **SMALL).fit(X, y)
    made = to_onnx(model, X[:1], target_opset=19)
    found = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"X": X})[0]
    assert error(found[:, 0], model.predict(X)) < 1e-12
    with pytest.raises(ValueError, match="target_opset must be at least 19"):
        to_onnx(model, X[:1], target_opset=17)
