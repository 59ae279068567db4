"""Ladder polynomial neural networks (arXiv 2106.13834): polynomials that train like networks and are exact to read."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyladder.analysis.attribution import integrated_gradients as integrated_gradients
    from polyladder.analysis.attribution import interactions as interactions
    from polyladder.analysis.coefficients import coefficients as coefficients
    from polyladder.analysis.feedforward_coefficients import feedforward_coefficients as feedforward_coefficients
    from polyladder.analysis.jacobian import hessian_vector_product as hessian_vector_product
    from polyladder.analysis.jacobian import jacobian as jacobian
    from polyladder.analysis.line import line_polynomial as line_polynomial
    from polyladder.analysis.lipschitz import lipschitz_bound as lipschitz_bound
    from polyladder.analysis.lipschitz import output_bound as output_bound
    from polyladder.analysis.moments import GaussianWeights as GaussianWeights
    from polyladder.analysis.moments import output_moments as output_moments
    from polyladder.analysis.tensor_train import tensor_train as tensor_train
    from polyladder.automatic.card import half_width as half_width
    from polyladder.automatic.card import make_card as make_card
    from polyladder.automatic.fit_large import fit_large_table as fit_large_table
    from polyladder.automatic.fit_table import fit_table as fit_table
    from polyladder.cli.printable import make_console as make_console
    from polyladder.convert.encrypted.client import ClientRecipe as ClientRecipe
    from polyladder.convert.factorization_machine import from_factorization_machine as from_factorization_machine
    from polyladder.convert.onnx.teacher import OnnxTeacher as OnnxTeacher
    from polyladder.convert.polynomial_kernel import from_polynomial_kernel as from_polynomial_kernel
    from polyladder.estimators.batch.grid_search import BatchedGridSearchCV as BatchedGridSearchCV
    from polyladder.estimators.bayesian import BayesianLPNNClassifier as BayesianLPNNClassifier
    from polyladder.estimators.bayesian import BayesianLPNNRegressor as BayesianLPNNRegressor
    from polyladder.estimators.compress import compress as compress
    from polyladder.estimators.gradient_training import GradientTraining as GradientTraining
    from polyladder.estimators.ladder import LPNNClassifier as LPNNClassifier
    from polyladder.estimators.ladder import LPNNRegressor as LPNNRegressor
    from polyladder.estimators.onnx_pipeline import register_onnx_converters as register_onnx_converters
    from polyladder.estimators.rivals.factorization_machine import (
        FactorizationMachineClassifier as FactorizationMachineClassifier,
    )
    from polyladder.estimators.rivals.factorization_machine import (
        FactorizationMachineRegressor as FactorizationMachineRegressor,
    )
    from polyladder.estimators.rivals.feedforward import FeedforwardClassifier as FeedforwardClassifier
    from polyladder.estimators.rivals.feedforward import FeedforwardRegressor as FeedforwardRegressor
    from polyladder.estimators.rivals.polynomial_kernel import PolynomialKernelClassifier as PolynomialKernelClassifier
    from polyladder.estimators.rivals.polynomial_kernel import PolynomialKernelRegressor as PolynomialKernelRegressor
    from polyladder.explain.curve import column_pieces as column_pieces
    from polyladder.explain.explanation import Explanation as Explanation
    from polyladder.export.encrypted import encrypt as encrypt
    from polyladder.export.formula import formula as formula
    from polyladder.export.formula import to_sympy as to_sympy
    from polyladder.export.onnx_model import to_onnx as to_onnx
    from polyladder.export.source import to_source as to_source
    from polyladder.files.outputs import check_output as check_output
    from polyladder.files.replace_file import write_atomically as write_atomically
    from polyladder.fitted.features import Features as Features
    from polyladder.fitted.model import FittedModel as FittedModel
    from polyladder.fitted.model import fitted_model as fitted_model
    from polyladder.models.batched import BatchedModule as BatchedModule
    from polyladder.models.batched import stack as stack
    from polyladder.models.factorization_machine import FactorizationMachine as FactorizationMachine
    from polyladder.models.feedforward import Feedforward as Feedforward
    from polyladder.models.initial import draw_normal as draw_normal
    from polyladder.models.ladder import LPNN as LPNN
    from polyladder.models.merge import merge as merge
    from polyladder.models.polynomial_kernel import PolynomialKernel as PolynomialKernel
    from polyladder.polynomial.absorb import absorb as absorb
    from polyladder.polynomial.ladder import LadderPolynomial as LadderPolynomial
    from polyladder.polynomial.ladder import product_activation as product_activation
    from polyladder.polynomial.shallower import shallower as shallower
    from polyladder.polynomial.store import load as load
    from polyladder.polynomial.widen import lengthen as lengthen
    from polyladder.polynomial.widen import widen as widen
    from polyladder.predictive.calibration import class_reliability as class_reliability
    from polyladder.predictive.calibration import coverage as coverage
    from polyladder.predictive.calibration import crps_draws as crps_draws
    from polyladder.predictive.calibration import crps_gaussian as crps_gaussian
    from polyladder.predictive.calibration import crps_mixture as crps_mixture
    from polyladder.predictive.calibration import draw_levels as draw_levels
    from polyladder.predictive.calibration import expected_calibration_error as expected_calibration_error
    from polyladder.predictive.calibration import gaussian_levels as gaussian_levels
    from polyladder.predictive.calibration import interval_reliability as interval_reliability
    from polyladder.predictive.calibration import mixture_levels as mixture_levels
    from polyladder.predictive.calibration import mixture_log_likelihood as mixture_log_likelihood
    from polyladder.predictive.calibration import predictive_reliability as predictive_reliability
    from polyladder.predictive.calibration import quantile_reliability as quantile_reliability
    from polyladder.predictive.class_predictive import ClassPredictive as ClassPredictive
    from polyladder.predictive.diagnostics import effective_sample_size as effective_sample_size
    from polyladder.predictive.diagnostics import split_rhat as split_rhat
    from polyladder.predictive.diagnostics import to_arviz as to_arviz
    from polyladder.predictive.mixture_predictive import MixturePredictive as MixturePredictive
    from polyladder.predictive.predictive import Predictive as Predictive
    from polyladder.predictive.student import StudentPredictive as StudentPredictive
    from polyladder.report.calibration import plot_calibration as plot_calibration
    from polyladder.report.display import plot_curve as plot_curve
    from polyladder.report.display import plot_order_path as plot_order_path
    from polyladder.report.display import plot_pair as plot_pair
    from polyladder.report.display import plot_predictions as plot_predictions
    from polyladder.report.display import plot_residuals as plot_residuals
    from polyladder.report.display import plot_trace as plot_trace
    from polyladder.report.notebook import curve_grid as curve_grid
    from polyladder.report.page import write_report as write_report
    from polyladder.report.robustness import plot_robustness as plot_robustness
    from polyladder.robustness.attack import attack as attack
    from polyladder.robustness.certify import certified_radius as certified_radius
    from polyladder.robustness.certify import certify as certify
    from polyladder.robustness.curve import robustness_curve as robustness_curve
    from polyladder.robustness.feasible import Rules as Rules
    from polyladder.robustness.margins import certify_margins as certify_margins
    from polyladder.robustness.module import to_module as to_module
    from polyladder.robustness.old_names import attack_table as attack_table
    from polyladder.robustness.old_names import optimize_table as optimize_table
    from polyladder.robustness.optimize import maximize as maximize
    from polyladder.robustness.optimize import minimize as minimize
    from polyladder.training.bayes.gibbs import sample_gibbs as sample_gibbs
    from polyladder.training.bayes.moments import fit_moments as fit_moments
    from polyladder.training.bayes.variational import fit_variational as fit_variational
    from polyladder.training.gradient.robust import Robust as Robust
    from polyladder.training.gradient.train import Adam as Adam
    from polyladder.training.gradient.train import train as train
    from polyladder.training.losses.huber import Huber as Huber
    from polyladder.training.partitions.fit import fit_partitions as fit_partitions
    from polyladder.training.partitions.gibbs import sample_partitions as sample_partitions
    from polyladder.training.rivals.fit import fit_kernel as fit_kernel
    from polyladder.training.rivals.fit import fit_machine as fit_machine
    from polyladder.training.solves.alternating import fit_alternating as fit_alternating
    from polyladder.training.solves.alternating import random_start as random_start
    from polyladder.training.solves.growth import grow as grow

__version__ = "0.2.0.dev0"

# Names resolve on first use, so that `import polyladder` and `polyladder --help` do not pay for torch.
_HOME = {
    "Adam": "training.gradient.train",
    "BatchedGridSearchCV": "estimators.batch.grid_search",
    "BatchedModule": "models.batched",
    "BayesianLPNNClassifier": "estimators.bayesian",
    "BayesianLPNNRegressor": "estimators.bayesian",
    "ClassPredictive": "predictive.class_predictive",
    "ClientRecipe": "convert.encrypted.client",
    "Explanation": "explain.explanation",
    "FactorizationMachine": "models.factorization_machine",
    "FactorizationMachineClassifier": "estimators.rivals.factorization_machine",
    "FactorizationMachineRegressor": "estimators.rivals.factorization_machine",
    "Features": "fitted.features",
    "Feedforward": "models.feedforward",
    "FeedforwardClassifier": "estimators.rivals.feedforward",
    "FeedforwardRegressor": "estimators.rivals.feedforward",
    "FittedModel": "fitted.model",
    "GaussianWeights": "analysis.moments",
    "GradientTraining": "estimators.gradient_training",
    "Huber": "training.losses.huber",
    "LPNN": "models.ladder",
    "LPNNClassifier": "estimators.ladder",
    "LPNNRegressor": "estimators.ladder",
    "LadderPolynomial": "polynomial.ladder",
    "MixturePredictive": "predictive.mixture_predictive",
    "OnnxTeacher": "convert.onnx.teacher",
    "PolynomialKernel": "models.polynomial_kernel",
    "PolynomialKernelClassifier": "estimators.rivals.polynomial_kernel",
    "PolynomialKernelRegressor": "estimators.rivals.polynomial_kernel",
    "Predictive": "predictive.predictive",
    "Robust": "training.gradient.robust",
    "Rules": "robustness.feasible",
    "StudentPredictive": "predictive.student",
    "absorb": "polynomial.absorb",
    "attack": "robustness.attack",
    "attack_table": "robustness.old_names",
    "certified_radius": "robustness.certify",
    "certify": "robustness.certify",
    "certify_margins": "robustness.margins",
    "check_output": "files.outputs",
    "class_reliability": "predictive.calibration",
    "coefficients": "analysis.coefficients",
    "column_pieces": "explain.curve",
    "compress": "estimators.compress",
    "coverage": "predictive.calibration",
    "crps_draws": "predictive.calibration",
    "crps_gaussian": "predictive.calibration",
    "crps_mixture": "predictive.calibration",
    "curve_grid": "report.notebook",
    "draw_levels": "predictive.calibration",
    "draw_normal": "models.initial",
    "effective_sample_size": "predictive.diagnostics",
    "encrypt": "export.encrypted",
    "expected_calibration_error": "predictive.calibration",
    "feedforward_coefficients": "analysis.feedforward_coefficients",
    "fit_alternating": "training.solves.alternating",
    "fit_kernel": "training.rivals.fit",
    "fit_large_table": "automatic.fit_large",
    "fit_machine": "training.rivals.fit",
    "fit_moments": "training.bayes.moments",
    "fit_partitions": "training.partitions.fit",
    "fit_table": "automatic.fit_table",
    "fit_variational": "training.bayes.variational",
    "fitted_model": "fitted.model",
    "formula": "export.formula",
    "from_factorization_machine": "convert.factorization_machine",
    "from_polynomial_kernel": "convert.polynomial_kernel",
    "gaussian_levels": "predictive.calibration",
    "grow": "training.solves.growth",
    "half_width": "automatic.card",
    "hessian_vector_product": "analysis.jacobian",
    "integrated_gradients": "analysis.attribution",
    "interactions": "analysis.attribution",
    "interval_reliability": "predictive.calibration",
    "jacobian": "analysis.jacobian",
    "lengthen": "polynomial.widen",
    "line_polynomial": "analysis.line",
    "lipschitz_bound": "analysis.lipschitz",
    "load": "polynomial.store",
    "make_card": "automatic.card",
    "make_console": "cli.printable",
    "maximize": "robustness.optimize",
    "merge": "models.merge",
    "minimize": "robustness.optimize",
    "mixture_levels": "predictive.calibration",
    "mixture_log_likelihood": "predictive.calibration",
    "optimize_table": "robustness.old_names",
    "output_bound": "analysis.lipschitz",
    "output_moments": "analysis.moments",
    "plot_calibration": "report.calibration",
    "plot_curve": "report.display",
    "plot_order_path": "report.display",
    "plot_pair": "report.display",
    "plot_predictions": "report.display",
    "plot_residuals": "report.display",
    "plot_robustness": "report.robustness",
    "plot_trace": "report.display",
    "product_activation": "polynomial.ladder",
    "predictive_reliability": "predictive.calibration",
    "quantile_reliability": "predictive.calibration",
    "random_start": "training.solves.alternating",
    "register_onnx_converters": "estimators.onnx_pipeline",
    "robustness_curve": "robustness.curve",
    "sample_gibbs": "training.bayes.gibbs",
    "sample_partitions": "training.partitions.gibbs",
    "shallower": "polynomial.shallower",
    "split_rhat": "predictive.diagnostics",
    "stack": "models.batched",
    "tensor_train": "analysis.tensor_train",
    "to_arviz": "predictive.diagnostics",
    "to_module": "robustness.module",
    "to_onnx": "export.onnx_model",
    "to_source": "export.source",
    "to_sympy": "export.formula",
    "train": "training.gradient.train",
    "widen": "polynomial.widen",
    "write_atomically": "files.replace_file",
    "write_report": "report.page",
}

# Names that live in the laboratory since 0.2.
_MOVED = ("catalog", "load_dataset")

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name in _MOVED:
        from warnings import warn

        warn(f"polyladder.{name} is now polyladder_lab.{name}; import it from there.", DeprecationWarning, stacklevel=2)
        return getattr(import_module("polyladder_lab"), name)
    if name not in _HOME:
        raise AttributeError(f"module 'polyladder' has no attribute {name!r}")
    value = getattr(import_module(f"polyladder.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
