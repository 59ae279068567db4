"""The options of `fit_table` and `fit_large_table`, each declared once, as values that are passed on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from polyladder.estimators.partitioned import WHOLE_SWEEPS

Listener = Callable[[str], None]

P = ParamSpec("P")
Options = TypeVar("Options")


def silent(words: str) -> None:
    """Listen, and do nothing."""


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What both functions take; `fit_table` says what each option means."""

    task: Literal["regression", "classification"] | None = None
    drop: Sequence[str] = ()
    category: Sequence[str] = ()
    keep: Sequence[str] = ()
    schema: str | Path | Mapping[str, Any] | None = None
    loss: str = "squared"
    compare: bool = True
    seed: int = 0
    say: Listener = silent
    step: Listener = silent


@dataclass(frozen=True, kw_only=True)
class FitOptions(TableOptions):
    """What `fit_table` takes besides; it says what each option means."""

    sheet: str | None = None
    bayesian: bool = False
    solver: Literal["auto", "alternating", "adam"] = "auto"
    compact: Literal["auto", False] | float = "auto"
    seconds: float | None = None
    balance: bool = False
    test: Any = None
    group: str | None = None
    time: str | None = None


@dataclass(frozen=True, kw_only=True)
class LargeOptions(TableOptions):
    """What `fit_large_table` takes besides; it says what each option means."""

    order: int | Literal["auto"] = "auto"
    sweeps: int = WHOLE_SWEEPS
    checkpoint: str | Path | None = None


def with_options(
    kind: Callable[P, Options],
) -> Callable[[Callable[[Any, str, Options], Any]], Callable[Concatenate[Any, str, P], Any]]:
    """Turn a function of (table, target, options) into one that takes the options as keywords, as users write them."""

    def as_keywords(function: Callable[[Any, str, Options], Any]) -> Callable[Concatenate[Any, str, P], Any]:
        first = [p for p in inspect.signature(function).parameters.values() if p.name != "options"]
        signature = inspect.Signature([*first, *inspect.signature(kind).parameters.values()])

        @wraps(function)
        def call(*values: Any, **named: Any) -> Any:
            bound = signature.bind(*values, **named)
            table, target = bound.args
            return function(table, target, kind(**bound.kwargs))  # type: ignore[call-arg]

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return as_keywords
