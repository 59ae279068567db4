"""Parameters of ladders that a fit would not read are refused: nothing that is asked for is ignored without a word.

What depends on the rows alone, as on how many there are, is no reason to refuse.
"""

from __future__ import annotations

import warnings
from functools import cache
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator, is_classifier, is_regressor

from polyladder.estimators.gradient_training import old_settings
from polyladder.estimators.parameters import parameter


def refuse_idle(estimator: BaseEstimator, where: str, ways: dict[str, str]) -> None:
    """Refuse parameters that have not their defaults.

    Args:
        estimator: whose fit would not read them.
        where: when that is so, and why.
        ways: for each of the parameters, what to do instead of leaving it out.
    """
    usual = defaults(type(estimator))  # type: ignore[arg-type] # mypy knows no classes of scikit-learn
    for name, way in ways.items():
        value = parameter(estimator, name)
        if value != usual[name]:
            raise ValueError(f"{name} must be {usual[name]!r} {where}; got {value!r}. {way}, or leave {name} out.")


@cache
def defaults(kind: type[BaseEstimator]) -> dict[str, Any]:
    """The defaults of an estimator's parameters."""
    return {name: each.default for name, each in signature(kind).parameters.items()}


def gradient_given(estimator: BaseEstimator, way: str) -> dict[str, str]:
    """The ways out for settings of gradient steps; keywords of version 0.1 only where they say something unusual."""
    return dict.fromkeys(["gradient", *old_settings(estimator)], way)


def refuse_idle_of_all(estimator: BaseEstimator) -> None:
    """Refuse what no fit by these parameters reads."""
    order, solver = parameter(estimator, "order"), parameter(estimator, "solver")
    if solver == "alternating":
        where = "with solver='alternating', which takes no gradient steps"
        refuse_idle(estimator, where, gradient_given(estimator, "Use solver='adam'"))
    if solver == "adam":
        auto = "Use solver='auto'"
        ways = {"tol": "Use max_iter", "max_seconds": "Use max_iter", "effort": auto, "compact": auto}
        refuse_idle(estimator, "with solver='adam', which takes max_iter epochs of gradient steps", ways)
    if order != "auto":
        ways = dict.fromkeys(("effort", "compact"), "Use order='auto'")
        if is_regressor(estimator):
            ways["calibrate_by"] = "Use order='auto', or calibrate(X, y, by=...)"
        refuse_idle(estimator, "where an order is given and nothing is selected", ways)


def refuse_idle_of_selections(estimator: BaseEstimator) -> None:
    """Refuse what no selection of dense rows reads."""
    refuse_idle(estimator, "with order='auto', which starts anew", {"warm_start": "Give an order"})
    if not is_classifier(estimator):
        # Sparse rows would be trained by them, so that one estimator may be right for both: it is said, not refused.
        unread = [name for name in ["gradient", *old_settings(estimator)] if parameter(estimator, name) is not None]
        if unread:
            warnings.warn(
                f"{unread[0]} has no effect on dense rows with order='auto', which selects among numbers without "
                f"gradient steps. Use solver='adam', or leave {unread[0]} out.",
                UserWarning,
                stacklevel=5,
            )
    elif parameter(estimator, "solver") == "auto":
        where = "with order='auto', which selects among classes without block solves"
        refuse_idle(estimator, where, {"tol": "Use solver='alternating'"})


def refuse_idle_of_parts(estimator: BaseEstimator) -> None:
    """Refuse what no fit to rows in parts reads."""
    rows = "Fit to rows in memory"
    ways = {"tol": "Use max_iter", "max_seconds": "Use max_iter", "warm_start": rows, "effort": rows, "compact": rows}
    where = "for rows in parts, which are fitted anew by a few sweeps of block solves"
    refuse_idle(estimator, where, ways | gradient_given(estimator, rows))
    if parameter(estimator, "solver") == "adam":
        raise ValueError(f"solver must be 'auto' or 'alternating' for rows in parts; got 'adam'. {rows}.")
