"""`polyladder fit`: from a table to a tested model in one file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyladder.cli.training_table import TrainingTable
    from polyladder.estimators.card import Score
    from polyladder.estimators.choose import Choice, Trial

HELD_OUT = 0.15
"""The share of the rows that is held out to compare models."""


class Task(StrEnum):
    """What a target is for."""

    regression = "regression"
    classification = "classification"


class Solver(StrEnum):
    """How ladders are fitted."""

    auto = "auto"
    alternating = "alternating"
    adam = "adam"


def fit(
    data: Annotated[str, typer.Argument(help="CSV, TSV or Parquet, compressed or not; - for standard input.")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the model; by default DATA.ladder here.")
    ] = None,
    task: Annotated[Task | None, typer.Option(help="By default guessed from the target.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave this column out; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Take this column as categories; may be repeated.")] = None,
    bayesian: Annotated[bool, typer.Option("--bayesian", help="Draw from the posterior, by Gibbs sampling.")] = False,
    solver: Annotated[Solver, typer.Option(help="Exact block solves, or gradient steps.")] = Solver.auto,
    time_budget: Annotated[
        float, typer.Option(min=0, help="Seconds for choosing order, width and ridge; 0 takes the defaults.")
    ] = 8.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the split, the folds and the starts.")] = 0,
    report: Annotated[bool, typer.Option("--report", help="Write the page of the model beside it, as HTML.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the model card as JSON.")] = False,
) -> None:
    """Fit a polynomial to a table, compare it on held-out rows and save it.

    \b
    Examples:
      polyladder fit houses.csv --target price
      polyladder fit houses.parquet -t price -o houses.ladder --report
      zcat rows.csv.gz | polyladder fit - -t label --task classification
    """
    from polyladder.cli.training_table import training_table
    from polyladder.data.read_table import open_table

    place = output or Path(f"{'model' if data == '-' else Path(data).name.split('.')[0] or 'model'}.ladder")
    if not place.parent.is_dir():
        raise ValueError(f"--output must lie in an existing folder; got {place}. Make {place.parent} first.")
    talk = not quiet
    with progress(talk) as shown:
        shown.step(f"reading {data}")
        table = training_table(
            open_table(data), target, task.value if task else None, tuple(drop or ()), tuple(category or ())
        )
        for sentence in (table.guess, *table.notes):
            shown.say(sentence)
        result = fit_table(
            table,
            target,
            "standard input" if data == "-" else data,
            solver=solver.value,
            seconds=time_budget,
            seed=seed,
            bayesian=bayesian,
            shown=shown,
        )
        shown.step("saving")
        result.estimator.save(place)
        page = place.with_suffix(".html") if report else None
        if page is not None:
            from polyladder.cli.report import write_page

            write_page(result.estimator, page, table.columns, table.target)
    if as_json:
        typer.echo(json.dumps({**result.estimator.card_, "model": str(place), "report": str(page) if page else None}))
    elif talk:
        show_result(result, place)
        if page is not None:
            typer.echo(f"Report: {page}")


@dataclass(frozen=True)
class FitResult:
    """A model fitted to all rows, with its card; how it was chosen; how many rows it was tested on before."""

    estimator: Any
    choice: Choice
    held_out: int


def fit_table(
    table: TrainingTable,
    target: str,
    source: str,
    *,
    solver: Literal["auto", "alternating", "adam"],
    seconds: float,
    seed: int,
    bayesian: bool,
    shown: Shown,
) -> FitResult:
    """Choose on training rows, compare on the others, fit to all."""
    from sklearn.base import clone

    from polyladder.data.columns import DAYS
    from polyladder.estimators.card import make_card
    from polyladder.estimators.choose import choose
    from polyladder.estimators.compare import baselines, scores

    train, test = split_rows(table, seed)
    X, y = table.columns, table.target

    def tell(trial: Trial, best: Trial) -> None:
        shown.step(f"{setting_words(trial.settings)}: {trial.error:.4g}; best {best.error:.4g}")

    choice = choose(X[train], y[train], table.task, solver=solver, seconds=seconds, random_state=seed, tell=tell)
    estimator = final_estimator(table.task, choice.settings, bayesian)
    name = "Bayesian ladder" if bayesian else "ladder"
    models = {name: clone(estimator), **baselines(X, table.task)}
    judged = list(scores(models, (X[train], y[train]), (X[test], y[test]), tell=lambda m: shown.step(f"fitting {m}")))
    shown.step(f"fitting {name} to all {len(y):,} rows")
    estimator.fit(X, y)
    card = make_card(
        estimator,
        X,
        target=target,
        scores=[score for score, _ in judged],
        held_out=judged[0][1],
        order_path=choice.order_path,
        seed=seed,
        source=source,
    )
    for column, kind in zip(card["columns"], table.kinds, strict=True):
        if kind.kind == "date":
            column["unit"], column["date_format"] = DAYS, kind.date_format
    estimator.card_ = card
    return FitResult(estimator, choice, len(test))


def split_rows(table: TrainingTable, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row numbers to fit and to hold out, classes in equal shares."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    n, classes = len(table.target), table.target if table.task == "classification" else None
    held = max(2, round(HELD_OUT * n), 0 if classes is None else len(np.unique(classes)))
    train, test = train_test_split(np.arange(n), test_size=held, random_state=seed, stratify=classes)
    return np.sort(train), np.sort(test)


def final_estimator(task: str, settings: dict[str, Any], bayesian: bool) -> Any:
    """The estimator of the chosen settings."""
    if not bayesian:
        from polyladder.estimators.ladder import LPNNClassifier, LPNNRegressor

        return (LPNNRegressor if task == "regression" else LPNNClassifier)(**settings)
    from polyladder.estimators.bayesian import BayesianLPNNClassifier, BayesianLPNNRegressor

    kind: Any = BayesianLPNNRegressor if task == "regression" else BayesianLPNNClassifier
    known = kind().get_params()
    return kind(**{name: value for name, value in settings.items() if name in known})


def setting_words(s: dict[str, Any]) -> str:
    """A setting in a few words."""
    ridge = "estimated" if s["alpha"] == "auto" else f"{s['alpha']:g}"
    return f"order {s['order']}, width {s['width']}, {s['features']} features, ridge {ridge}"


def show_result(result: FitResult, place: Path) -> None:
    """Print the table of scores, and what was fitted."""
    from rich.console import Console

    console, card = Console(highlight=False), result.estimator.card_
    console.print(score_table(card["scores"], result.held_out))
    estimator, tried = result.estimator, result.choice.trials
    ladder = estimator.polynomial_
    if tried:
        words = setting_words(result.choice.settings)
        console.print(f"Chosen among {len(tried)} settings by cross-validation: {words}.")
    shape = f"a polynomial of order {ladder.order} in {ladder.in_features} inputs"
    console.print(f"Fitted to all {card['rows']:,} rows: {shape}.")
    if "90" in card["residual_quantiles"]:
        console.print(f"90 % of held-out rows lie within {card['residual_quantiles']['90']:.4g} of the prediction.")
    console.print(f"Saved to {place} ({place.stat().st_size / 1024:.0f} kB).", soft_wrap=True)


def score_table(scores: list[Score], rows: int) -> Any:
    """Held-out scores as a table for the terminal, the best in bold."""
    from rich import box
    from rich.table import Table

    measures = {"rmse": "RMSE", "r2": "R2"} if "rmse" in scores[0] else {"error": "error", "log_loss": "log loss"}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{rows:,} held-out rows", title_justify="left")
    table.add_column("model", no_wrap=True)
    for label in (*measures.values(), "seconds"):
        table.add_column(label, justify="right")
    first = next(iter(measures))
    best = min(s[first] for s in scores)  # type: ignore[literal-required]
    for score in scores:
        cells = [f"{score[m]:.4g}" for m in measures]  # type: ignore[literal-required]
        style = "bold" if score[first] == best else None  # type: ignore[literal-required]
        table.add_row(score["model"], *cells, f"{score['seconds']:.2f}", style=style)
    return table


class Shown:
    """Progress on stderr: a moving line in a terminal, plain sentences elsewhere, or nothing at all."""

    def __init__(self, bar: Any, talk: bool) -> None:
        self.bar, self.talk = bar, talk
        self.task = None if bar is None else bar.add_task("", total=None)

    def step(self, words: str) -> None:
        """Say what is being done."""
        if self.bar is not None:
            self.bar.update(self.task, description=words)

    def say(self, sentence: str) -> None:
        """Say something that stays."""
        if not self.talk:
            return
        if self.bar is not None:
            self.bar.console.print(sentence, highlight=False, markup=False)
        else:
            print(sentence, file=sys.stderr)


@contextmanager
def progress(talk: bool) -> Iterator[Shown]:
    """Show progress while the block runs."""
    if not (talk and sys.stderr.isatty()):
        yield Shown(None, talk)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Shown(bar, talk)
