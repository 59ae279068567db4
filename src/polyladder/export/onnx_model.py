"""`to_onnx`: a model as an ONNX file."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from polyladder.convert.onnx.model import Precision, onnx_model
from polyladder.export.interval import with_interval
from polyladder.files.replace_file import write_atomically
from polyladder.fitted.model import AnyModel, fitted_model


def to_onnx(
    model: AnyModel, path: str | PathLike[str], dtype: Precision = "float64", interval: float | None = None
) -> Path:
    """Write a model as ONNX, preprocessing included, for any number of rows. Needs the extra ``onnx``.

    Only standard operators are used (operator set 19). Where all columns are numbers, the input is ``rows`` of shape
    (n, columns); else each column is an input of its own name and of shape (n, 1), texts as strings, a missing text as
    the empty string. The outputs are ``prediction`` (n, m), with ``std`` (n, m) for a posterior, or ``label`` (n,) and
    ``probabilities`` (n, classes). With an interval ``prediction_low``, ``prediction_high`` and
    ``prediction_scale`` follow the prediction, all (n, m).

    Args:
        model: a `LadderPolynomial`, a single one, or a fitted estimator with a ladder behind it.
        path: where to; an existing file is replaced.
        dtype: of inputs, ladders and outputs. In "float32" the columns are still scaled in double precision.
        interval: as for `to_source`.

    Returns:
        Where it is.

    The difference to `predict`, relative to the size of the outputs, is below 1e-12 in float64 and 1e-5 in float32.
    """
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    described = fitted_model(model)
    if interval is not None:
        described = with_interval(described, interval)
    write_atomically(onnx_model(described, dtype).SerializeToString(), path)
    return Path(path)
