"""`polyladder demo`: what the library does, in a minute and without any file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyladder.cli.printable import make_console

ROWS = 1000
SECONDS = 4.0
"""For choosing order, width and ridge."""


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the table, the model and the report.")] = Path("demo"),
) -> None:
    """Make a table, fit it, compare with other models, read the polynomial, predict, and write the page.

    \b
    Example:
      polyladder demo --output /tmp/demo
    """
    from polyladder.cli.explain import explain
    from polyladder.cli.fit import Solver, fit
    from polyladder.cli.predict import predict

    output.mkdir(parents=True, exist_ok=True)
    table, model, page, result = (output / f"friedman{end}" for end in (".csv", ".ladder", ".html", "_predicted.csv"))
    write_friedman(table)
    typer.echo("y = 10 sin(pi x0 x1) + 20 (x2 - 0.5)^2 + 10 x3 + 5 x4 + noise of deviation 1; x5 to x9 do nothing.")
    command(f"fit {table} --target y --output {model} --report")
    fit(str(table), "y", model, solver=Solver.auto, time_budget=SECONDS, report=True)
    command(f"explain {model} --feature x2")
    explain(model, feature="x2", terms=6)
    command(f"predict {model} {table} --interval 90 --output {result}")
    predict(model, str(table), result, interval=90)
    for line in result.read_text().splitlines()[:4]:
        typer.echo(line)
    typer.echo(f"\nTable: {table}\nModel: {model}\nReport: {page}")


def command(words: str) -> None:
    """Show the command that does what follows."""
    typer.echo()
    make_console(highlight=False, soft_wrap=True).print(f"$ polyladder {words}", style="bold", markup=False)


def write_friedman(path: Path) -> None:
    """Write Friedman's first function of ten columns, of which five matter, with noise of deviation 1."""
    import polars as pl
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(ROWS, noise=1.0, random_state=0)
    pl.DataFrame({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y}).write_csv(path)
