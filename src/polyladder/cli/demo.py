"""`polyladder demo`: what the library does, in a minute and without any file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyladder.cli.output import Force, NoClobber, check
from polyladder.cli.printable import make_console
from polyladder.files.kinds import MODEL, PAGE, TABLE
from polyladder.files.replace_file import write_atomically

ROWS = 1000
SECONDS = 4.0
"""Seconds for choosing order, width and ridge."""


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the table, the model and the report.")] = Path("demo"),
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Make a table, fit it, compare with other models, read the polynomial, predict, and write the page.

    \b
    Example:
      polyladder demo --output /tmp/demo
    """
    from polyladder.cli.explain import explain
    from polyladder.cli.fit import Solver, fit
    from polyladder.cli.predict import prediction_lines
    from polyladder.polynomial.store import load
    from polyladder.tables.table_file import open_table

    output.mkdir(parents=True, exist_ok=True)
    table, model, page = (output / f"friedman{end}" for end in (".csv", ".ladder", ".html"))
    rows = friedman()
    # A table from an earlier run is the same to the last digit.
    same = not no_clobber and table.is_file() and table.read_bytes() == rows
    files = (("The model", model, MODEL), ("The report", page, PAGE), ("The table", None if same else table, TABLE))
    check([], force, no_clobber, *files)
    write_atomically(rows, table)
    typer.echo("y = 10 sin(pi x0 x1) + 20 (x2 - 0.5)^2 + 10 x3 + 5 x4 + noise of deviation 1; x5 to x9 do nothing.")
    command(f"fit {table} --target y --output {model} --report")
    fit(str(table), "y", model, solver=Solver.auto, time_budget=SECONDS, report=True, force=force)
    command(f"explain {model} --feature x2")
    explain(model, feature="x2", terms=6)
    command(f"predict {model} {table} --interval 90 | head -n 4")
    lines = b"".join(part for part, _ in prediction_lines(load(model), open_table(table), interval=90))
    for line in lines.decode().splitlines()[:4]:
        typer.echo(line)
    typer.echo(f"\nTable: {table}\nModel: {model}\nReport: {page}")


def command(words: str) -> None:
    """Show the command that does what follows."""
    typer.echo()
    make_console(highlight=False, soft_wrap=True).print(f"$ polyladder {words}", style="bold", markup=False)


def friedman() -> bytes:
    """Friedman's first function of ten columns, of which five matter, with noise of deviation 1, as CSV."""
    import polars as pl
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(ROWS, noise=1.0, random_state=0)
    return pl.DataFrame({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y}).write_csv().encode()
