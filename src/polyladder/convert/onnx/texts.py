"""Texts as operators. A text is compared by a pattern, so that space around it does not count, as in `predict`."""

from __future__ import annotations

import numpy as np

from polyladder.convert.exported.cells import SPACES, odd_categories, spellings_of, words_of
from polyladder.convert.onnx.graph import Graph, Value
from polyladder.fitted.column import Column
from polyladder.tables.columns import MISSING


def pattern_text(text: str) -> str:
    r"""A pattern that matches only this text: all but letters and digits as code points.

    >>> print(pattern_text("a.é"))
    a\x{2e}\x{e9}
    """
    return "".join(c if c.isascii() and c.isalnum() else rf"\x{{{ord(c):x}}}" for c in text)


SPACE = f"[{pattern_text(SPACES)}]*"


def any_of(*texts: str) -> str:
    """A pattern that matches any of some texts, in upper or lower case, with space around it."""
    return f"{SPACE}(?i:{'|'.join(map(pattern_text, texts))}){SPACE}"


def is_category(graph: Graph, column: Column, category: str | None, x: Value) -> Value:
    """1 where the text is this category, else 0; NaN where it is neither yes nor no in a column of these."""
    odd, words = odd_categories(column), words_of(column)
    if category in odd:
        return graph.cast(graph("Equal", x, one(category)), np.float64)
    if category is None:
        pattern = any_of(*MISSING)
    elif words:
        pattern = any_of(*(word for word, meant in words.items() if meant == category))
    else:
        others = [category, *(other for other, meant in spellings_of(column).items() if meant == category)]
        pattern = f"{SPACE}(?:{'|'.join(map(pattern_text, others))}){SPACE}"
    same = graph("RegexFullMatch", x, pattern=pattern)
    # A cell that is exactly an odd category is that one.
    for other in odd:
        same = graph("And", same, graph("Not", graph("Equal", x, one(other))))
    found = graph.cast(same, np.float64)
    if not words:
        return found
    return graph("Where", graph("RegexFullMatch", x, pattern=any_of(*words, *MISSING)), found, np.nan)


def one(text: str | None) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    """A text as a constant."""
    return np.array([[text]], dtype=object)
