"""From a fitted estimator, or a ladder, to the one description that every language renders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from polyladder.automatic.model_rows import model_columns
from polyladder.convert.exported.answers import Answer, Classes, Guard, Numbers, Posterior, Probit
from polyladder.convert.exported.model import ExportedColumn, ExportedModel, Feature, exported_ladder
from polyladder.convert.exported.steps import (
    Affine,
    Blank,
    Clip,
    Fill,
    IsCategory,
    IsMissing,
    Ramp,
    Step,
    YeoJohnson,
    quantile_step,
)
from polyladder.estimators.bayesian import SUREST
from polyladder.estimators.targets import ClassTarget, NumberTarget
from polyladder.explain.columns import Column, scaled
from polyladder.explain.fitted import FittedModel, read_model
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.columns import ColumnKind
from polyladder.tables.features import Features
from polyladder.training.bayes.noise import TILT
from polyladder.training.bayes.probit import NODES

KNOWN = ("standard", "quantile", "yeo-johnson", "piecewise")
"""Kinds of features whose steps are known here; any other must not be exported as if it were one of them."""


def exported(model: Any) -> ExportedModel:
    """The description of a ladder or of a fitted estimator; one that is described already stays as it is.

    Args:
        model: a `LadderPolynomial` (a single one), a fitted estimator with a ladder behind it, or a grid search.
    """
    if isinstance(model, ExportedModel):
        return model
    if isinstance(model, LadderPolynomial):
        return exported_ladder(model)
    fitted = read_model(model)
    kinds = model_columns(fitted.estimator)
    columns = tuple(exported_column(fitted.features, *each) for each in zip(fitted.columns, kinds, strict=True))
    blanks = {i: kind.missing for i, kind in enumerate(kinds) if kind.missing is not None}
    features = tuple(blanked(feature, blanks) for feature in features_of(fitted.features, fitted.columns))
    assert len(features) == fitted.ladders.in_features
    return ExportedModel(columns, features, fitted.ladders, answer_of(fitted), fitted.target_name)


def exported_column(features: Features, column: Column, kind: ColumnKind) -> ExportedColumn:
    """A column with what it may hold; a constant one is a number or a text, as it was."""
    written = kind.json()
    if column.kind == "category":
        return ExportedColumn(column.name, "category", column.categories, written=written)
    if column.kind == "constant":
        text = features.names_in_.index(column.name) in features.categorical_
        return ExportedColumn(column.name, "category" if text else "number", written=written)
    low, high = column.held if features.clip else (None, None)
    return ExportedColumn(column.name, "number", (), low, high, written, is_binary(features, column))


def is_binary(features: Features, column: Column) -> bool:
    """Whether training saw 0 and 1, and nothing else as far as is known."""
    if not np.allclose([column.low, column.high], [0.0, 1.0], rtol=0.0) or any(column.counts[1:-1]):
        return False
    low, high = scaled(features, column, np.array([0.0, 1.0]))
    # Of all columns with these ends and this mean, that of nothing else has the largest variance, which is 1 here.
    return bool(-low * high <= 1 + 1e-6)


def blanked(feature: Feature, codes: Mapping[int, float]) -> Feature:
    """The same input with the number that stands for nothing taken out first, where its column has one."""
    code = codes.get(feature.column)
    return feature if code is None else Feature(feature.column, (Blank(code), *feature.steps))


def features_of(features: Features, columns: tuple[Column, ...]) -> tuple[Feature, ...]:
    """The inputs of the ladders, in their order, as steps from the columns."""
    found: dict[int, Feature] = {}
    for i, column in enumerate(columns):
        if column.kind == "numeric":
            found[column.at] = Feature(i, number_steps(features, column))
            if column.flag is not None:
                found[column.flag] = Feature(i, (IsMissing(),))
        elif column.kind == "category":
            for k, category in enumerate(column.categories):
                found[column.at + k] = Feature(i, (IsCategory(category),))
    found |= dict(enumerate(ramp_features(features, columns), len(found)))
    return tuple(found[at] for at in range(len(found)))


def ramp_features(features: Features, columns: tuple[Column, ...]) -> list[Feature]:
    """The ramps of columns of numbers, which stand behind all other inputs."""
    if features.ramps_ is None:
        return []
    owner = {column.at: (i, column) for i, column in enumerate(columns) if column.kind == "numeric"}
    found = []
    r = features.ramps_
    for at, low, high, mean, scale in zip(r.column, r.low, r.high, r.mean, r.scale, strict=True):
        i, column = owner[int(at)]
        steps = (*number_steps(features, column), Ramp(float(low), float(high)), Affine(float(mean), float(scale)))
        found.append(Feature(i, steps))
    return found


def number_steps(features: Features, column: Column) -> tuple[Step, ...]:
    """What `Features` does to a number: fill, hold to the training range, shape, scale."""
    if features.kind not in KNOWN:
        raise ValueError(
            f"features must be one of {', '.join(map(repr, KNOWN))} to be exported; got {features.kind!r}. "
            "Fit with one of them."
        )
    steps: list[Step] = []
    if column.fill is not None:
        steps.append(Fill(column.fill))
    if features.clip:
        steps.append(Clip(*column.held))
    if features.shaper_ is not None and features.kind == "quantile":
        knots = features.shaper_.quantiles_[:, column.at].tolist()
        steps.append(quantile_step(knots, features.shaper_.references_.tolist()))
    elif features.shaper_ is not None:
        steps.append(YeoJohnson(float(features.shaper_.lambdas_[column.at])))
    scaler = features.scaler_
    return (*steps, Affine(float(scaler.mean_[column.at]), float(scaler.scale_[column.at])))


def answer_of(fitted: FittedModel) -> Answer:
    """How the outputs of an estimator's ladders become its predictions."""
    if isinstance(fitted.target, ClassTarget):
        labels = tuple(fitted.target.labels.tolist())
        if fitted.posterior is not None:
            nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
            return Probit(labels, SUREST, nodes, weights / weights.sum())
        apart = fitted.estimator.get_params(deep=False).get("multiclass", "softmax") != "softmax"
        return Classes(labels, "one-versus-rest" if apart and fitted.target.outputs > 1 else "softmax")
    guard: Guard | None = None
    if fitted.guard_range is not None:
        low, high = fitted.guard_range
        guard = (tuple(low.tolist()), tuple(high.tolist()))
    return Numbers(guard) if fitted.posterior is None else posterior_of(fitted, guard)


def posterior_of(fitted: FittedModel, guard: Guard | None) -> Posterior:
    """The noise of every draw, in units of the target."""
    posterior = fitted.posterior
    assert posterior is not None
    assert isinstance(fitted.target, NumberTarget)
    nu = posterior.degrees
    heavier = torch.where(nu.isfinite(), nu / (nu - 2).clamp_min(0.0), 1.0)
    variance = (posterior.noise * fitted.target.scale).square() * heavier
    return Posterior(guard, variance.numpy(), posterior.slopes.numpy(), TILT)
