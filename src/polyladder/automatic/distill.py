"""From a model in a file and a table of rows to a small ladder that says the same, as `polyladder distill` does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from polyladder.automatic.card import make_card
from polyladder.automatic.fit_table import say_written
from polyladder.automatic.model_rows import load_estimator, model_rows
from polyladder.automatic.selected import selection_json
from polyladder.convert.onnx.teacher import OnnxTeacher
from polyladder.estimators.compress import compress
from polyladder.estimators.ladder import LadderEstimator
from polyladder.tables.columns import ColumnKind
from polyladder.tables.marks import settle_marks
from polyladder.tables.schema import Rule
from polyladder.tables.table_file import TableFile, open_table
from polyladder.tables.understand import cells_of, kind_of

LADDER = ".ladder"
"""How the names of our own files end; any other teacher is taken for ONNX."""


@dataclass(frozen=True)
class Distilling:
    """What is asked for.

    Attributes:
        tolerance: what the small model may cost; see `compress`.
        size: weights that it may have, or None.
        drop: columns of the table that are left out.
        seed: of everything random.
    """

    tolerance: float
    size: int | None = None
    drop: Sequence[str] = ()
    seed: int = 0


def distill(teacher: Path, rows: str, asked: Distilling) -> LadderEstimator:
    """A small ladder that answers as a model in a file does, at the rows of a table and between them.

    Args:
        teacher: an ONNX model, or a model of ours.
        rows: a table like that which the teacher was fitted to; "-" is standard input.
        asked: how small and how close.

    Returns:
        A fitted estimator with a card, so that all commands take it. ``selection_.compact`` says what came of it.
    """
    found = load_ladder(teacher) if teacher.suffix == LADDER else OnnxTeacher(teacher)
    file = open_table(rows)
    for name in asked.drop:
        file.check_column("--drop", name)
    options: dict[str, Any] = {"tolerance": asked.tolerance, "size": asked.size, "random_state": asked.seed}
    if isinstance(found, LadderEstimator):
        return compress(found, model_rows(file, found).table(file.whole(2)), **options)
    frame, kinds = columns_for(found, file, asked.drop)
    small = compress(found, frame, **options)
    chosen = selection_json(small.selection_) | {"held_out": 0, "fitted": len(frame)}
    small.card_ = make_card(small, frame, selection=chosen, notes=file.notes, seed=asked.seed, source=file.label)
    say_written(small.card_, kinds)
    return small


def load_ladder(path: Path) -> LadderEstimator:
    """The model in a file, if it has ladders that can be summed up in one."""
    found = load_estimator(path)
    if not isinstance(found, LadderEstimator):
        raise ValueError(
            f"{path} must hold an LPNNRegressor or an LPNNClassifier; it holds a {type(found).__name__}. "
            "In Python, polyladder.compress(model, rows) takes it."
        )
    return found


def columns_for(teacher: OnnxTeacher, file: TableFile, drop: Sequence[str]) -> tuple[Any, list[ColumnKind]]:
    """The columns of a file that a model reads, as numbers and texts, and how they are written.

    No number is taken for a mark of missing ones: the teacher may know better.
    """
    frame = file.whole(2)
    asked = {each.name: Rule("category") for each in teacher.inputs if each.texts}
    guessed = {n: kind_of(frame[n], file.comma, asked.get(n)) for n in file.names if n not in drop}
    kinds, _ = settle_marks(frame, guessed, file.comma, list(asked))
    # A rule for each column: then nothing more is guessed from its cells.
    known = [kind for kind in kinds.values() if kind.kind != "empty"]
    read = [cells_of(frame[k.name], k, file.comma, Rule(k.kind))[:2] for k in known]  # type: ignore[arg-type]
    # Yes and no are texts, as in every table.
    texts = {i for i, (_, values) in enumerate(read) if values.dtype == pl.String}
    places = teacher.columns([kind.name for kind in known], texts)
    taken = [read[i] for i in sorted({i for each in places for i in each})]
    return pl.DataFrame([values.alias(kind.name) for kind, values in taken]), [kind for kind, _ in taken]
