"""Names for the inputs of a polynomial."""

from __future__ import annotations

from collections.abc import Sequence


def input_names(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    """The names given, one for each of the d inputs and all different; x0, x1, ... for None, as scikit-learn counts."""
    if names is None:
        return tuple(f"x{i}" for i in range(d))
    listed = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in listed):
        raise TypeError(f"names must be a sequence of non-empty strings; got {names!r}.")
    if len(listed) != d or len(set(listed)) != d:
        raise ValueError(f"names must be {d} different names, one for each input; got {list(listed)!r}.")
    return listed
