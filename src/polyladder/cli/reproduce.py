"""`polyladder reproduce`: run tables and figures of the paper, and print ours beside the paper's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyladder.experiments.declare import Declaration
    from polyladder.experiments.store import Store


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
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with figures to this file.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", help="Groups at a time.")] = 1,
    threads: Annotated[int, typer.Option("--threads", help="Threads of each group.")] = 1,
    store: Annotated[Path | None, typer.Option("--store", help="Folder of results.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of data sets, instead of that in POLYLADDER_DATA.")
    ] = None,
) -> None:
    """Run tables and figures of the paper. What is stored already is not run again.

    Example: polyladder reproduce table_2 --quick
    """
    from polyladder.data.folders import VARIABLE
    from polyladder.experiments import declare
    from polyladder.experiments.store import Store

    if data_dir is not None:
        # Groups may run in other processes, which inherit the variable.
        os.environ[VARIABLE] = str(data_dir)
    declarations = [declare.declared(name) for name in names or declare.names()]
    if quick:
        declarations = [declare.quick(d) for d in declarations]
    if only:
        declarations = [declare.only(d, only) for d in declarations]
    results = Store(store or default_store(quick))
    if list_:
        show_list(declarations, results)
        return
    if markdown:
        from polyladder.experiments.page import markdown_page

        typer.echo(markdown_page(declarations, results), nl=False)
        return
    for d in declarations:
        if not show:
            run_declaration(d, results, jobs, threads)
        show_declaration(d, results)
    if html is not None:
        from polyladder.experiments.page import html_page

        html.write_text(html_page(declarations, results), encoding="utf-8")
        typer.echo(f"Wrote {html}.")


def default_store(quick: bool) -> Path:
    """The checkout's ``paper/results``, or a folder of the user's where there is none; for ``--quick`` always that."""
    from polyladder.data.folders import cache_folder
    from polyladder.experiments.declare import results_folder

    own = cache_folder().parent / "reproduce"
    return own / "quick" if quick else results_folder() or own / "results"


def show_list(declarations: list[Declaration], store: Store) -> None:
    """One line a table: how many of its cells are done, and how long the rest takes."""
    from polyladder.experiments.compare import compare
    from polyladder.experiments.run import cost_left

    for d in declarations:
        cells = [cell for (_, _), cell in compare(d, store.rows(d.name)).cells.items()]
        done = sum(len(cell.values) for cell in cells)
        wanted = sum(cell.wanted for cell in cells)
        left = cost_left(d, store) / 60
        typer.echo(f"{d.name:<9} {done:>4} of {wanted:<4} splits done, about {left:.0f} min left. {d.title}")


def run_declaration(d: Declaration, store: Store, jobs: int, threads: int) -> None:
    """Run what is missing, with a bar on a terminal and one line a group elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from polyladder.experiments.plan import Group
    from polyladder.experiments.run import cost_left, run

    console = Console(stderr=True)
    left = cost_left(d, store)
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
        typer.echo(f"{d.name}: {label} left out, its data are not to be had.", err=True)


def show_declaration(d: Declaration, store: Store) -> None:
    """The table in the terminal, with verdicts and departures."""
    from rich.console import Console

    from polyladder.experiments.compare import compare
    from polyladder.experiments.render import distribution_lines, notes, terminal, verdicts

    comparison = compare(d, store.rows(d.name))
    console = Console()
    console.print(terminal(comparison))
    rows = [row for cell in comparison.cells.values() for row in cell.rows.values() if "distributions" in row]
    for line in [*(distribution_lines(rows) if rows else ()), *verdicts(comparison)]:
        console.print(line, markup=False)
    for mark, departure in notes(d):
        console.print(f"{mark + ' ' if mark else ''}{departure.what} {departure.why}", style="dim", markup=False)
    console.print()
