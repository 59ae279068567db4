"""Choosing features, order, width and ridge of a ladder by cross-validation, one after another, within a budget."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from polyladder.estimators.batch.fitting import L2
from polyladder.estimators.batch.grid_search import BatchedGridSearchCV
from polyladder.estimators.ladder import LPNNClassifier, LPNNRegressor
from polyladder.estimators.rows import MANY_ROWS
from polyladder.estimators.work import SWEEPS
from polyladder.tables.features import count_inputs
from polyladder.tables.table import find_categories, read_table

Task = Literal["regression", "classification"]

FOLDS = 3
GAIN = 0.02
"""How much lower, relatively, the error of a change must be for it to be kept; less is mostly luck of the folds."""

SEARCH_ROWS = 4000
"""Rows that the choice is made on, at most."""

SIZES = ((0, 10, 6), (4, 10, 6), (2, 10, 6), (2, 6, 6), (2, 6, 4), (2, 6, 3), (2, 4, 3), (2, 4, 2))
"""Ladders (0 for the usual number), width and order to begin with: the first that is not too expensive."""

COST, COST_PER_ROW = 6e10, 2e6
"""Operations that a fit by block solves may take: some ten seconds on one core, and more for many rows."""

EXACT_ROWS = 20_000
"""Rows times classes up to which classes are fitted by block solves."""


@dataclass(frozen=True)
class Trial:
    """One setting that was tried.

    Attributes:
        settings: parameters of the estimator.
        error: mean over the folds of RMSE, or of log loss for classes.
        seconds: of computing that it took.
    """

    settings: dict[str, Any]
    error: float
    seconds: float


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Attributes:
        settings: parameters of the estimator.
        trials: all that was tried, in order.
        rows: how many training rows they were tried on.
    """

    settings: dict[str, Any]
    trials: tuple[Trial, ...]
    rows: int

    @property
    def order_path(self) -> list[tuple[int, float]]:
        """The error of each order, everything else as it was when orders were compared."""
        first = next((t.settings for t in self.trials if t.settings["features"] == self.settings["features"]), {})
        same = [t for t in self.trials if {**t.settings, "order": 0} == {**first, "order": 0}]
        return sorted((t.settings["order"], t.error) for t in same)

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        words = setting_words(self.settings)
        if not self.trials:
            return f"Nothing was compared, the settings are the usual ones: {words}."
        measured = f"{FOLDS}-fold cross-validation on {self.rows:,} training rows"
        if len(self.trials) == 1:
            return f"One setting was tried by {measured}, and compared with no other: {words}."
        return f"Chosen among {len(self.trials)} settings by {measured}: {words}."

    @property
    def order_note(self) -> str:
        """How orders were compared, and why the lowest error may have been passed over."""
        path = dict(self.order_path)
        if len(path) < 2:
            return ""
        note = f"Error of each order that was tried, by {FOLDS}-fold cross-validation on {self.rows:,} training rows."
        lowest, taken = min(path, key=path.__getitem__), self.settings["order"]
        if taken in path and lowest != taken:
            note += f" Order {lowest} was lower by less than {GAIN:.0%}, mostly luck of the folds: {taken} was kept."
        return note

    def json(self) -> dict[str, Any]:
        """For a card."""
        return {
            "sentence": self.sentence,
            "trials": [[setting_words(t.settings), t.error, t.seconds] for t in self.trials],
            "order_path": [list(pair) for pair in self.order_path],
            "order_note": self.order_note,
        }


def setting_words(s: dict[str, Any]) -> str:
    """A setting in a few words, as it is used: Adam estimates no ridge weight."""
    if s["alpha"] == "auto":
        ridge = "ridge estimated" if s["solver"] == "alternating" else f"L2 weight {L2:g}"
    else:
        ridge = f"{'ridge' if s['solver'] == 'alternating' else 'L2 weight'} {s['alpha']:g}"
    return f"order {s['order']}, width {s['width']}, {s['features']} features, {ridge}"


def choose(
    X: Any,
    y: Any,
    task: Task,
    *,
    inputs: int | None = None,
    solver: Literal["auto", "alternating", "adam"] = "auto",
    seconds: float = 8.0,
    random_state: int = 0,
    tell: Callable[[Trial, Trial], None] = lambda trial, best: None,
) -> Choice:
    """Walk through features, order, width and ridge, each time keeping the best so far.

    Parameters
    ----------
    X : data frame of shape (n, d)
    y : ndarray of shape (n,)
    task : {"regression", "classification"}
    inputs : int, default=None
        How many inputs a polynomial of the table has; counted where it is not given.
    solver : {"auto", "alternating", "adam"}
    seconds : float
        Of computing, after which no new setting is begun; on a busy machine it takes longer, and the choice is the
        same. With 0 nothing is tried, and the choice is the defaults.
    random_state : int
    tell : callable
        Called with each trial and the best so far.

    Returns
    -------
    Choice
    """
    began = seconds_computed()
    inputs = count_inputs(read_table(X, find_categories(X))) if inputs is None else inputs
    settings = first_settings(inputs, y, task, solver) | {"random_state": random_state}
    rows, target = some_rows(X, y, random_state)
    if seconds <= 0 or smallest_part(target, task) < FOLDS:
        return Choice(settings, (), len(target))
    folds = list(splitter(task, random_state).split(np.zeros(len(target)), target))
    trials: list[Trial] = []

    def best() -> Trial:
        leader = trials[0]
        for trial in trials[1:]:
            leader = trial if trial.error < (1 - GAIN) * leader.error else leader
        return leader

    for candidate in candidates(settings, best):
        if trials and seconds_computed() - began + trials[-1].seconds > seconds:
            break
        trials.append(attempt(rows, target, task, candidate, folds))
        tell(trials[-1], best())
    return Choice(best().settings, tuple(trials), len(target))


def candidates(start: dict[str, Any], best: Callable[[], Trial]) -> Iterator[dict[str, Any]]:
    """Settings to try, each a change of the best so far; what matters most comes first."""
    yield start
    # Where cost has cut the first setting down, larger ones would be too expensive.
    most = np.inf if start["order"] == 6 or "n_estimators" not in start else start["order"]
    for name, values in (
        ("features", ("yeo-johnson",)),
        ("order", [order for order in (4, 8, 3, 6, 2) if order != start["order"] and order <= most]),
        ("width", [round(f * start["width"]) for f in (0.6, 1.6) if f < 1 or most == np.inf]),
        ("alpha", (1e-4, 1e-3)),
    ):
        before = best().settings
        for value in values:
            yield {**before, name: value}


def attempt(X: Any, y: Any, task: Task, settings: dict[str, Any], folds: list[Any]) -> Trial:
    """The cross-validated error of one setting, from fewer ladders and steps than a final fit has."""
    began = seconds_computed()
    short: dict[str, Any] = {"n_estimators": 1, "max_iter": 20} if settings["solver"] == "adam" else {"n_estimators": 2}
    model = (LPNNRegressor if task == "regression" else LPNNClassifier)(**(settings | short))
    scoring = "neg_root_mean_squared_error" if task == "regression" else "neg_log_loss"
    search = BatchedGridSearchCV(model, {"order": [settings["order"]]}, scoring=scoring, cv=folds, refit=False)
    with warnings.catch_warnings():
        # Rare categories are missing from some folds: nothing that the user could mend.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(X, y)
    error = -float(search.cv_results_["mean_test_score"][0])
    return Trial(settings, error if np.isfinite(error) else np.inf, seconds_computed() - began)


def seconds_computed() -> float:
    """Seconds that this process has computed, on each of its threads."""
    return time.process_time() / torch.get_num_threads()


def first_settings(inputs: int, y: Any, task: Task, solver: str) -> dict[str, Any]:
    """Where to begin: the usual settings, or smaller ones if the table is wide; Adam where even those cost too much.

    Classes are fitted by block solves while there are few: on small tables they are faster and better than Adam.
    """
    n, outputs = len(y), 1 if task == "regression" else len(np.unique(y))
    usual = {"missing": "impute", "features": "standard", "alpha": "auto"}
    sizes = SIZES if task == "regression" else [(count, width, min(order, 4)) for count, width, order in SIZES]
    if solver == "auto" and task == "classification" and n * outputs > EXACT_ROWS:
        solver = "adam"
    for count, width, order in sizes if solver != "adam" else ():
        ladders = count or (8 if n < MANY_ROWS else 4)
        weights = width * (max(inputs, width) + 1)
        cost = ladders * SWEEPS * order * outputs * weights**2 * (n + 4 * weights)
        if cost <= COST + COST_PER_ROW * n or (solver == "alternating" and (count, width, order) == sizes[-1]):
            few = {"n_estimators": count} if count else {}
            return {**usual, "solver": "alternating", "width": width, "order": order, **few}
    return {**usual, "solver": "adam", "width": 64, "order": 4}


def some_rows(X: Any, y: Any, random_state: int) -> tuple[Any, Any]:
    """At most `SEARCH_ROWS` rows."""
    if len(y) <= SEARCH_ROWS:
        return X, y
    rows = np.sort(np.random.default_rng(random_state).permutation(len(y))[:SEARCH_ROWS])
    return _safe_indexing(X, rows), y[rows]


def smallest_part(y: Any, task: Task) -> int:
    """How many folds the rows allow: rows of the rarest class, or a fifth of all rows."""
    return int(np.unique(y, return_counts=True)[1].min()) if task == "classification" else len(y) // 5


def splitter(task: Task, random_state: int) -> Any:
    """How rows are cut into folds."""
    kind = KFold if task == "regression" else StratifiedKFold
    return kind(FOLDS, shuffle=True, random_state=random_state)
