"""ONNX models in ONNX Runtime."""

import numpy as np
import onnxruntime


def session(made):
    return onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


def run(made, rows, dtype=np.float64):
    """The results of a model for the rows of a frame, by name."""
    opened = session(made)
    wanted = [i.name for i in opened.get_inputs()]
    if wanted == ["rows"]:
        feed = {"rows": rows.to_numpy().astype(dtype)}
    else:
        feed = {}
        for name in wanted:
            column = rows[name]
            texts = column.dtype.kind not in "fi"
            values = np.array(["" if v is None or v != v else v for v in column], dtype=object) if texts else column
            feed[name] = np.asarray(values, dtype=object if texts else dtype).reshape(-1, 1)
    return dict(zip([o.name for o in opened.get_outputs()], opened.run(None, feed), strict=True))


def table(found):
    """The results in the layout of all exports."""
    if "probabilities" in found:
        return found["probabilities"]
    names = ("prediction", "std", "prediction_low", "prediction_high", "prediction_scale")
    return np.concatenate([found[name] for name in names if name in found], 1)
