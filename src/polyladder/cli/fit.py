"""`polyladder fit`: from a table to a tested model in one file."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from polyladder.cli.fit_parts import fit_in_processes, fit_parts, in_parts, refuse_in_parts
from polyladder.cli.output import Force, Keep, NoClobber, Quiet, RowsPath, Sheet, check, place_words, share_of
from polyladder.cli.progress import progress
from polyladder.files.kinds import METRICS, MODEL, PAGE

if TYPE_CHECKING:
    from polyladder.automatic.card import Score
    from polyladder.estimators.table_estimator import TableEstimator

MEASURED = (
    *("target", "task", "loss", "rows", "scores", "notes"),
    *("classes", "class_counts", "confusion", "residual_quantiles"),
)
"""Entries of a card that --metrics writes."""

SHOWN_LEVELS = ("50", "80", "90", "95")
"""Percentages of the intervals whose coverage is printed."""

SHOWN_CLASSES = 10
"""Classes shown in the confusion table, at most."""


class TaskName(StrEnum):
    """Whether to predict numbers or classes."""

    regression = "regression"
    classification = "classification"


class Solver(StrEnum):
    """How ladders are fitted."""

    auto = "auto"
    alternating = "alternating"
    adam = "adam"


def fit(
    data: RowsPath,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model's file; by default DATA.ladder in the current folder."),
    ] = None,
    task: Annotated[TaskName | None, typer.Option(help="By default guessed from the target.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave this column out; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Take this column as categories; may be repeated.")] = None,
    keep: Keep = None,
    sheet: Sheet = None,
    schema: Annotated[
        Path | None, typer.Option(help="What each column is, as TOML; `polyladder columns --toml` writes a draft.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="A file of rows to test on, none of which are fitted; by default 15 % of DATA."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Hold out whole groups: rows that share a value of this column, which is not a feature."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Hold out the latest rows by this column; it is not a feature unless kept.")
    ] = None,
    bayesian: Annotated[bool, typer.Option("--bayesian", help="Draw from the posterior, by Gibbs sampling.")] = False,
    balance: Annotated[bool, typer.Option("--balance", help="Give all classes the same total weight.")] = False,
    no_compare: Annotated[bool, typer.Option("--no-compare", help="Do not fit other models for comparison.")] = False,
    solver: Annotated[Solver, typer.Option(help="Exact block solves, or gradient steps.")] = Solver.auto,
    compact: Annotated[
        str,
        typer.Option(
            help="Whether one small ladder may stand for the model: auto, no, or what it may cost as a share of the "
            "error on rows left out, such as 5%; auto is 1%."
        ),
    ] = "auto",
    loss: Annotated[
        str, typer.Option(help="What a wrong number costs: squared, or huber where the target has gross errors.")
    ] = "squared",
    time_budget: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds for the whole run, other models included: fits get more rows, then more effort, while time "
            "is left. By default all rows are used with the default effort.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute on; by default one per core.", show_default=False)
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="GiB that a fit may use; a table that needs more is read in parts, several times. "
            "By default half of this machine's memory.",
            show_default=False,
        ),
    ] = None,
    sweeps: Annotated[int, typer.Option(min=1, help="Sweeps over all rows of a table that is read in parts.")] = 2,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the rows under torchrun, with --solver adam.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the split, the folds and the starts.")] = 0,
    report: Annotated[bool, typer.Option("--report", help="Also write an HTML report next to the model.")] = False,
    metrics: Annotated[
        Path | None, typer.Option(help="Write the scores of all models, and for classes the confusion table, as JSON.")
    ] = None,
    force: Force = False,
    no_clobber: NoClobber = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the model card as JSON.")] = False,
) -> None:
    """Fit a polynomial to a table, compare it on held-out rows and save it.

    \b
    Examples:
      polyladder fit houses.csv --target price
      polyladder fit houses.parquet -t price -o houses.ladder --report
      zcat rows.csv.gz | polyladder fit - -t label --task classification
      polyladder fit visits.csv -t outcome --group patient --drop notes
    """
    from polyladder.tables.file_parts import table_files

    place = output or Path(f"{'model' if data == '-' else Path(data).name.split('.')[0] or 'model'}.ladder")
    page = place.with_suffix(".html") if report else None
    places = [place] if page is None else [place, page]
    files = (("--output", place, MODEL), ("--report", page, PAGE), ("--metrics", metrics, METRICS))
    replaced = check([*table_files(data), test, schema], force, no_clobber, *files)
    began = monotonic()
    # After the checks: reading the libraries takes a second or two.
    from polyladder.automatic.fit_processes import under_torchrun
    from polyladder.automatic.fit_table import check_compact, fit_training_table, read_training_table
    from polyladder.automatic.options import FitOptions
    from polyladder.report.page import write_report
    from polyladder.training.threads import limited

    options = FitOptions(
        task=task.value if task else None,
        drop=tuple(drop or ()),
        category=tuple(category or ()),
        keep=tuple(keep or ()),
        schema=schema,
        sheet=sheet,
        bayesian=bayesian,
        solver=solver.value,
        compact=read_compact(compact),
        loss=loss,
        seconds=time_budget,
        compare=not no_compare,
        balance=balance,
        test=test,
        group=group,
        time=time,
        seed=seed,
    )
    part = place.with_name(place.name + ".part")
    if under_torchrun():
        if solver != Solver.adam:
            raise ValueError(f"--solver must be adam under torchrun, which shares gradient steps; got {solver.value}.")
        check_compact(options)
        found = fit_in_processes(data, target, options, place, epochs=epochs, checkpoint=part, quiet=quiet)
        if found is not None:
            finish(found, [place], replaced, None, False, quiet)
        return
    if data != "-" and in_parts(data, memory):
        asked: dict[str, object] = {"--bayesian": bayesian, "--balance": balance, "--test": test, "--group": group}
        asked |= {"--time": time, "--time-budget": time_budget, "--report": report, "--sheet": sheet}
        asked |= {"--compact": compact != "auto"}
        refuse_in_parts(data, asked | {"--solver adam": solver == Solver.adam})
        with limited(threads):
            found = fit_parts(data, target, options, place, sweeps=sweeps, checkpoint=part, quiet=quiet)
        finish(found, [place], replaced, metrics, as_json, quiet)
        return
    with progress(not quiet) as shown, limited(threads):
        shown.step(f"reading {data}")
        heard = replace(options, say=shown.say, step=shown.step)
        table = read_training_table(data, target, heard)
        estimator = fit_training_table(table, heard, began)
        shown.step("saving")
        estimator.save(place)
        if page is not None:
            write_report(estimator, page, table.read, table.target)
    finish(estimator, places, replaced, metrics, as_json, quiet)


def read_compact(text: str) -> Literal["auto", False] | float:
    """What --compact says: auto, no, or a share."""
    if text in ("auto", "no"):
        return "auto" if text == "auto" else False
    try:
        share = share_of("--compact", text)
    except ValueError:
        share = 0.0
    if not 0 < share < math.inf:
        raise ValueError(f"--compact must be auto, no, or a share above 0 such as 5%; got {text!r}.")
    return share


def finish(
    estimator: TableEstimator,
    places: list[Path],
    replaced: list[bool],
    metrics: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print what was found and where it was written."""
    if metrics is not None:
        write_metrics(estimator.card_, metrics)
    if as_json:
        page = str(places[1]) if len(places) > 1 else None
        typer.echo(json.dumps({**estimator.card_, "model": str(places[0]), "report": page}))
    elif not quiet:
        show_result(estimator)
        for label, each, old in zip(("Saved to", "Report:"), places, replaced, strict=False):
            typer.echo(place_words(label, each, old))


def write_metrics(card: dict[str, Any], path: Path) -> None:
    """Write how all models did, as JSON."""
    from polyladder.files.replace_file import write_atomically

    found = {"format": "polyladder metrics 1"} | {name: card[name] for name in MEASURED if card.get(name) is not None}
    found["held_out"] = card["selection"]["held_out"]
    write_atomically((json.dumps(found, indent=1) + "\n").encode(), path)


def show_result(estimator: TableEstimator) -> None:
    """Print the table of scores, and what was fitted."""
    from polyladder.cli.printable import make_console

    console, card = make_console(highlight=False), estimator.card_
    selection, ladder = card["selection"], estimator.polynomial_
    if selection.get("floor"):
        console.print(f"A {selection['floor']} model won: on rows left out, nothing beyond it helped.", markup=False)
    console.print(score_table(card["scores"], selection["held_out"]))
    if card.get("confusion"):
        console.print(confusion_table(card))
    for sentence in (verdict(card["scores"]), selection["sentence"], selection.get("compact")):
        if sentence:
            console.print(sentence, markup=False)
    order = f"{selection['floor']} function" if selection.get("floor") else f"polynomial of order {ladder.order}"
    shape = f"a {order} in {ladder.in_features} {'input' if ladder.in_features == 1 else 'inputs'}"
    every = "all " if selection["fitted"] == card["rows"] else ""
    loss = estimator.target_.loss
    by = "" if loss.quadratic or loss.answer == "classes" else f" by the {loss.name} loss"
    console.print(f"Fitted to {every}{selection['fitted']:,} rows{by}: {shape}.")
    for sentence in calibration_words(card):
        console.print(sentence, markup=False)


def calibration_words(card: dict[str, Any]) -> list[str]:
    """A sentence on whether intervals or probabilities kept their word on held-out rows, where that is known."""
    from polyladder.tables.columns import write_value

    score, written = card["scores"][0], card.get("target_written")
    if "calibration_error" in score:
        error = f"{100 * score['calibration_error']:.2g}"
        return [f"On held-out rows, stated probabilities differ from what happened by {error} points on average."]
    if "coverage" in score:
        shares = [f"{100 * score['coverage'][percent]:.0f}" for percent in SHOWN_LEVELS]
        half = write_value(float(f"{score['half_width']:.3g}"), written)
        return [
            f"{listed(SHOWN_LEVELS)} % intervals hold {listed(shares)} % of {score['scored']:,} held-out rows; half of "
            f"the 90 % intervals are within ±{half}."
        ]
    if "90" in card["residual_quantiles"]:
        half = write_value(card["residual_quantiles"]["90"], written)
        return [f"90 % of held-out rows lie within {half} of the prediction."]
    return []


def listed(words: Sequence[str]) -> str:
    """Words in one: a, b and c."""
    return f"{', '.join(words[:-1])} and {words[-1]}"


def verdict(scores: list[Score]) -> str:
    """A sentence if a simple rival was better than the ladder; else empty."""
    first = "rmse" if "rmse" in scores[0] else "error"
    best = min(scores, key=lambda score: score[first])  # type: ignore[literal-required]
    if best["model"] == scores[0]["model"]:
        return ""
    return f"On these rows {best['model']} was better than the {scores[0]['model']}."


def score_table(scores: list[Score], rows: int) -> Any:
    """Held-out scores as a table for the terminal, the best in bold."""
    from rich import box
    from rich.table import Table

    classes = {"error": "error", "log_loss": "log loss", "auc": "AUC", "average_precision": "av. prec.", "f1": "F1"}
    numbers = {"rmse": "RMSE", "r2": "R2"}
    if "crps" in scores[0]:
        numbers |= {"crps": "CRPS", "log_likelihood": "log lik."}
    measures = numbers if "rmse" in scores[0] else classes
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{rows:,} held-out rows", title_justify="left")
    table.add_column("model", no_wrap=True)
    for label in (*measures.values(), "seconds"):
        table.add_column(label, justify="right")
    first = next(iter(measures))
    best = min(s[first] for s in scores)  # type: ignore[literal-required]
    for score in scores:
        # Five measures of classes have room for three digits each in a terminal of usual width.
        digits = 4 if "rmse" in measures else 3
        cells = [f"{score[m]:.{digits}g}" if m in score else "" for m in measures]  # type: ignore[literal-required]
        style = "bold" if score[first] == best else None  # type: ignore[literal-required]
        name = score["model"] + (f", {score['rows']:,} rows" if "rows" in score else "")
        table.add_row(name, *cells, f"{score['seconds']:.2f}", style=style)
    return table


def confusion_table(card: dict[str, Any]) -> Any:
    """How often each class was predicted as each other, for the first ten."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names, counts = card["classes"][:SHOWN_CLASSES], card["confusion"]
    more = f", the first {len(names)} of {len(card['classes'])} classes" if len(card["classes"]) > len(names) else ""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"Observed, and predicted as{more}", title_justify="left")
    table.add_column(Text(card["target"]))
    for name in (*names, "rows", "share of all rows"):
        table.add_column(Text(name), justify="right")
    for name, line in zip(names, counts, strict=False):
        share = card["class_counts"][name] / sum(card["class_counts"].values())
        table.add_row(Text(name), *(str(c) for c in line[: len(names)]), str(sum(line)), f"{share:.1%}")
    return table
