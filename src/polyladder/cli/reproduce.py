"""`polyladder reproduce`: run tables and figures of the paper, and print ours beside the paper's."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polyladder.cli.output import Force, NoClobber
from polyladder.files.kinds import RESULTS
from polyladder.files.outputs import Output, check_outputs

if TYPE_CHECKING:
    from polyladder.experiments.engine.compare import Comparison
    from polyladder.experiments.engine.declare import Declaration
    from polyladder.experiments.engine.store import Store


class EngineName(StrEnum):
    """What runs groups elsewhere."""

    loky = "loky"
    dask = "dask"
    ray = "ray"


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="table_1 ... table_5, figure_1, figure_2, or a .toml file. None: all.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List tables and figures, and how much of each is done.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small honest subset, in minutes, stored apart.")] = False,
    only: Annotated[str, typer.Option("--only", help="DATA/MODEL; either may be left out.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Run nothing; print what is stored.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Run nothing; print the page of results.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with figures to this file (needs matplotlib).")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Groups at a time.")] = 1,
    threads: Annotated[int, typer.Option("--threads", help="Threads of each group.")] = 1,
    engine: Annotated[
        EngineName | None, typer.Option("--engine", help="Run groups on loky, dask or ray; --jobs workers, unless ...")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="... of a running dask scheduler or ray cluster: its address.")
    ] = None,
    store: Annotated[Path | None, typer.Option("--store", help="Folder of results.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of data sets, instead of that in POLYLADDER_DATA.")
    ] = None,
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Run tables and figures of the paper. What is stored already is not run again.

    Example: polyladder reproduce table_2 --quick
    """
    from polyladder.datasets.folders import VARIABLE
    from polyladder.experiments.engine import declare
    from polyladder.experiments.engine.compare import compare
    from polyladder.experiments.engine.cost import cost_left
    from polyladder.experiments.engine.store import Store
    from polyladder.experiments.pages import page
    from polyladder.files.replace_file import write_atomically

    outputs = [] if html is None else [Output("--html", html, RESULTS)]
    check_outputs(outputs, names or (), force=force, no_clobber=no_clobber)
    if data_dir is not None:
        # Groups may run in other processes, which inherit the variable.
        os.environ[VARIABLE] = str(data_dir)
    chosen = names or declare.names()
    declarations = [declare.declared(name) for name in chosen]
    if quick:
        declarations = [declare.quick(d) for d in declarations]
    if only:
        declarations = [declare.only(d, only) for d in declarations]
    stores = [Store(store or default_store(name, quick)) for name in chosen]
    if list_:
        width = max(len(d.name) for d in declarations) + 1
        for d, results in zip(declarations, stores, strict=True):
            typer.echo(f"{d.name:<{width}} {progress(d, results)}. {d.title}")
        spent = sum(seconds_spent(d, results) for d, results in zip(declarations, stores, strict=True))
        left = sum(cost_left(d, results.rows(d.name)) for d, results in zip(declarations, stores, strict=True))
        typer.echo(f"{'all':<{width}} took {spent / 3600:.1f} h where it was measured, about {left / 60:.0f} min left")
        return
    if not (show or markdown):
        from polyladder.training.spread import engine_of

        with engine_of(engine.value if engine else None, scheduler, jobs) as at_once:
            for d, results in zip(declarations, stores, strict=True):
                run_declaration(d, results, at_once, threads)
    comparisons = [compare(d, results.rows(d.name)) for d, results in zip(declarations, stores, strict=True)]
    if markdown:
        text = "\n".join(page.markdown_section(c) for c in comparisons) if names else page.markdown_page(comparisons)
        typer.echo(text, nl=False)
        return
    for comparison in comparisons:
        show_comparison(comparison)
    if html is not None:
        write_atomically(page.html_page(comparisons).encode(), html)
        typer.echo(f"Wrote {html}.")


def default_store(name: str, quick: bool) -> Path:
    """The folder ``results`` beside the declaration; for ``--quick`` and inside a package, one in the user's cache."""
    from polyladder.datasets.folders import cache_folder
    from polyladder.experiments.engine.declare import results_folder

    own = cache_folder().parent / "reproduce"
    return own / "quick" if quick else results_folder(name) or own / "results"


def progress(d: Declaration, store: Store) -> str:
    """How many splits of a table are done, how long they took, and how long the rest takes."""
    from polyladder.experiments.engine.compare import compare
    from polyladder.experiments.engine.cost import cost_left

    lacking = {column.label: column.unavailable for column in d.columns if column.unavailable}
    found = compare(d, store.rows(d.name)).cells
    cells = [cell for (column, _), cell in found.items() if cell.values or column not in lacking]
    done, wanted = sum(len(cell.values) for cell in cells), sum(cell.wanted for cell in cells)
    spent, left = seconds_spent(d, store) / 60, cost_left(d, store.rows(d.name)) / 60
    without = "".join(f"; {label}: {said}" for label, said in lacking.items())
    return f"{done:>4} of {wanted:<4} splits done in {spent:>4.0f} min, about {left:.0f} min left{without}"


def seconds_spent(d: Declaration, store: Store) -> float:
    """How long the stored rows of a table took, on the machine and under the load that they were measured."""
    return float(sum(row.get("seconds", 0.0) for row in store.rows(d.name).values()))


def run_declaration(d: Declaration, store: Store, jobs: int, threads: int) -> None:
    """Run what is missing, with a bar on a terminal and one line per group elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from polyladder.cli.printable import make_console
    from polyladder.experiments.engine.cost import cost_left
    from polyladder.experiments.engine.plan import Group
    from polyladder.experiments.engine.run import run

    console = make_console(stderr=True)
    left = cost_left(d, store.rows(d.name))
    if left:
        console.print(f"{d.name}: {duration(left)} on one core.", soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("time left"), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task(d.name, total=left)

        def watch(group: Group, cost: float) -> None:
            nonlocal left
            left -= cost
            first = group[0]
            kind = "last fits" if first.selection is None else "settings"
            line = f"{d.name} {first.column}/{first.model}, {len(group)} {kind}, split {first.split}"
            bar.update(shown, advance=cost, description=line)
            if not console.is_terminal:
                console.print(f"{line}; about {max(left, 0) / 60:.0f} min left", soft_wrap=True)

        lacking = run(d, store, jobs=jobs, threads=threads, watch=watch)
    for label in lacking:
        typer.echo(f"{d.name}: {label} left out, its data are not available.", err=True)


def duration(seconds: float) -> str:
    """About how long, in words."""
    return f"about {seconds / 3600:.1f} h" if seconds > 5400 else f"about {seconds / 60:.0f} min"


def show_comparison(comparison: Comparison) -> None:
    """A table in the terminal, with verdicts and departures."""
    from polyladder.cli.printable import make_console
    from polyladder.experiments.pages.claims import claim_lines
    from polyladder.experiments.pages.page import rows_with
    from polyladder.experiments.pages.render import (
        distribution_lines,
        lost_note,
        measures,
        notes,
        terminal,
        terminal_table,
        verdicts,
    )
    from polyladder.experiments.pages.searches import terminal_search

    d, console = comparison.declaration, make_console()
    lost = [note] if (note := lost_note(comparison)) else []
    if d.compare == "settings":
        console.print(terminal_search(comparison), *lost, "\n")
        return
    console.print(terminal(comparison))
    for label, texts in measures(comparison):
        console.print(terminal_table(d, label, "", texts))
    rows = rows_with(comparison, "distributions")
    shown = [*(distribution_lines(rows) if rows else ()), *claim_lines(comparison), *verdicts(comparison), *lost]
    for line in shown:
        console.print(line, markup=False)
    for mark, departure in notes(d):
        console.print(f"{mark + ' ' if mark else ''}{departure.what} {departure.why}", style="dim", markup=False)
    console.print()
