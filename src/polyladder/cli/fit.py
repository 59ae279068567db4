"""`polyladder fit`: from a table to a tested model in one file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polyladder.automatic.card import Score


class TaskName(StrEnum):
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
    task: Annotated[TaskName | None, typer.Option(help="By default guessed from the target.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave this column out; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Take this column as categories; may be repeated.")] = None,
    bayesian: Annotated[bool, typer.Option("--bayesian", help="Draw from the posterior, by Gibbs sampling.")] = False,
    solver: Annotated[Solver, typer.Option(help="Exact block solves, or gradient steps.")] = Solver.auto,
    time_budget: Annotated[
        float, typer.Option(min=0, help="Seconds for choosing order, width and ridge; 0 takes the defaults.")
    ] = 8.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the split, the folds and the starts.")] = 0,
    report: Annotated[bool, typer.Option("--report", help="Write the page of the model beside it, as HTML.")] = False,
    no_clobber: Annotated[
        bool, typer.Option("--no-clobber", help="Refuse to replace an existing model or page.")
    ] = False,
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
    from polyladder.cli.output import check_place, place_words

    place = output or Path(f"{'model' if data == '-' else Path(data).name.split('.')[0] or 'model'}.ladder")
    page = place.with_suffix(".html") if report else None
    places = [place] if page is None else [place, page]
    replaced = [check_place("--output", each, no_clobber) for each in places]
    # After the checks: reading the libraries takes a second or two.
    from polyladder.automatic.fit_table import fit_training_table, read_training_table
    from polyladder.report.page import write_report

    with progress(not quiet) as shown:
        shown.step(f"reading {data}")
        columns = {"drop": tuple(drop or ()), "category": tuple(category or ())}
        table = read_training_table(data, target, task=task.value if task else None, **columns, say=shown.say)
        estimator = fit_training_table(
            table, bayesian=bayesian, solver=solver.value, seconds=time_budget, seed=seed, step=shown.step
        )
        shown.step("saving")
        estimator.save(place)
        if page is not None:
            write_report(estimator, page, table.columns, table.target)
    if as_json:
        typer.echo(json.dumps({**estimator.card_, "model": str(place), "report": str(page) if page else None}))
    elif not quiet:
        show_result(estimator)
        for label, each, old in zip(("Saved to", "Report:"), places, replaced, strict=False):
            typer.echo(place_words(label, each, old))


def show_result(estimator: Any) -> None:
    """Print the table of scores, and what was fitted."""
    from rich.console import Console

    console, card = Console(highlight=False), estimator.card_
    selection, ladder = card["selection"], estimator.polynomial_
    if selection.get("floor"):
        console.print(f"A {selection['floor']} model won: on rows left out, nothing beyond it helped.", markup=False)
    console.print(score_table(card["scores"], selection["held_out"]))
    for sentence in (verdict(card["scores"]), selection["sentence"]):
        if sentence:
            console.print(sentence, markup=False)
    shape = f"a polynomial of order {ladder.order} in {ladder.in_features} inputs"
    console.print(f"Fitted to all {card['rows']:,} rows: {shape}.")
    if "90" in card["residual_quantiles"]:
        console.print(f"90 % of held-out rows lie within {card['residual_quantiles']['90']:.4g} of the prediction.")


def verdict(scores: list[Score]) -> str:
    """A sentence where a model that anyone would try first was better than the ladder; else empty."""
    first = "rmse" if "rmse" in scores[0] else "error"
    best = min(scores, key=lambda score: score[first])  # type: ignore[literal-required]
    if best["model"] == scores[0]["model"]:
        return ""
    return f"On these rows {best['model']} was better than the {scores[0]['model']}."


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
