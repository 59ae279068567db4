"""More effort is more of everything."""

from dataclasses import astuple

from polyladder.estimators.selection.options import EFFORTS


def test_efforts_grow() -> None:
    low, default, high = (EFFORTS[name] for name in ("low", "default", "high"))
    for less, more in ((low, default), (default, high)):
        for a, b in zip(astuple(less), astuple(more), strict=True):
            assert (len(a) <= len(b)) if isinstance(a, tuple) else a <= b
