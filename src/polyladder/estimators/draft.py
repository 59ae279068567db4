"""A fit sets all that it learns at its end, or nothing: it works on a draft, which replaces the estimator when done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

Fittable = TypeVar("Fittable")


@contextmanager
def draft_of(estimator: Fittable, *, keep_learned: bool = False) -> Iterator[Fittable]:
    """A copy of an estimator to learn on. What it has learned becomes the estimator's if the block ends well.

    An error or an interrupt leaves the estimator as it was before, fitted or not.

    Args:
        estimator: it is not touched before the end of the block.
        keep_learned: whether the draft starts with what was learned before (names that end in an underscore).
    """
    draft = object.__new__(type(estimator))
    kept = {name: value for name, value in vars(estimator).items() if keep_learned or not name.endswith("_")}
    vars(draft).update(kept)
    # What a card says of the fit before is no longer true.
    vars(draft).pop("card_", None)
    yield draft
    # One assignment, between whose halves no interrupt can come.
    estimator.__dict__ = dict(vars(draft))
