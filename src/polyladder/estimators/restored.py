"""Whether the pieces of an estimator that came out of a file fit together, so that it predicts or is refused."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.registry import find_class
from polyladder.estimators.restored_records import unfit_record
from polyladder.estimators.restored_spread import unfit_spread
from polyladder.estimators.restored_thresholds import unfit_thresholds
from polyladder.estimators.table_estimator import ClassPrediction, TableEstimator
from polyladder.estimators.targets import ClassTarget, NumberTarget
from polyladder.fitted.features import KINDS, Features
from polyladder.fitted.ramps import Ramps
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.landmarks import Landmarks
from polyladder.tables.sparse_features import SparseFeatures
from polyladder.tables.table import Table
from polyladder.training.losses.loss import Loss

MODELS = {
    "LPNN": {"members_": ("LadderPolynomial", 1)},
    "BayesianLPNN": {},
    "FactorizationMachine": {"machine_": ("FactorizationMachine", 0)},
    "Feedforward": {"network_": ("Feedforward", 1)},
    "PolynomialKernel": {"polynomial_": ("LadderPolynomial", 0), "kernel_": ("PolynomialKernel", 0)},
}
"""The models in estimators, by the beginning of their names: registered class and dimensions of the batch."""


def check_restored(estimator: object) -> None:
    """Refuse an estimator whose parameters, features, targets and models do not belong together."""
    if not isinstance(estimator, TableEstimator):
        raise ValueError(f"it holds {type(estimator).__name__}, not an estimator")
    check_parameters(estimator)
    inputs = check_features(estimator)
    check_landmarks(estimator)
    check = check_classes if isinstance(estimator, ClassPrediction) else check_numbers
    outputs = check(estimator.target_)
    titles = estimator.target_names_
    require(type(titles) is tuple and all(isinstance(name, str) for name in titles), "target_names_ are no text")
    family = type(estimator).__name__.removesuffix("Classifier").removesuffix("Regressor")
    for name, (kind, dimensions) in MODELS[family].items():
        check_model(name, vars(estimator)[name], kind, dimensions, inputs, outputs)
    if family == "LPNN":
        check_support(estimator)
    if family == "BayesianLPNN":
        check_posterior(estimator.posterior_, inputs, outputs)
    unfit = unfit_record(estimator) or unfit_spread(estimator, inputs, outputs) or unfit_thresholds(estimator)
    require(unfit is None, f"{unfit} is not what it should be")


def require(good: bool, reason: str) -> None:
    """Refuse for a reason."""
    if not good:
        raise ValueError(reason)


def check_shape(name: str, value: Any, shape: tuple[int, ...], whole: bool = False) -> None:
    """Refuse what is not an array or tensor of this shape, of whole numbers or of floating-point numbers."""
    require(isinstance(value, (np.ndarray, Tensor)), f"{name} is of type {type(value).__name__}")
    kind = value.dtype.kind if isinstance(value, np.ndarray) else "f" if value.dtype == torch.float64 else "other"
    fits = tuple(value.shape) == shape and kind == ("i" if whole else "f")
    require(fits, f"{name} must have shape {shape}; it has {tuple(value.shape)}, {value.dtype}")


def check_tensors(owner: object, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse attributes that are not tensors of these shapes."""
    for name, shape in shapes.items():
        require(isinstance(vars(owner)[name], Tensor), f"{name} is no tensor")
        check_shape(name, vars(owner)[name], shape)


def check_share(name: str, value: Any) -> None:
    """Refuse what is no number from 0 on."""
    require(type(value) in (int, float) and 0 <= value < np.inf, f"{name} is no number from 0 on")


def check_parameters(estimator: BaseEstimator) -> None:
    """Refuse parameters that are no plain values; what is out of range is refused by `fit`."""
    plain = (type(None), bool, int, float, str, type, np.generic, GradientTraining)
    for name, value in estimator.get_params(deep=False).items():
        if type(value) is Features:
            check_parameters(value)
            continue
        values = value.values() if type(value) is dict else value if isinstance(value, (list, tuple)) else (value,)
        require(all(isinstance(v, plain) for v in values), f"parameter {name} is no plain value")


def check_features(estimator: TableEstimator) -> int:
    """Refuse features that do not transform rows of the estimator's columns; return how many columns they make."""
    features = estimator.features_
    out = features.feature_names_out_
    require(type(out) is list and all(isinstance(name, str) for name in out), "feature_names_out_ is no list of text")
    if isinstance(features, SparseFeatures):
        columns = len(out)
        for name in ("low_", "high_", "scale_"):
            check_shape(name, vars(features)[name], (columns,))
    else:
        require(type(features) is Features, f"features_ is of type {type(features).__name__}")
        columns = check_table_features(features)
    require(type(estimator.n_features_in_) is int and estimator.n_features_in_ == columns, "n_features_in_ is wrong")
    names = estimator.names_in
    if names is not None:
        good = isinstance(names, np.ndarray) and names.shape == (columns,) and all(isinstance(n, str) for n in names)
        require(good, "feature_names_in_ does not name each column")
    return len(out)


def check_table_features(features: Features) -> int:
    """Refuse what does not transform a table; return how many columns that has."""
    names, categorical, encoded = features.names_in_, features.categorical_, features.encoded_
    require(type(names) is tuple and all(isinstance(name, str) for name in names), "names_in_ is no tuple of text")
    for positions in (categorical, encoded, features.dates_):
        good = type(positions) is tuple and all(type(i) is int and 0 <= i < len(names) for i in positions)
        require(good, "there are no such categories")
    text = set(categorical)
    require(text.issuperset(encoded), "there are no such categories")
    numeric = tuple(i for i in range(len(names)) if i not in text)
    require(features.kind in KINDS, "the kind of features is unknown")
    varying, flagged, kept = features.varying_, features.flagged_, features.kept_
    for name, chosen in (("varying_", varying), ("flagged_", flagged)):
        check_shape(name, chosen, (np.size(chosen),), whole=True)
        require(all(0 <= i < len(numeric) for i in chosen.tolist()), f"{name} lies outside of the table")
    check_shape("kept_", kept, varying.shape, whole=True)
    require(kept.tolist() == [numeric[i] for i in varying], "kept_ are not the columns that vary")
    for name in ("low_", "high_"):
        check_shape(name, vars(features)[name], (len(numeric),))
    check_training_range(features, len(numeric))
    check_share("the margin of features_", features.margin)
    check_ramps(features.ramps_, len(varying))
    kinds = {
        "imputer_": (type(None), find_class("sklearn.SimpleImputer")),
        "shaper_": (type(None), *map(find_class, ("sklearn.PowerTransformer", "sklearn.QuantileTransformer"))),
        "scaler_": (find_class("sklearn.StandardScaler"),),
        "encoder_": (find_class("sklearn.OneHotEncoder") if encoded else type(None),),
    }
    for name, allowed in kinds.items():
        part = vars(features)[name]
        require(type(part) in allowed, f"{name} is of type {type(part).__name__}")
        if isinstance(part, BaseEstimator):
            check_parameters(part)
    known = check_encoder(features.encoder_, len(encoded)) if encoded else []
    check_transformed(features, numeric, dict(zip(encoded, known, strict=True)))
    waves = [value for _, *numbers in features.waves_ for value in numbers]
    require(bool(np.isfinite(waves).all()), "a step of an input has no finite numbers")
    if features.mean_ is not None:
        check_shape("mean_", features.mean_, (len(features.feature_names_out_),))
    return len(names)


def check_training_range(features: Features, numeric: int) -> None:
    """Refuse ranges of other columns; files of earlier versions have none."""
    for name, ends in (("least_", features.least_), ("greatest_", features.greatest_)):
        if ends is not None:
            check_shape(name, ends, (numeric,))
    whole = features.integral_
    good = whole is None or (isinstance(whole, np.ndarray) and whole.dtype == np.bool_ and whole.shape == (numeric,))
    require(good, "integral_ does not tell of each column")


def check_landmarks(estimator: TableEstimator) -> None:
    """Refuse rows of another table; files of earlier versions have none."""
    held, features = estimator.landmarks_, estimator.features_
    if held is None:
        return
    require(type(held) is Landmarks and type(features) is Features, f"landmarks_ is of type {type(held).__name__}")
    rows = np.shape(held.numbers)[:1]
    check_shape("landmarks_", held.numbers, (*rows, len(features.names_in_) - len(features.categorical_)))
    good = type(held.categories) is dict and set(held.categories) == set(features.categorical_)
    require(good, "landmarks_ have other categories")
    for column in held.categories.values():
        good = isinstance(column, np.ndarray) and column.shape == rows
        require(good and all(v is None or isinstance(v, str) for v in column), "landmarks_ have other categories")


def check_ramps(ramps: Any, columns: int) -> None:
    """Refuse ramps over other columns than those that vary."""
    if ramps is None:
        return
    require(type(ramps) is Ramps, f"ramps_ is of type {type(ramps).__name__}")
    count = np.size(ramps.column)
    check_shape("column", ramps.column, (count,), whole=True)
    require(all(0 <= j < columns for j in ramps.column.tolist()), "ramps lie outside of the table")
    for name in ("low", "high", "mean", "scale"):
        check_shape(name, vars(ramps)[name], (count,))


def check_encoder(encoder: Any, columns: int) -> list[Any]:
    """Refuse categories that are no text; return those of each column."""
    known = encoder.categories_
    require(type(known) is list and len(known) == columns, "categories_ do not belong to the columns")
    for values in known:
        good = isinstance(values, np.ndarray) and values.ndim == 1 and values.size > 0
        require(good and all(v is None or isinstance(v, str) for v in values), "categories_ are no text")
    # The encoder takes memory for as many columns as it says that it has.
    widths = [len(values) for values in known]
    require(vars(encoder)["_n_features_outs"] == widths, "there are more columns than categories")
    return known


def check_transformed(features: Features, numeric: tuple[int, ...], known: dict[int, Any]) -> None:
    """Refuse features that do not make the columns they name from rows within their range."""
    # A scale of the wrong shape could fit one number of rows by chance.
    for n in (2, 3):
        numbers = np.tile(features.low_, (n, 1))
        if features.missing == "impute":
            numbers[1] = np.nan
        categories = {i: np.repeat(np.array(values[:1], dtype=object), n) for i, values in known.items()}
        table = Table(numbers, categories, numeric, features.names_in_)
        with warnings.catch_warnings(action="ignore"):
            rows = features.transform_table(table)
        check_shape("the transformed table", rows, (n, len(features.feature_names_out_)))


def check_numbers(target: Any) -> int:
    """Refuse scales and ranges of targets that do not fit each other; return how many outputs there are."""
    require(type(target) is NumberTarget and isinstance(target.mean, Tensor), "target_ is none of numbers")
    outputs = target.mean.numel()
    check_tensors(target, dict.fromkeys(("mean", "scale", "low", "high"), (outputs,)))
    require(type(target.flat) is bool and (outputs == 1 or not target.flat), "target_ has another shape")
    check_share("the margin of target_", target.margin)
    loss = target.loss
    require(isinstance(loss, Loss) and loss.answer == "numbers" and loss.settled, "the loss of target_ is none")
    loss.check_outputs(outputs)
    return outputs


def check_classes(target: Any) -> int:
    """Refuse classes that cannot be told apart; return how many outputs there are."""
    require(type(target) is ClassTarget, "target_ is none of classes")
    labels = target.labels
    good = isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) >= 2
    require(good and len(set(labels.tolist())) == len(labels), "the classes are not at least two, all different")
    return int(target.outputs)


def check_model(name: str, model: Any, kind: str, dimensions: int, inputs: int, outputs: int) -> None:
    """Refuse a model that does not read what the features make, or does not write what the target is."""
    require(type(model) is find_class(kind), f"{name} is of type {type(model).__name__}")
    has = (len(model.batch_shape), model.in_features, model.out_features)
    require(has == (dimensions, inputs, outputs), f"{name} maps {has[1]} to {has[2]}, not {inputs} to {outputs}")
    weights = model.tensors() if isinstance(model, LadderPolynomial) else model.state_dict()
    require(all(t.dtype == torch.float64 for t in weights.values()), f"{name} must be float64")


def check_support(estimator: TableEstimator) -> None:
    """Refuse the support of other ladders than the members."""
    held, members = estimator.support_, estimator.members_
    require(type(held) is find_class("Support") and type(held.count) is int, "support_ is none")
    square = (len(members), members.hidden[-1] + 1, members.hidden[-1] + 1)
    check_tensors(held, {"factor": square, "largest": square[:1]})


def check_posterior(posterior: Any, inputs: int, outputs: int) -> None:
    """Refuse draws whose parts do not belong to each other."""
    require(type(posterior) is find_class("Posterior"), f"posterior_ is of type {type(posterior).__name__}")
    check_model("posterior_.weights", posterior.weights, "LadderPolynomial", 1, inputs, outputs)
    draws = len(posterior.weights)
    require(type(posterior.chains) is int and posterior.chains >= 1, "chains is no number of chains")
    require(draws % posterior.chains == 0, "the chains have different lengths")
    slopes = 2 * inputs if isinstance(posterior.slopes, Tensor) and posterior.slopes.numel() else 0
    each = (draws, outputs)
    check_tensors(posterior, {"noise": each, "degrees": each, "slopes": (*each, slopes)})
    require(type(posterior.precision) is tuple, "precision is no tuple")
    good = all(isinstance(t, Tensor) and t.dim() == 2 and len(t) == draws for t in posterior.precision)
    require(good, "precision has other draws")
