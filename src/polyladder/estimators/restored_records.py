"""Whether the records of a model that came out of a file have the form that everything which reads them relies on.

A card is plain JSON. Entries may be lacking, and unknown ones are left alone; those that are read must be what they are
read as. The same holds for what a selection or a walk up the orders has left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polyladder.estimators.registry import find_class
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.tables.columns import column_kind, write_value
from polyladder.tables.number_style import PLAIN

Form = Callable[[Any], bool]

PERCENTAGES = frozenset(map(str, range(1, 100)))
"""As a card writes them."""


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def whole(value: Any) -> bool:
    """A whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def number(value: Any) -> bool:
    """A number; scores may be infinite or unknown."""
    return whole(value) or isinstance(value, (float, np.floating))


def cell(value: Any) -> bool:
    """What a cell of a table can hold."""
    return value is None or isinstance(value, (str, bool)) or number(value)


def maybe(form: Form) -> Form:
    """Of a form, or None."""
    return lambda value: value is None or form(value)


def each(form: Form) -> Form:
    """A list whose entries are of a form."""
    return lambda value: isinstance(value, (list, tuple)) and all(map(form, value))


def named(form: Form) -> Form:
    """A dictionary whose values are of a form."""
    return lambda value: isinstance(value, dict) and all(map(text, value)) and all(map(form, value.values()))


def record(must: Mapping[str, Form], may: Mapping[str, Form]) -> Form:
    """A dictionary with entries that must be there and others that may be, each of its form."""

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or not must.keys() <= value.keys():
            return False
        return all(form(value[name]) for name, form in {**must, **may}.items() if name in value)

    return fits


def made_of(kind: str, forms: Mapping[str, Form]) -> Form:
    """An object of a registered class, whose attributes are of forms."""
    fits = record(forms, {})
    return lambda value: type(value) is find_class(kind) and fits(dict(vars(value)))


def written(value: Any) -> bool:
    """How cells are written, so that it can be read and used."""
    try:
        kind = column_kind("", value)
        write_value(1.0, value)
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        return False
    style = ((vars(kind.style)[name], plain) for name, plain in vars(PLAIN).items())
    words = kind.words is None or (len(kind.words) == 2 and all(map(text, kind.words)))
    return words and text(kind.kind) and all(isinstance(own, type(plain)) for own, plain in style)


def by_percent(value: Any) -> bool:
    """Numbers by whole percentages, which are written as text."""
    return named(number)(value) and all(percent in PERCENTAGES for percent in value)


def ranked(value: Any) -> bool:
    """Columns, by number or name, and how strong they are together."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 1
        and number(value[-1])
        and all(map(whole_or_text, value[:-1]))
    )


def whole_or_text(value: Any) -> bool:
    """What a column is known by."""
    return whole(value) or text(value)


DENSITY = record({}, {"edges": each(number), "counts": each(number)})
COLUMN = record(
    {"name": text, "missing": whole},
    {
        "kind": text,
        "unit": maybe(text),
        "minimum": maybe(number),
        "maximum": maybe(number),
        "median": maybe(number),
        "categories": maybe(each(cell)),
        "density": DENSITY,
        "date_format": maybe(text),
        "written": written,
    },
)
NUMBERS = ("seconds", "rmse", "r2", "crps", "log_likelihood", "half_width", "scored", "rows")
CLASSES = ("error", "log_loss", "auc", "average_precision", "f1", "calibration_error")
SCORE = record(
    {"model": text},
    {**dict.fromkeys((*NUMBERS, *CLASSES), number), "coverage": by_percent},
)
SELECTION = record(
    {},
    {
        "sentence": text,
        "compact": text,
        "floor": text,
        "order_path": each(each(number)),
        "order_note": text,
        "held_out": whole,
        "fitted": whole,
    },
)
CARD: dict[str, Form] = {
    "target": text,
    "task": text,
    "classes": maybe(each(cell)),
    "unit": maybe(text),
    "columns": each(COLUMN),
    "rows": maybe(whole),
    "scores": each(SCORE),
    "held_out": maybe(
        record({"observed": each(cell), "predicted": each(cell)}, {"probability": each(each(number))}),
    ),
    "residual_quantiles": named(number),
    "selection": maybe(SELECTION),
    "order_path": maybe(each(each(number))),
    "notes": each(text),
    "strengths": maybe(
        record(
            {},
            {"over": text, "columns": each(ranked), "pairs": each(ranked), "bend": number}
            | {"positions": each(whole), "pair_positions": each(each(whole))},
        ),
    ),
    "typical": maybe(each(cell)),
    "settings": named(lambda value: True),
    "loss": text,
    "seed": maybe(whole),
    "versions": named(text),
    "created": text,
    "source": text,
    "target_written": maybe(written),
    "class_counts": named(whole),
    "confusion": each(each(whole)),
}
"""The entries of a card that are read, by name."""


CANDIDATE = {"model": text, "features": text, "order": whole, "error": number, "weight": number}
LEFT: dict[str, Form] = {
    "selection_": made_of(
        "Selection",
        {
            "measure": text,
            "candidates": each(made_of("Candidate", CANDIDATE)),
            "error": number,
            "rows": whole,
            "folds": whole,
            "compact": text,
            "compact_order": maybe(whole),
            "factor": number,
        },
    ),
    "growth_": made_of("Growth", {"orders": each(whole), "errors": each(number), "gain": number}),
    "solver_": text,
    "order_": whole,
}
"""What fitting leaves in an estimator besides what predicts, by name."""


def unfit_record(estimator: TableEstimator) -> str | None:
    """The name of a record of an estimator that is not what it is read as; None if all are."""
    found = vars(estimator)
    for name, form in LEFT.items():
        if not maybe(form)(found.get(name)):
            return name
    growth = found.get("growth_")
    if growth is not None and len(growth.orders) != len(growth.errors):
        return "growth_"
    entry = unfit_entry(found.get("card_"), estimator.n_features_in_)
    return None if entry is None else f"{entry} in card_"


def unfit_entry(card: Any, columns: int) -> str | None:
    """The name of an entry that is not what it is read as; None if all are.

    Args:
        card: None, or a card.
        columns: of the table, that parts of the card count.
    """
    if card is None:
        return None
    if not isinstance(card, dict):
        return "all"
    for name, form in CARD.items():
        if name in card and not form(card[name]):
            return name
    strengths = card.get("strengths") or {}
    if "columns" in strengths and not {"over", "pairs", "bend"} <= strengths.keys():
        return "strengths"
    places = [i for entry in (*strengths.get("columns", ()), *strengths.get("pairs", ())) for i in entry[:-1]]
    if "positions" in strengths or "pair_positions" in strengths:
        one, two = strengths.get("positions", []), strengths.get("pair_positions", [])
        if (len(one), [len(pair) for pair in two]) != (len(strengths["columns"]), [2] * len(strengths["pairs"])):
            return "strengths"
        places += [*one, *(i for pair in two for i in pair)]
    if any(whole(i) and not 0 <= i < columns for i in places):
        return "strengths"
    if card.get("typical") is not None and len(card["typical"]) != columns:
        return "typical"
    held = card.get("held_out")
    return "held_out" if held is not None and len(held["observed"]) != len(held["predicted"]) else None
