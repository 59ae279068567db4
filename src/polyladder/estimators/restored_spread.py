"""Whether the spread of a model that came out of a file fits the model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from polyladder.estimators.restored_records import Form, each, made_of, named, number, whole
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.fitted.features import Features
from polyladder.fitted.plan import Feature
from polyladder.fitted.spread import Spread
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.predictive.conformal import Calibrated

STEP: tuple[Form, ...] = tuple(
    made_of(kind, dict.fromkeys(names, number))
    for kind, names in {
        "Affine": ("shift", "scale"),
        "Blank": ("code",),
        "Clip": ("low", "high"),
        "Fill": ("value",),
    }.items()
)


def unfit_spread(estimator: TableEstimator, inputs: int, outputs: int) -> str | None:
    """The word ``spread_`` if it is not what it is read as, else None; files of earlier versions have none.

    Args:
        estimator: whose features have been checked.
        inputs: of its model.
        outputs: of its model.
    """
    held, features = estimator.spread_, estimator.features_
    if type(held) is not Spread:
        return None if held is None else "spread_"
    texts = tuple(features.categorical_) if isinstance(features, Features) else ()
    columns = range(estimator.n_features_in_)
    beyond = held.beyond
    forms: dict[str, Form] = {
        "log_scale": lambda p: isinstance(p, LadderPolynomial) and reads(p, inputs, outputs),
        "low": tensor(outputs),
        "high": tensor(outputs),
        "beyond": each(lambda value: is_beyond(value, [i for i in columns if i not in texts])),
        "growth": lambda value: isinstance(beyond, tuple) and tensor(len(beyond), outputs)(value),
        "degrees": lambda value: is_float(value, (outputs,)) and bool((value > 1).all()),
        "widths": lambda value: calibrated(value, outputs),
        "rows": whole,
        "groups": lambda value: value is None or groups(texts, outputs)(value),
    }
    return None if made_of("Spread", forms)(held) else "spread_"


def reads(p: LadderPolynomial, inputs: int, outputs: int) -> bool:
    """Whether a ladder is a single one, in double precision, from the inputs to the outputs."""
    shape = (tuple(p.batch_shape), p.in_features, p.out_features)
    return shape == ((), inputs, outputs) and all(t.dtype == torch.float64 for t in p.tensors().values())


def is_float(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is a tensor in double precision of a shape."""
    return isinstance(value, Tensor) and value.dtype == torch.float64 and tuple(value.shape) == shape


def tensor(*shape: int) -> Form:
    """A tensor of finite numbers in double precision, of a shape."""
    return lambda value: is_float(value, shape) and bool(value.isfinite().all())


def is_beyond(value: Any, columns: list[int]) -> bool:
    """Whether a value is an input made of a column of numbers."""
    if type(value) is not Feature or value.column not in columns or not isinstance(value.steps, tuple):
        return False
    return bool(value.steps) and all(any(form(step) for form in STEP) for step in value.steps)


def calibrated(value: Any, outputs: int) -> bool:
    """Whether a value holds widths for some outputs; that they rise was checked when they were read."""
    return type(value) is Calibrated and value.widths.dim() == 2 and value.widths.shape[1] == outputs


def groups(texts: tuple[int, ...], outputs: int) -> Form:
    """Widths for values of a column of texts."""
    return made_of("GroupWidths", {"column": lambda i: i in texts, "values": named(lambda v: calibrated(v, outputs))})
