"""The classes that a saved estimator may hold, under names that stay the same wherever the classes move."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from polyladder.estimators.first_files import OLD_NAMES
from polyladder.training.losses import LOSSES

CLASSES = {
    "Affine": "polyladder.fitted.steps.affine",
    "BayesianLPNNClassifier": "polyladder.estimators.bayesian",
    "BayesianLPNNRegressor": "polyladder.estimators.bayesian",
    "Blank": "polyladder.fitted.steps.blank",
    "Calibrated": "polyladder.predictive.conformal",
    "Candidate": "polyladder.estimators.selection.found",
    "ClassTarget": "polyladder.estimators.targets",
    "Clip": "polyladder.fitted.steps.clip",
    "Diagnostics": "polyladder.estimators.posterior",
    "FactorizationMachine": "polyladder.models.factorization_machine",
    "FactorizationMachineClassifier": "polyladder.estimators.rivals.factorization_machine",
    "FactorizationMachineRegressor": "polyladder.estimators.rivals.factorization_machine",
    "Feature": "polyladder.fitted.plan",
    "Features": "polyladder.fitted.features",
    "Feedforward": "polyladder.models.feedforward",
    "FeedforwardClassifier": "polyladder.estimators.rivals.feedforward",
    "FeedforwardRegressor": "polyladder.estimators.rivals.feedforward",
    "Fill": "polyladder.fitted.steps.fill",
    "GradientTraining": "polyladder.estimators.gradient_training",
    "GroupWidths": "polyladder.fitted.spread",
    "Growth": "polyladder.training.solves.growth",
    "LPNNClassifier": "polyladder.estimators.ladder",
    "LPNNRegressor": "polyladder.estimators.ladder",
    "LadderPolynomial": "polyladder.polynomial.ladder",
    "Landmarks": "polyladder.tables.landmarks",
    "NumberTarget": "polyladder.estimators.targets",
    "PolynomialKernel": "polyladder.models.polynomial_kernel",
    "PolynomialKernelClassifier": "polyladder.estimators.rivals.polynomial_kernel",
    "PolynomialKernelRegressor": "polyladder.estimators.rivals.polynomial_kernel",
    "Posterior": "polyladder.estimators.posterior",
    "Ramps": "polyladder.fitted.ramps",
    "Selection": "polyladder.estimators.selection.found",
    "SparseFeatures": "polyladder.tables.sparse_features",
    "Spread": "polyladder.fitted.spread",
    "Support": "polyladder.estimators.support",
    "Thresholds": "polyladder.predictive.conformal",
    "sklearn.LabelEncoder": "sklearn.preprocessing",
    "sklearn.OneHotEncoder": "sklearn.preprocessing",
    "sklearn.PowerTransformer": "sklearn.preprocessing",
    "sklearn.QuantileTransformer": "sklearn.preprocessing",
    "sklearn.SimpleImputer": "sklearn.impute",
    "sklearn.StandardScaler": "sklearn.preprocessing",
} | {type(loss).__name__: type(loss).__module__ for loss in LOSSES.values()}
"""Names of classes in files, and the modules where they live now. A move is entered here and nowhere else."""


class UnknownClassError(Exception):
    """A file names a class that is not known here."""


def find_class(name: object) -> Any:
    """The class that a file names; imported only now, so that loading one estimator does not import all."""
    known = OLD_NAMES.get(name, name) if isinstance(name, str) else None
    if known not in CLASSES:
        raise UnknownClassError(str(name)[:100])
    return getattr(import_module(CLASSES[known]), known.removeprefix("sklearn."))


def name_of(kind: type) -> str | None:
    """The name of a class in files, or None if it may not stand in one."""
    for name in (kind.__name__, f"sklearn.{kind.__name__}"):
        if name in CLASSES and find_class(name) is kind:
            return name
    return None
