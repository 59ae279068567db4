"""How estimators take gradient steps: one value, and the keywords of version 0.1 that said the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from polyladder.estimators.parameters import check_number, parameter, refuse
from polyladder.renamed import say_to_caller


@dataclass(frozen=True)
class GradientTraining:
    """How an estimator takes gradient steps. Its epochs and L2 weight are its own ``max_iter`` and ``alpha``.

    Parameters
    ----------
    learning_rate : float > 0, default=5e-3
        Of Adam, at the start; it falls to 0 over all epochs.
    batch_size : int or "auto", default="auto"
        Rows of a step. "auto" is 32, from 1,000 rows on 128, from 20,000 sparse rows on 1,024. Where
        ``order="auto"`` trains on many rows of classes it is 64 to 512.
    dropout : float in [0, 1), default=0.1
        Rate after each layer.
    batch_norm : bool, default=True
        Whether each layer is followed by batch norm.
    validation_fraction : float in [0, 1), default=0
        Rows held out to keep the best epoch and stop early.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import GradientTraining, LPNNRegressor
    >>> X, y = make_friedman1(100, random_state=0)
    >>> steps = GradientTraining(learning_rate=2e-2, dropout=0.0)
    >>> model = LPNNRegressor(order=3, width=16, solver="adam", gradient=steps, max_iter=20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    learning_rate: float = 5e-3
    batch_size: int | Literal["auto"] = "auto"
    dropout: float = 0.1
    batch_norm: bool = True
    validation_fraction: float = 0.0

    def __post_init__(self) -> None:
        check_steps(self, SETTINGS)


SETTINGS = tuple(field.name for field in fields(GradientTraining))
"""What there is to settle; of the same names were parameters of estimators in version 0.1."""


def check_steps(owner: object, names: Iterable[str]) -> None:
    """Refuse settings of gradient steps that are out of range.

    Args:
        owner: an estimator, or the settings themselves.
        names: of the settings that it has.
    """
    for name in names:
        match name:
            case "learning_rate":
                check_number(owner, name, float, 0.0, open_low=True)
            case "batch_size":
                check_number(owner, name, int, 1, "auto")
            case "batch_norm":
                if parameter(owner, name) not in (True, False):
                    refuse(owner, name, "True or False")
            case _:
                check_number(owner, name, float, 0.0, below=1.0)


def old_settings(estimator: object) -> dict[str, Any]:
    """The keywords of version 0.1 that say something else than is usual; files of that version hold all of them."""
    usual = GradientTraining()
    held = {name: parameter(estimator, name) for name in SETTINGS}
    return {name: value for name, value in held.items() if value is not None and value != parameter(usual, name)}


def check_gradient(estimator: object, gradient: GradientTraining | None) -> None:
    """Refuse settings that are none or are given twice, and say how those of version 0.1 are written now."""
    name, old = type(estimator).__name__, old_settings(estimator)
    if gradient is not None and not isinstance(gradient, GradientTraining):
        refuse(estimator, "gradient", "a GradientTraining or None")
    check_steps(estimator, old)
    if not old:
        return
    written = f"gradient=GradientTraining({', '.join(f'{key}={value!r}' for key, value in old.items())})"
    if gradient is not None:
        raise ValueError(f"{' and '.join(old)} of {name} must be given within gradient alone; got both.")
    say_to_caller(f"{' and '.join(old)} of {name} moved: write {written}.")


def steps_of(estimator: object, gradient: GradientTraining | None) -> GradientTraining:
    """How an estimator takes gradient steps."""
    return replace(gradient or GradientTraining(), **old_settings(estimator))
