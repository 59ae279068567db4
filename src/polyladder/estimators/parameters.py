"""Checks of estimators' parameters, in scikit-learn's words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, NoReturn

from sklearn.utils import check_random_state


def check_number(
    estimator: object,
    name: str,
    kind: type,
    low: float,
    *names: str | bool,
    open_low: bool = False,
    below: float = math.inf,
) -> None:
    """Refuse a parameter that is neither a number from ``low`` to ``below`` nor one of the names."""
    value = parameter(estimator, name)
    if isinstance(value, str | bool) and value in names:
        return
    numeric = Integral if kind is int else Real
    good = isinstance(value, numeric) and not isinstance(value, bool)
    if not good or not (value > low if open_low else value >= low) or not value < below:
        words = f"{'an int' if kind is int else 'a float'} in the range {'(' if open_low else '['}{low:g}, {below:g})"
        refuse(estimator, name, words + "".join(f" or {other!r}" for other in names))


def parameter(estimator: object, name: str) -> Any:
    """A parameter by its name. ``get_params`` would inspect the constructor every time, for 0.1 milliseconds."""
    return getattr(estimator, name)


def check_choice(estimator: object, name: str, choices: Iterable[str]) -> None:
    """Refuse a parameter that is not one of the given names."""
    listed = list(choices)
    value = parameter(estimator, name)
    if not isinstance(value, str) or value not in listed:
        refuse(estimator, name, f"a str among {{{', '.join(map(repr, listed))}}}")


def refuse(estimator: object, name: str, words: str) -> NoReturn:
    """Refuse a parameter: ``words`` say what it must be."""
    value = parameter(estimator, name)
    raise ValueError(f"The {name!r} parameter of {type(estimator).__name__} must be {words}. Got {value!r} instead.")


def seeds_from(random_state: Any, count: int) -> list[int]:
    """Seeds for ``count`` models from scikit-learn's ``random_state``."""
    return [int(s) for s in check_random_state(random_state).randint(0, 2**31 - 1, size=count)]
