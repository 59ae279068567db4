"""Ladder polynomial neural networks (arXiv 2106.13834): polynomials that train like networks and are exact to read."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyladder.analysis.attribution import integrated_gradients as integrated_gradients
    from polyladder.analysis.attribution import interactions as interactions
    from polyladder.analysis.coefficients import coefficients as coefficients
    from polyladder.analysis.jacobian import hessian_vector_product as hessian_vector_product
    from polyladder.analysis.jacobian import jacobian as jacobian
    from polyladder.analysis.line import line_polynomial as line_polynomial
    from polyladder.analysis.lipschitz import lipschitz_bound as lipschitz_bound
    from polyladder.analysis.lipschitz import output_bound as output_bound
    from polyladder.analysis.moments import GaussianWeights as GaussianWeights
    from polyladder.analysis.moments import output_moments as output_moments
    from polyladder.analysis.tensor_train import tensor_train as tensor_train
    from polyladder.convert.factorization_machine import from_factorization_machine as from_factorization_machine
    from polyladder.convert.formula import to_sympy as to_sympy
    from polyladder.convert.polynomial_kernel import from_polynomial_kernel as from_polynomial_kernel
    from polyladder.models.batched import stack as stack
    from polyladder.models.ladder import LPNN as LPNN
    from polyladder.models.merge import merge as merge
    from polyladder.polynomial.absorb import absorb as absorb
    from polyladder.polynomial.ladder import LadderPolynomial as LadderPolynomial
    from polyladder.polynomial.shallower import shallower as shallower
    from polyladder.polynomial.store import load as load
    from polyladder.polynomial.widen import widen as widen

__version__ = "0.1.0"

# Names resolve on first use, so that `import polyladder` and `polyladder --help` do not pay for torch.
_HOME = {
    "GaussianWeights": "analysis.moments",
    "LPNN": "models.ladder",
    "LadderPolynomial": "polynomial.ladder",
    "absorb": "polynomial.absorb",
    "coefficients": "analysis.coefficients",
    "from_factorization_machine": "convert.factorization_machine",
    "from_polynomial_kernel": "convert.polynomial_kernel",
    "hessian_vector_product": "analysis.jacobian",
    "integrated_gradients": "analysis.attribution",
    "interactions": "analysis.attribution",
    "jacobian": "analysis.jacobian",
    "line_polynomial": "analysis.line",
    "lipschitz_bound": "analysis.lipschitz",
    "load": "polynomial.store",
    "merge": "models.merge",
    "output_bound": "analysis.lipschitz",
    "output_moments": "analysis.moments",
    "shallower": "polynomial.shallower",
    "stack": "models.batched",
    "tensor_train": "analysis.tensor_train",
    "to_sympy": "convert.formula",
    "widen": "polynomial.widen",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'polyladder' has no attribute {name!r}")
    value = getattr(import_module(f"polyladder.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
