"""Categories that differ in upper and lower case alone: Bern, bern and BERN are one town."""

from __future__ import annotations

import re
from typing import Any

FEWEST_LETTERS = 3
"""Shorter texts are codes, in which case may mean something."""

MOST = 5000
"""With more different texts than this, they are names rather than categories, and their case is ignored."""


def find_spellings(cells: Any) -> dict[str, str]:
    """For each rarer spelling of a category, the most frequent one; empty where every category has a single spelling.

    Where one category has several spellings, every category is also known in small letters, in capitals and with a
    first capital.

    Args:
        cells: text without surrounding space, none missing, each as often as it occurs.
    """
    groups = same_letters(cells)
    if all(len(group) == 1 for group in groups):
        return {}
    kept = {best(group): group for group in groups}
    levels = {text for group in groups for text in group}
    found = {text: spelling for spelling, group in kept.items() for text in group if text != spelling}
    for spelling in kept:
        for other in (spelling.lower(), spelling.upper(), spelling.title(), spelling.capitalize()):
            if other not in levels:
                found.setdefault(other, spelling)
    return found


def best(group: dict[str, int]) -> str:
    """The most frequent spelling; of equally frequent ones, the one in mixed case."""
    return max(group, key=lambda text: (group[text], text not in (text.lower(), text.upper())))


def short_twins(cells: Any) -> tuple[str, str] | None:
    """Two short texts that differ only in case and are kept apart, if there are any."""
    texts = set(cells.unique().to_list()) if cells.n_unique() <= MOST else set()
    twins = ((text, text.swapcase()) for text in sorted(texts) if letters(text) < FEWEST_LETTERS)
    return next(((a, b) for a, b in twins if a != b and b in texts), None)


def same_letters(cells: Any) -> list[dict[str, int]]:
    """Texts of three letters or more that are equal in small letters, with how often they occur."""
    groups: dict[str, dict[str, int]] = {}
    if cells.n_unique() > MOST:
        return []
    counted = cells.value_counts(name="rows").rows()
    for text, rows in sorted(counted, key=lambda pair: (-pair[1], pair[0])):
        if letters(text) >= FEWEST_LETTERS:
            groups.setdefault(text.lower(), {})[text] = rows
    return list(groups.values())


def letters(text: str) -> int:
    """How many letters a text has."""
    return len(re.findall(r"[^\W\d_]", text))
