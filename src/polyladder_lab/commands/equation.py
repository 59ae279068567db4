"""`polyladder equation`: from a number in the paper to a line of code."""

from __future__ import annotations

from typing import Annotated

import typer


def equation(
    number: Annotated[str | None, typer.Argument(help="As in the paper: 7, 10, 4.1. Without one: all.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/equations.md.")] = False,
) -> None:
    """Show where an equation or theorem of the paper is implemented.

    Example: polyladder equation 7
    """
    from polyladder_lab.experiments import equations

    if markdown:
        typer.echo(equations.as_markdown(), nl=False)
        return
    for e in equations.equations() if number is None else [equations.find(number)]:
        typer.echo(f"{e.label}: {e.says}")
        if number is not None and e.correction:
            typer.echo(f"  corrected: {e.correction}")
        for one in e.implementers:
            typer.echo(f"  {equations.LIBRARY / one.file}:{one.line}  {one.name}")
        if not e.implementers:
            typer.echo(f"  {e.reason}")
