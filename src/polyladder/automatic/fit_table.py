"""`fit_table`: from a table to a tested model with its card, as the command `polyladder fit` does it."""

from __future__ import annotations

import math
import time as clock
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from polyladder.automatic.budget import WORTH, Deadline, RowsToFit, fit_in_time
from polyladder.automatic.card import HeldOut, ModelCard, Score, make_card
from polyladder.automatic.compare import baselines, scores
from polyladder.automatic.metrics import (
    balance_notes,
    class_counts,
    confusion,
    distribution_scores,
    judged,
    row_losses,
)
from polyladder.automatic.options import FitOptions, with_options
from polyladder.automatic.selected import how_chosen
from polyladder.automatic.split import rows_of_file, split_rows
from polyladder.automatic.training_table import TrainingTable, training_table
from polyladder.estimators.bayesian import (
    UNSETTLED,
    BayesianEstimator,
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
)
from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.ladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.fitted.features import count_inputs
from polyladder.tables.columns import ColumnKind
from polyladder.tables.dates import date_unit
from polyladder.tables.table_file import TableFile, frame_file, open_table
from polyladder.training.losses import NUMBER_LOSSES, loss_named
from polyladder.training.threads import limited

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = {"ladder": 0.4, "rivals": 0.5}
"""The shares of a budget after which the first fit and the rivals are over. The rest is for the last fit: where it must
select anew, it takes as long as the first."""

SCALING_ROWS = 4000
"""Rows of the short selection that tells how columns are scaled, at most, where nothing else is selected."""

GRADIENT_STEPS: dict[str, Any] = {"solver": "adam", "order": 4, "width": 64}
"""Half as wide as the estimators' usual ladders, which learn few rows by heart."""

HELD_OUT_OF_STEPS = 0.15
"""The share of the rows by which gradient steps of classes stop early: the log loss of what was learned by heart has no
bound."""

EFFORTS = ("low", "default", "high")
"""Of a selection within a budget, one after another while there is time."""

WORSE = 1.2
"""The last fit has seen the held-out rows. If its loss on them is this many times that of the first, it is dropped."""

ROUNDING = 1e-12
"""Losses that differ by no more than this, times the target's variance, are equal."""

SURE = 2.0
"""The last fit must be worse by this many standard errors: else it may be chance."""

FEWEST_HELD = 10
"""On fewer held-out rows than this, any difference may be chance."""


@with_options(FitOptions)
def fit_table(table: Any, target: str, options: FitOptions) -> TableEstimator:
    """Choose a ladder on training rows, compare it with other models on held-out rows, and fit it to all.

    Parameters
    ----------
    table : str, path, or data frame (pandas or polars)
        A file of CSV, TSV or JSON lines, compressed or not, of Parquet or .xlsx; "-" is standard input.
    target : str
        The column to predict.
    task : {"regression", "classification"}, default=None
        By default guessed from the target.
    drop : sequence of str
        Columns to leave out.
    category : sequence of str
        Columns of categories, whatever they look like.
    keep : sequence of str
        Columns to use even if they look like ids.
    schema : path of a TOML file or mapping of columns, default=None
        What columns are: number, category, boolean, date, drop or keep.
    sheet : str, default=None
        The sheet of a workbook, by its name or its number from 1. By default the first.
    bayesian : bool, default=False
        Draw from the posterior instead of solving.
    solver : {"auto", "alternating", "adam"}, default="auto"
    compact : "auto", False or float > 0, default="auto"
        Whether one small ladder may stand for the model that was chosen, and what that may cost, as a share of the
        error on rows left out; "auto" is 0.01. It is for models that are selected: not with ``bayesian`` or gradient
        steps.
    loss : str, default="squared"
        What a wrong number costs; "huber" where the target has gross errors. Classes have the log loss.
    seconds : float, default=None
        For the whole run, other models included. A selection begins with a low effort and few rows, and takes all rows,
        then the default effort, then the highest, while there is time. 0 and the default bound nothing.
    compare : bool, default=True
        Whether other models are fitted as well.
    balance : bool, default=False
        Whether all classes count equally in the fit of the ladder, however many rows they have.
    test : like table, default=None
        Rows to hold out. By default 15 % of the table's.
    group : str, default=None
        A column whose equal values are held out together. It is no feature.
    time : str, default=None
        A column by which the latest rows are held out. It is no feature, unless it is among ``keep``.
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
        It reads data frames as the table was read: columns by their names, in any order, with cells as they are
        written there; other columns, the target among them, are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import make_friedman1
    >>> from polyladder import fit_table
    >>> X, y = make_friedman1(100, random_state=0)
    >>> table = pd.DataFrame(X).add_prefix("x").assign(y=y)
    >>> model = fit_table(table, "y", seconds=0)
    >>> bool(model.score(table, y) > 0.9)
    True
    >>> [score["model"] for score in model.card_["scores"]]
    ['ladder', 'mean', 'linear', 'cubic ridge', 'HistGradientBoosting']
    """
    began = clock.monotonic()
    return fit_training_table(read_training_table(table, target, options), options, began)


def read_training_table(table: Any, target: str, options: FitOptions | None = None) -> TrainingTable:
    """The first half of `fit_table`: what the columns of a table are, said in sentences."""
    options = options or FitOptions()
    group, time = options.group, options.time
    if group is not None and time is not None:
        raise ValueError(f"group and time must not both be given; got {group!r} and {time!r}. Choose one.")
    file = open_file(table, options.sheet)
    aside = tuple(name for name in (group, time) if name is not None)
    for option, name in (("group", group), ("time", time)):
        if name == target:
            raise ValueError(f"{option} must name another column than the target; got {name!r}.")
    read = training_table(file, target, options, aside)
    for line in read.lines:
        options.say(line)
    return read


def fit_training_table(
    table: TrainingTable, options: FitOptions | None = None, began: float | None = None
) -> TableEstimator:
    """The second half of `fit_table`: choose, compare, fit, describe. What began before counts in the seconds."""
    options = options or FitOptions()
    bayesian, seconds, seed, say, step = options.bayesian, options.seconds, options.seed, options.say, options.step
    deadline = Deadline(clock.monotonic() if began is None else began, seconds or math.inf)
    X, y, task = table.columns, table.target, table.task
    check_loss(options.loss, task, bayesian)
    check_compact(options)
    held, notes = held_out_rows(table, options)
    notes += balance_notes(y) if task == "classification" else []
    for note in notes:
        say(note)

    def tell(note: str) -> None:
        notes.append(note)
        say(note)

    inputs = count_inputs(table.read)
    (train, answers), unseen = held

    given = RowsToFit(train, answers, weights(answers, task, options.balance), seed)
    scaling = None
    if bayesian or options.solver == "adam":
        step("scaling columns")
        scaling = found_scaling(given, task, deadline)

    def estimator_to_fit(effort: str) -> TableEstimator:
        return new_estimator(task, options, scaling, effort)

    efforts = EFFORTS if seconds and scaling is None else ("default",)
    name = "Bayesian ladder" if bayesian else "ladder"
    step(f"fitting {name}")
    models = [estimator_to_fit(effort) for effort in efforts]
    with saying_of_chains_later():
        fitted = fit_in_time(models, given, deadline.left(SHARES["ladder"]))
    estimator, rows, effort = fitted.model, fitted.rows, efforts[fitted.level]
    if effort == "low":
        tell(f"{seconds:g} seconds leave time for a short selection alone: fewer candidates were tried.")
    score, held_out = judged(name, estimator, *unseen, fitted.seconds, task)
    said = distribution_scores(estimator.model_, estimator.read_table(unseen[0]), unseen[1])
    first: tuple[Score, HeldOut] = ({**score, **said}, held_out)
    if rows < len(answers):
        first[0]["rows"] = rows
    rivals = baselines(inputs, task) if options.compare else {}
    share = Deadline(deadline.start, SHARES["rivals"] * deadline.seconds)
    others = list(scores(rivals, (train, answers), unseen, task, lambda m: step(f"fitting {m}"), share))
    if len(others) < len(rivals):
        tell("There was no time left for " + ", ".join(list(rivals)[len(others) :]) + ".")
    reused = False
    # The rows of another file stay unseen, and then the model is that which was judged.
    if options.test is None:
        most = min(len(y), fitted.affordable(deadline.left()))
        if most == len(y) or most > WORTH * rows:
            step(f"fitting {name} to {'all ' if most == len(y) else ''}{most:,} rows, as it was found")
            with saying_of_chains_later():
                again = RowsToFit(X, y, weights(y, task, options.balance), seed).fit(
                    estimator_to_fit(effort), most, recipe=fitted.recipe
                )
            known = None if task == "regression" else (estimator.classes_, again.model.classes_)
            broken = got_worse(first[1], judged(name, again.model, *unseen, again.seconds, task)[1], known)
            if broken:
                tell(broken)
            else:
                estimator, rows = again.model, most
                # Where more is made of the rows than was found before, it is another recipe.
                reused = fitted.recipe is not None and again.recipe is fitted.recipe
        if most < len(y):
            tell(f"There was no time for all rows: the model was fitted to {rows:,} of {len(y):,}.")
    if isinstance(estimator, BayesianEstimator) and not estimator.diagnostics_.settled:
        longer = f"In Python, {type(estimator).__name__} runs them for longer (warmup, draws)."
        tell(f"{UNSETTLED}: {estimator.diagnostics_.summary}. {longer}")
    step("describing the model")
    scored = [first, *others]
    words = how_chosen(estimator) | {"held_out": len(unseen[1]), "fitted": rows}
    if reused:
        words["sentence"] += f" This sum was then solved on {'all ' if rows == len(y) else ''}{rows:,} rows."
    with limited(1):
        estimator.card_ = described(estimator, table, scored, words, [*table.sentences, *notes], seed)
    return estimator


def check_loss(loss: str, task: str, bayesian: bool = False) -> None:
    """Refuse a loss of numbers that is not known, or that is asked for where there is no choice."""
    if loss not in NUMBER_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, NUMBER_LOSSES))}; got {loss!r}.")
    if not loss_named(loss).quadratic and (bayesian or task == "classification"):
        fitted = "A posterior has its own likelihood" if bayesian else "Classes have the log loss"
        raise ValueError(f"{fitted}: loss must be left out; got {loss!r}.")


def check_compact(options: FitOptions) -> None:
    """Refuse what is said of small ladders where no model is selected that one could stand for."""
    if options.compact != "auto" and (options.bayesian or options.solver == "adam"):
        fitted = "A posterior" if options.bayesian else "A ladder of gradient steps"
        raise ValueError(f"{fitted} is kept as it is: compact must be left out; got {options.compact!r}.")


def ladder_for(task: str, loss: str, **settings: Any) -> LPNNRegressor | LPNNClassifier:
    """A ladder estimator that is not fitted yet; the loss is that of numbers."""
    check_loss(loss, task)
    return LPNNRegressor(loss=loss, **settings) if task == "regression" else LPNNClassifier(**settings)


def got_worse(first: HeldOut, again: HeldOut, known: tuple[NDArray[Any], NDArray[Any]] | None) -> str:
    """A sentence where the last fit predicts the held-out rows worse, by more than chance; else empty.

    Args:
        first, again: what the two fits say of the rows held out from the first.
        known: the classes of the two; None for numbers.
    """
    own, new = (None, None) if known is None else known
    loss, other = row_losses(first, own), row_losses(again, new)
    more, (before, after) = other - loss, (float(each.mean()) for each in (loss, other))
    rounding = ROUNDING * (float(np.var(first["observed"])) if known is None else 1.0)
    by_chance = len(loss) < FEWEST_HELD or more.mean() <= SURE * more.std() / math.sqrt(len(loss))
    if by_chance or after <= WORSE * before + rounding:
        return ""
    words = f"RMSE {after**0.5:.4g} instead of {before**0.5:.4g}"
    if known is not None:
        words = f"log loss {after:.4g} instead of {before:.4g}"
    return (
        f"Fitted once more, to all rows, the model was worse on the held-out rows ({words}), so the fit to the other "
        "rows was kept."
    )


@contextmanager
def saying_of_chains_later() -> Iterator[None]:
    """Leave out the warning that chains disagree: it is said once, of the model that is kept."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", UNSETTLED, ConvergenceWarning)
        yield


def new_estimator(task: str, options: FitOptions, scaling: str | None, effort: str) -> TableEstimator:
    """An estimator to fit.

    Args:
        task: "regression" or "classification".
        options: whether it draws from the posterior, its loss, whether it may be small, the seed of everything random.
        scaling: of the columns, for posteriors and gradient steps; None to select that and all else.
        effort: of a selection.
    """
    if scaling is None:
        return ladder_for(task, options.loss, effort=effort, compact=options.compact, random_state=options.seed)
    if options.bayesian:
        kind: Any = BayesianLPNNRegressor if task == "regression" else BayesianLPNNClassifier
        # The scaling was selected already, and the time was divided without another selection.
        alone = {"selection": False} if task == "regression" else {}
        return kind(features=scaling, random_state=options.seed, **alone)
    early = {} if task == "regression" else {"gradient": GradientTraining(validation_fraction=HELD_OUT_OF_STEPS)}
    return ladder_for(task, options.loss, **GRADIENT_STEPS, **early, features=scaling, random_state=options.seed)


def found_scaling(rows: RowsToFit, task: str, deadline: Deadline) -> str:
    """How columns are scaled in a short selection: that matters most to posteriors and gradient steps too."""
    if deadline.left() <= 0:
        return "standard"
    kind: Any = LPNNRegressor if task == "regression" else LPNNClassifier
    return str(rows.fit(kind(effort="low", compact=False, random_state=rows.seed), SCALING_ROWS).model.features_.kind)


def held_out_rows(
    table: TrainingTable, options: FitOptions
) -> tuple[tuple[tuple[Any, NDArray[Any]], tuple[Any, NDArray[Any]]], list[str]]:
    """Rows to fit and held-out rows, each with its targets, and sentences about how they were chosen."""
    X, y, group, time = table.columns, table.target, options.group, options.time
    if options.test is not None:
        rows, target, notes = rows_of_file(table, open_file(options.test))
        return ((X, y), (rows, target)), notes
    train, kept = split_rows(table, options.seed, group, time)
    notes = []
    if group is not None:
        notes.append(f"Whole groups of {group} are held out; {group} is not used as a feature.")
    if time is not None:
        notes.append(f"The latest {len(kept):,} rows by {time} are held out; {time} is not used as a feature.")
    if notes:
        notes.append(
            "Candidates were compared on single rows left out at random: the scores below are the strict ones."
        )
    return ((X[train], y[train]), (X[kept], y[kept])), notes


def weights(y: NDArray[Any], task: str, balance: bool) -> NDArray[np.float64] | None:
    """Weights by which all classes count equally, where that is wanted. Shape (n,)."""
    if not balance:
        return None
    if task != "classification":
        raise ValueError("balance must be left out for a target of numbers; it counts classes equally.")
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(len(y) / (len(counts) * counts[place]), dtype=np.float64)


def described(
    estimator: TableEstimator,
    table: TrainingTable,
    scored: list[tuple[Score, HeldOut]],
    selection: dict[str, Any],
    notes: list[str],
    seed: int,
) -> ModelCard:
    """The card of a fitted estimator, columns and target as they are written."""
    held_out = scored[0][1]
    card = make_card(
        estimator,
        table.read,
        target=table.name,
        scores=[score for score, _ in scored],
        held_out=held_out,
        selection=selection,
        notes=notes,
        seed=seed,
        source=table.source,
    )
    card["target_written"] = table.target_kind.json()
    if card["classes"] is not None:
        card["class_counts"] = class_counts(table.target)
        card["confusion"] = confusion(held_out, estimator.classes_.tolist())
    say_written(card, table.kinds)
    return card


def say_written(card: ModelCard, kinds: Sequence[ColumnKind]) -> None:
    """Note in a card how the cells of each column are written."""
    for column, kind in zip(card["columns"], kinds, strict=True):
        column["written"] = kind.json()
        if kind.kind == "date":
            column["unit"], column["date_format"] = date_unit(kind.date_format), kind.date_format


def open_file(table: Any, sheet: str | None = None) -> TableFile:
    """A path or a data frame as an open table."""
    return open_table(table, sheet=sheet) if isinstance(table, str | Path) else frame_file(table)
