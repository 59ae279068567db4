"""`polyladder reproduce`: run tables and figures of the paper, and print ours beside the paper's."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyladder_lab.experiments.engine.compare import Comparison
    from polyladder_lab.experiments.engine.declare import Declaration
    from polyladder_lab.experiments.engine.store import Store


class EngineName(StrEnum):
    """Engines that groups can run on."""

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
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small subset that takes minutes, stored separately."),
    ] = False,
    only: Annotated[str, typer.Option("--only", help="DATA/MODEL; either may be left out.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Run nothing; print what is stored.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Run nothing; print the page of results.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page with figures to this file (needs matplotlib).")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Groups that run at a time.")] = 1,
    threads: Annotated[int, typer.Option("--threads", help="Threads of each group.")] = 1,
    engine: Annotated[
        EngineName | None,
        typer.Option("--engine", help="Run groups on --jobs workers of loky, dask or ray."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a running dask scheduler or ray cluster.")
    ] = None,
    store: Annotated[Path | None, typer.Option("--store", help="Folder of results.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of data sets, instead of that in POLYLADDER_DATA.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file even if polyladder did not write it.")
    ] = False,
    no_clobber: Annotated[bool, typer.Option("--no-clobber", help="Refuse to replace any existing file.")] = False,
) -> None:
    """Run tables and figures of the paper. Stored results are not run again.

    Example: polyladder reproduce table_2 --quick
    """
    from polyladder import check_output, write_atomically
    from polyladder_lab.datasets.folders import VARIABLE
    from polyladder_lab.experiments.engine import declare
    from polyladder_lab.experiments.engine.compare import compare
    from polyladder_lab.experiments.engine.cost import cost_left
    from polyladder_lab.experiments.engine.store import Store
    from polyladder_lab.experiments.pages import page

    check_output(
        "--html",
        html,
        words="a page of results",
        mark=page.MARK,
        inputs=names or (),
        force=force,
        no_clobber=no_clobber,
    )
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
        all_spent = all_left = 0.0
        for d, results in zip(declarations, stores, strict=True):
            spent, left = seconds_spent(d, results), cost_left(d, results.rows(d.name))
            typer.echo(f"{d.name:<{width}} {progress(d, results, spent, left)}. {d.title}")
            all_spent, all_left = all_spent + spent, all_left + left
        hours, minutes = f"{all_spent / 3600:.1f} h", f"{all_left / 60:.0f} min"
        typer.echo(f"{'all':<{width}} took {hours} where it was measured, about {minutes} left")
        return
    if not (show or markdown):
        from polyladder_lab.experiments.engine.workers import engine_of

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
    from polyladder_lab.datasets.folders import cache_folder
    from polyladder_lab.experiments.engine.declare import results_folder

    own = cache_folder().parent / "reproduce"
    return own / "quick" if quick else results_folder(name) or own / "results"


def progress(d: Declaration, store: Store, spent: float, left: float) -> str:
    """How many splits of a table are done, and how long they took and the rest will take, in words."""
    from polyladder_lab.experiments.engine.compare import compare

    lacking = {column.label: column.unavailable for column in d.columns if column.unavailable}
    found = compare(d, store.rows(d.name)).cells
    cells = [cell for (column, _), cell in found.items() if cell.values or column not in lacking]
    done, wanted = sum(len(cell.values) for cell in cells), sum(cell.wanted for cell in cells)
    without = "".join(f"; {label}: {said}" for label, said in lacking.items())
    return f"{done:>4} of {wanted:<4} splits done in {spent / 60:>4.0f} min, about {left / 60:.0f} min left{without}"


def seconds_spent(d: Declaration, store: Store) -> float:
    """How long the stored rows of a table took, on the machine and under the load that they were measured."""
    return float(sum(row.get("seconds", 0.0) for row in store.rows(d.name).values()))


def run_declaration(d: Declaration, store: Store, jobs: int, threads: int) -> None:
    """Run what is missing, with a bar on a terminal and one line per group elsewhere."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from polyladder import make_console
    from polyladder_lab.experiments.engine.cost import cost_left
    from polyladder_lab.experiments.engine.plan import Group
    from polyladder_lab.experiments.engine.run import run

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
    from rich.text import Text

    from polyladder import make_console
    from polyladder_lab.experiments.pages.claims import claim_lines
    from polyladder_lab.experiments.pages.page import rows_with
    from polyladder_lab.experiments.pages.render import (
        distribution_lines,
        lost_note,
        measures,
        notes,
        terminal,
        terminal_table,
        verdicts,
    )
    from polyladder_lab.experiments.pages.searches import terminal_search

    d, console = comparison.declaration, make_console()
    lost = [note] if (note := lost_note(comparison)) else []
    if d.compare == "settings":
        console.print(terminal_search(comparison), *lost, "\n")
        return
    console.print(terminal(comparison))
    for table in measures(comparison):
        bold = {p: Text(text, style="bold" if p in table.bold else "") for p, text in table.texts.items()}
        console.print(terminal_table(d, table.label, "", bold))
    rows = rows_with(comparison, "distributions")
    shown = [*(distribution_lines(rows) if rows else ()), *claim_lines(comparison), *verdicts(comparison), *lost]
    for line in shown:
        console.print(line, markup=False)
    for mark, departure in notes(d):
        console.print(f"{mark + ' ' if mark else ''}{departure.what} {departure.why}", style="dim", markup=False)
    console.print()
