"""What functions and arguments were called in version 0.1: accepted in 0.2, with a warning that says the new name."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Options = ParamSpec("Options")
Result = TypeVar("Result")


def renamed(*by_position: str, **names: str) -> Callable[[Callable[Options, Result]], Callable[Options, Result]]:
    """Let a function take arguments as version 0.1 did.

    Args:
        by_position: what came by position behind the arguments that still do; these are keywords now.
        names: for each old keyword the new one.
    """

    def decorate(function: Callable[Options, Result]) -> Callable[Options, Result]:
        kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
        most = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)

        @wraps(function)
        def translated(*args: Any, **kwargs: Any) -> Result:
            for name, value in zip(by_position, args[most:], strict=False):
                say(f"{function.__name__} takes {name} as a keyword: write {name}={value!r}.")
                kwargs[name] = value
            for old, new in names.items():
                if old in kwargs:
                    say(f"The argument {old} of {function.__name__} is called {new}.")
                    kwargs[new] = kwargs.pop(old)
            return function(*args[:most], *args[most + len(by_position) :], **kwargs)

        return translated

    return decorate


def say(sentence: str) -> None:
    """Warn whoever called the function that calls this."""
    warnings.warn(f"{sentence} The old way ends with version 0.3.", DeprecationWarning, stacklevel=3)


def say_to_caller(sentence: str) -> None:
    """Warn whoever called the library, however deep inside of it this is."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "polyladder":
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{sentence} The old way ends with version 0.3.", DeprecationWarning, stacklevel=level)
