"""`fit_table`: from a table to a tested model with its card, as the command `polyladder fit` does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyladder.automatic.card import make_card
from polyladder.automatic.choose import Choice, Trial, choose, setting_words
from polyladder.automatic.compare import baselines, scores
from polyladder.automatic.selected import effort_for, selection_json
from polyladder.automatic.training_table import TrainingTable, training_table
from polyladder.estimators.bayesian import BayesianLPNNClassifier, BayesianLPNNRegressor
from polyladder.estimators.ladder import LPNNClassifier, LPNNRegressor
from polyladder.tables.columns import DAYS
from polyladder.tables.features import count_inputs
from polyladder.tables.table import frame_columns, is_frame
from polyladder.tables.table_file import TableFile, open_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELD_OUT = 0.15
"""The share of the rows that is held out to compare models."""

Listener = Callable[[str], None]


def fit_table(
    table: Any,
    target: str,
    *,
    task: Literal["regression", "classification"] | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    bayesian: bool = False,
    solver: Literal["auto", "alternating", "adam"] = "auto",
    seconds: float = 8.0,
    seed: int = 0,
    say: Listener = lambda sentence: None,
    step: Listener = lambda words: None,
) -> Any:
    """Choose a ladder on training rows, compare it with other models on held-out rows, and fit it to all.

    Parameters
    ----------
    table : str, path, or data frame (pandas or polars)
        A file of CSV, TSV or Parquet, compressed or not; "-" is standard input.
    target : str
        The column to predict.
    task : {"regression", "classification"}, default=None
        By default guessed from the target.
    drop : sequence of str
        Columns to leave out.
    category : sequence of str
        Columns of categories, whatever they look like.
    bayesian : bool, default=False
        Draw from the posterior instead of solving.
    solver : {"auto", "alternating", "adam"}, default="auto"
    seconds : float, default=8
        For choosing. A selection (all but ``bayesian`` and ``solver="adam"``) takes a few seconds whatever it is, and a
        high effort from 60 on. The others walk through settings for this long; 0 takes the usual ones.
    seed : int, default=0
        Of the split, the folds and the starts.
    say : callable
        Told each sentence about what was understood, mended or left out.
    step : callable
        Told what is being done.

    Returns
    -------
    LPNNRegressor, LPNNClassifier or their Bayesian siblings
        Fitted to all rows. Its ``card_`` holds scores of all models on held-out rows, how it was chosen, and more.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import fit_table
    >>> X, y = make_friedman1(100, random_state=0)
    >>> model = fit_table(pd.DataFrame(X).add_prefix("x").assign(y=y), "y", seconds=0)
    >>> [score["model"] for score in model.card_["scores"]]
    ['ladder', 'mean', 'linear', 'cubic ridge', 'HistGradientBoosting']
    """
    read = read_training_table(table, target, task=task, drop=drop, category=category, say=say)
    return fit_training_table(read, bayesian=bayesian, solver=solver, seconds=seconds, seed=seed, step=step)


def read_training_table(
    table: Any,
    target: str,
    *,
    task: Literal["regression", "classification"] | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    say: Listener = lambda sentence: None,
) -> TrainingTable:
    """The first half of `fit_table`, with its arguments: what the columns of a table are, said in sentences."""
    file = open_table(table) if isinstance(table, str | Path) else frame_file(table)
    read = training_table(file, target, task, drop, category)
    for sentence in read.sentences:
        say(sentence)
    return read


def fit_training_table(
    table: TrainingTable,
    *,
    bayesian: bool = False,
    solver: Literal["auto", "alternating", "adam"] = "auto",
    seconds: float = 8.0,
    seed: int = 0,
    step: Listener = lambda words: None,
) -> Any:
    """The second half of `fit_table`, with its arguments: choose, compare, fit, describe."""
    X, y, task = table.columns, table.target, table.task
    train, test = split_rows(table, seed)
    inputs = count_inputs(X)

    def tell(trial: Trial, best: Trial) -> None:
        step(f"{setting_words(trial.settings)}: {trial.error:.4g}; best {best.error:.4g}")

    selects = not bayesian and solver != "adam"
    choice = None
    if not selects:
        choice = choose(
            X[train], y[train], task, inputs=inputs, solver=solver, seconds=seconds, random_state=seed, tell=tell
        )

    def estimator_to_fit() -> Any:
        if choice is not None:
            return chosen_estimator(task, choice, bayesian)
        kind = LPNNRegressor if task == "regression" else LPNNClassifier
        return kind(missing="impute", effort=effort_for(seconds), random_state=seed)  # type: ignore[arg-type]

    name = "Bayesian ladder" if bayesian else "ladder"
    models = {name: estimator_to_fit(), **baselines(inputs, task)}
    rows = ((X[train], y[train]), (X[test], y[test]))
    judged = list(scores(models, *rows, task, tell=lambda m: step(f"fitting {m}")))
    step(f"fitting {name} to all {len(y):,} rows")
    estimator = estimator_to_fit().fit(X, y)
    card = make_card(
        estimator,
        X,
        target=table.name,
        scores=[score for score, _ in judged],
        held_out=judged[0][1],
        selection=record_of(estimator, choice) | {"held_out": len(test)},
        notes=table.sentences,
        seed=seed,
        source=table.source,
    )
    for column, kind in zip(card["columns"], table.kinds, strict=True):
        if kind.kind == "date":
            column["unit"], column["date_format"] = DAYS, kind.date_format
    estimator.card_ = card
    return estimator


def record_of(estimator: Any, choice: Choice | None) -> dict[str, Any]:
    """How an estimator was chosen, for its card."""
    if choice is not None:
        return choice.json()
    selection = vars(estimator).get("selection_")
    if selection is not None:
        return selection_json(selection)
    sentence = "There are too many rows and classes to select: gradient steps on ladders of the usual order."
    return {"sentence": sentence, "trials": [], "order_path": [], "order_note": ""}


def frame_file(frame: Any) -> TableFile:
    """A data frame as an open table."""
    import polars as pl

    if not isinstance(frame, pl.DataFrame):
        if not is_frame(frame):
            raise TypeError(f"table must be a path or a data frame; got {type(frame).__name__}.")
        columns = {name: column.tolist() for name, column in frame_columns(frame)}
        frame = pl.DataFrame(columns, strict=False)
    # What a file leaves empty is NaN in a frame of numbers.
    return TableFile("the table", tuple(frame.columns), iter([frame.fill_nan(None)]), "thousands", [])


def split_rows(table: TrainingTable, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row numbers to fit and to hold out, classes in equal shares."""
    from sklearn.model_selection import train_test_split

    n, classes = len(table.target), table.target if table.task == "classification" else None
    held = max(2, round(HELD_OUT * n), 0 if classes is None else len(np.unique(classes)))
    train, test = train_test_split(np.arange(n), test_size=held, random_state=seed, stratify=classes)
    return np.sort(train), np.sort(test)


def chosen_estimator(task: str, choice: Choice, bayesian: bool) -> Any:
    """An estimator with the chosen settings, as far as it has them."""
    kinds: dict[tuple[bool, str], Any] = {
        (False, "regression"): LPNNRegressor,
        (False, "classification"): LPNNClassifier,
        (True, "regression"): BayesianLPNNRegressor,
        (True, "classification"): BayesianLPNNClassifier,
    }
    kind = kinds[bayesian, task]
    known = kind().get_params()
    return kind(**{name: value for name, value in choice.settings.items() if name in known})
