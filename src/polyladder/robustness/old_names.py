"""Names of version 0.1, which still work in 0.2 and say what they are called now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyladder.fitted.model import AnyModel
from polyladder.renamed import say
from polyladder.robustness.attack import attack
from polyladder.robustness.optimize import maximize as highest
from polyladder.robustness.optimize import minimize as lowest
from polyladder.robustness.optimum import Optimum
from polyladder.robustness.worst import Attack


def attack_table(
    estimator: AnyModel,
    X: Any,
    y: Any,
    radius: float | Mapping[str, float],
    *,
    budget: float | None = None,
    **options: Any,
) -> Attack:
    """The old name of `attack` for an estimator."""
    say("attack_table is called attack: write attack(model, x, y, radius, ...).")
    return attack(estimator, X, y, radius, max_seconds=budget, **options)


def optimize_table(
    estimator: AnyModel,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    *,
    maximize: bool = False,
    seconds: float = 60.0,
    **options: Any,
) -> Optimum:
    """The old name of `minimize` and `maximize` for an estimator."""
    name = "maximize" if maximize else "minimize"
    say(f"optimize_table is called {name}: write {name}(model, lower, upper, fixed=...).")
    lower, upper = ({column: pair[i] for column, pair in (bounds or {}).items()} for i in (0, 1))
    search = highest if maximize else lowest
    return search(estimator, lower, upper, fixed=fixed, max_seconds=seconds, **options)
