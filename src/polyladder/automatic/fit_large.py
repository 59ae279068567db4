"""`fit_large_table`: a table larger than memory to a tested model, a chunk of rows at a time, and resumable."""

from __future__ import annotations

import json
import time as clock
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from polyladder.automatic.budget import Deadline
from polyladder.automatic.card import HeldOut, Score
from polyladder.automatic.compare import baselines, scores
from polyladder.automatic.fit_table import described, ladder_for
from polyladder.automatic.metrics import judged
from polyladder.automatic.options import LargeOptions, Listener, with_options
from polyladder.automatic.selected import nothing_selected
from polyladder.automatic.training_table import TrainingTable, training_table
from polyladder.estimators.partitioned import SAMPLE_ROWS, Sweeping, fit_in_parts
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.fitted.features import count_inputs
from polyladder.polynomial.store import load
from polyladder.tables.file_parts import FileParts, sampled_file, table_files
from polyladder.tables.number_style import counted
from polyladder.tables.partitions import Coded, LocalPartitions, Part, row_keys

HELD_OUT_ROWS = 100_000
"""Rows that are held out at most: more would not make an error known better than to three digits."""

RIVAL_ROWS = 100_000
"""Rows that other models are fitted to; they need them all in memory."""


@dataclass(frozen=True)
class Keyed:
    """The rows of a part whose keys lie in a range.

    Attributes:
        low: smallest key.
        high: keys are smaller than this.
        seed: of the keys.
    """

    low: float
    high: float
    seed: int

    def __call__(self, part: Part) -> Part:
        """As a part of its own."""
        keys = row_keys(part, self.seed)
        chosen = (keys >= self.low) & (keys < self.high)
        return Part(part.first, part.X.filter(chosen), part.y[chosen])


@dataclass
class Pace:
    """Progress of a fit: the passes over the rows, and the time that is left.

    Attributes:
        rows: of the table; 0 while they are not known.
        step: told how far the work is, in words.
        words: what is being done.
        read: rows read so far for that.
        began: when that began.
        passes: over the rows that it takes.
    """

    rows: int
    step: Listener
    words: str = ""
    read: int = 0
    began: float = field(default_factory=clock.monotonic)
    passes: int = 0

    def say(self, words: str, passes: int = 1) -> None:
        """Begin something else, which takes so many passes."""
        self.words, self.read, self.passes, self.began = words, 0, passes, clock.monotonic()
        self.step(words)

    def add(self, rows: int) -> None:
        """Count rows that were read."""
        self.read += rows
        if self.rows:
            share = self.read / (self.rows * self.passes)
            left = (clock.monotonic() - self.began) * (1 / share - 1)
            self.step(f"{self.words}: {min(share, 1):.0%}, {max(left, 0):.0f} s left")


@with_options(LargeOptions)
def fit_large_table(path: Any, target: str, options: LargeOptions) -> TableEstimator:
    """Fit a ladder to a table that need not fit into memory.

    The rows are read in several passes. The first draws the rows by which columns are understood. The second learns
    scales, ranges and categories, and draws the sample of the first sweeps. The first sweep over all rows takes twice
    as many passes as the order of the polynomial, and each further sweep one pass fewer. At most 100,000 rows are held
    out; they are never fitted.

    Parameters
    ----------
    path : str or path
        A file of Parquet, CSV or TSV, or a folder of Parquet files.
    target : str
        The column to predict.
    task, drop, category, keep, schema, loss, compare, seed, say, step
        As in `fit_table`. Other models are fitted to 100,000 rows.
    order : int or "auto", default="auto"
        Of the polynomial; "auto" compares orders 2 to 5 on the sample.
    sweeps : int, default=2
        Over all rows.
    checkpoint : path, default=None
        The model is written there after each sweep; a fit of the same files and settings goes on from it.

    Returns
    -------
    LPNNRegressor or LPNNClassifier
    """
    began = clock.monotonic()
    order, sweeps, seed, say, step = options.order, options.sweeps, options.seed, options.say, options.step
    files = table_files(path)
    pace = Pace(0, step)
    pace.say("drawing rows to look at")
    drawn, count = sampled_file(files, SAMPLE_ROWS, seed, lambda rows: step(f"drawing rows to look at: {rows:,} read"))
    table = training_table(drawn, target, options)
    notes = [f"{count:,} rows are read in parts; columns are judged by {len(table.target):,} drawn at random."]
    for line in (*table.lines, *notes):
        say(line)
    labels = np.unique(table.target) if table.task == "classification" else None
    pace.rows = count
    rows = LocalPartitions(FileParts(files, table.kinds, table.target_kind, labels, pace.add))
    share = min(0.15, HELD_OUT_ROWS / count)
    estimator = ladder_for(table.task, options.loss, order=order, random_state=seed)
    saved = None
    if options.checkpoint is not None:
        belongs = fingerprint(files, target, table, f"{order} {options.loss}", seed)
        saved = Checkpoint(Path(options.checkpoint), belongs)

    def tell(words: str) -> None:
        if not words.startswith("sweep"):
            pace.say(words)
            return
        # The first sweep reads the rows once more, for the loss that it begins with.
        pace.say(words, 2 * blocks(estimator_in[0]) + (1 if swept else 2))
        swept.append(words)

    estimator_in: list[TableEstimator] = [estimator]
    swept: list[str] = []

    def kept(draft: TableEstimator, state: Sweeping) -> None:
        estimator_in[0] = draft
        if saved is not None:
            saved.write(draft, state)
        say(f"{counted(state.done, 'sweep')} over all rows: training loss {draft.loss_curve_[-1]:.6g}.")

    resumed = None if saved is None else saved.read()
    if resumed is not None:
        estimator_in[0] = resumed[0]
        say(f"Going on from {options.checkpoint} after {counted(resumed[1].done, 'sweep')} over all rows.")
    fit_in_parts(estimator, Coded(rows, Keyed(share, 1.0, seed)), sweeps=sweeps, tell=tell, keep=kept, resumed=resumed)
    took = clock.monotonic() - began
    pace.say("predicting held-out rows")
    unseen = collected(rows, Keyed(0.0, share, seed))
    scored: list[tuple[Score, HeldOut]] = [judged("ladder", estimator, *unseen, took, table.task)]
    if options.compare:
        seen = collected(rows, Keyed(share, min(1.0, share + RIVAL_ROWS / count), seed))
        rivals = baselines(count_inputs(table.read), table.task)
        limit = Deadline(clock.monotonic(), np.inf)
        for score, held in scores(rivals, seen, unseen, table.task, lambda m: step(f"fitting {m}"), limit):
            score["rows"] = len(seen[1])
            scored.append((score, held))
    step("describing the model")
    fitted = count - len(unseen[1])
    sentence = f"Order {estimator.order_}, by {counted(sweeps, 'sweep')} over all rows after others on a sample."
    words = nothing_selected(sentence) | {"held_out": len(unseen[1]), "fitted": fitted}
    estimator.card_ = described(estimator, table, scored, words, [*table.sentences, *notes], seed)
    estimator.card_["rows"] = count
    if saved is not None:
        saved.path.unlink(missing_ok=True)
    return estimator


def blocks(estimator: TableEstimator) -> int:
    """Layers of a fitted estimator's ladders, or of the usual ones."""
    try:
        return len(estimator.members_.W)
    except AttributeError:  # it is not fitted yet
        return 3


def fingerprint(files: list[Path], target: str, table: TrainingTable, settings: str, seed: int) -> str:
    """What must be equal for a fit to go on from where another stopped."""
    stamps = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return json.dumps([stamps, target, table.task, [k.name for k in table.kinds], settings, seed])


@dataclass(frozen=True)
class Checkpoint:
    """A fit on its way, in a file that is a model of its own.

    Attributes:
        path: of the file.
        belongs: fingerprint of the fit.
    """

    path: Path
    belongs: str

    def write(self, draft: TableEstimator, state: Sweeping) -> None:
        """Replace the file."""
        draft.card_ = {"belongs": self.belongs, "done": state.done, "alpha": state.alpha.tolist()}
        draft.save(self.path)
        draft.card_ = None

    def read(self) -> tuple[TableEstimator, Sweeping] | None:
        """What was written, if it belongs to this fit."""
        if not self.path.exists():
            return None
        draft = load(self.path)
        card = (draft.card_ if isinstance(draft, TableEstimator) else None) or {}
        if "belongs" not in card:
            raise ValueError(
                f"{self.path} must be new or a checkpoint of polyladder; it is a model. Choose another name."
            )
        if card["belongs"] != self.belongs:
            return None
        draft.card_ = None
        return draft, Sweeping(draft.members_, torch.tensor(card["alpha"], dtype=torch.float64), int(card["done"]))


def collected(rows: LocalPartitions, keyed: Keyed) -> tuple[Any, Any]:
    """All rows and targets with such keys, in memory."""
    import polars as pl

    parts = list(map(keyed, rows.parts()))
    return pl.concat([part.X for part in parts]), np.concatenate([part.y for part in parts])
