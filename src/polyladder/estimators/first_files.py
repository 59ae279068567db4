"""What earlier files held that is held otherwise now, or not at all. Frozen: these are texts in files."""

from __future__ import annotations

from typing import Any

from polyladder.estimators.targets import ClassTarget, NumberTarget

OLD_NAMES = {
    "polyladder.data.features.Features": "Features",
    "polyladder.data.sparse_features.SparseFeatures": "SparseFeatures",
    "polyladder.estimators.bayesian.BayesianLPNNClassifier": "BayesianLPNNClassifier",
    "polyladder.estimators.bayesian.BayesianLPNNRegressor": "BayesianLPNNRegressor",
    "polyladder.estimators.bayesian.Diagnostics": "Diagnostics",
    "polyladder.estimators.bayesian.Posterior": "Posterior",
    "polyladder.estimators.factorization_machine.FactorizationMachineClassifier": "FactorizationMachineClassifier",
    "polyladder.estimators.factorization_machine.FactorizationMachineRegressor": "FactorizationMachineRegressor",
    "polyladder.estimators.feedforward.FeedforwardClassifier": "FeedforwardClassifier",
    "polyladder.estimators.feedforward.FeedforwardRegressor": "FeedforwardRegressor",
    "polyladder.estimators.ladder.LPNNClassifier": "LPNNClassifier",
    "polyladder.estimators.ladder.LPNNRegressor": "LPNNRegressor",
    "polyladder.estimators.ladder.Support": "Support",
    "polyladder.estimators.polynomial_kernel.PolynomialKernelClassifier": "PolynomialKernelClassifier",
    "polyladder.estimators.polynomial_kernel.PolynomialKernelRegressor": "PolynomialKernelRegressor",
    "polyladder.models.factorization_machine.FactorizationMachine": "FactorizationMachine",
    "polyladder.models.feedforward.Feedforward": "Feedforward",
    "polyladder.models.polynomial_kernel.PolynomialKernel": "PolynomialKernel",
    "polyladder.polynomial.ladder.LadderPolynomial": "LadderPolynomial",
    "polyladder.training.growth.Growth": "Growth",
}
"""Classes by where they lived then, and their registered names."""

OLD_ATTRIBUTES = {"_support": "support_", "_varying": "varying_", "_encoded": "encoded_"}
"""Attributes that have other names now."""

SCALES = ("target_mean_", "target_scale_", "target_low_", "target_high_", "_flat_target")
"""What is a `NumberTarget` now."""

MADE = {"LPNNRegressor": "polynomial_", "LPNNClassifier": "polynomial_", "Support": "gram"}
"""Attributes, by the registered name of their class, that are made from others now."""


def as_now(class_name: str, state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of an object as its class has them now; ``class_name`` is what the file calls the class."""
    made = MADE.get(OLD_NAMES.get(class_name, class_name))
    if made in state:
        state = {name: value for name, value in state.items() if name != made}
    if class_name not in OLD_NAMES:
        return state
    renamed = {OLD_ATTRIBUTES.get(name, name): value for name, value in state.items()}
    if "features_" in renamed:
        renamed.pop("categorical_", None)
    if "_encoder" in renamed:
        del renamed["_encoder"]
        renamed["target_"] = ClassTarget(renamed.pop("classes_"))
    if set(SCALES) <= set(renamed):
        renamed["target_"] = NumberTarget(*(renamed.pop(name) for name in SCALES))
    return renamed
