"""Yes and no in the usual words."""

from __future__ import annotations

from typing import Any

PAIRS = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("off", "on"),
    ("nein", "ja"),
    ("non", "oui"),
    ("não", "sim"),
    ("nee", "ja"),
    ("нет", "да"),
    ("falsch", "wahr"),
    ("faux", "vrai"),
    ("✗", "✓"),
    ("absent", "present"),
    ("disabled", "enabled"),
)
"""Words for no and for yes, in lower case."""

NO = frozenset(no for no, _ in PAIRS)
YES = frozenset(yes for _, yes in PAIRS)


def find_words(cells: Any) -> tuple[str, str] | None:
    """The words for no and yes of a column, in their most frequent spelling; None if it holds anything else.

    Digits 0 and 1 may stand among the words.

    Args:
        cells: text without surrounding space, none missing, each as often as it occurs.
    """
    counted = cells.value_counts(sort=True)
    spelled = counted[counted.columns[0]].to_list()
    if len(spelled) > 2 * len(PAIRS) or not all(s.lower() in NO | YES | {"0", "1"} for s in spelled):
        return None
    no = next((s for s in spelled if s.lower() in NO), None)
    yes = next((s for s in spelled if s.lower() in YES), None)
    found = {s.lower() for s in spelled}
    # A column with "no" and "on" holds words of two different pairs.
    paired = any(found.issuperset(pair) for pair in PAIRS)
    return (no, yes) if no is not None and yes is not None and paired else None


def spellings(words: tuple[str, str]) -> dict[str, str]:
    """Every word for no or yes, in lower case, and how a column with these words spells it."""
    own = {words[0].lower(): words[0], words[1].lower(): words[1]}
    return {**dict.fromkeys([*NO, "0"], words[0]), **dict.fromkeys([*YES, "1"], words[1]), **own}


def read_words(text: Any, words: tuple[str, str]) -> Any:
    """Cells with every word for no or yes spelled as the column spells it; null for other texts."""
    import polars as pl

    known = spellings(words)
    return text.str.to_lowercase().replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.String
    )
