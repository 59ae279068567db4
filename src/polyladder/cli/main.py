"""The `polyladder` command: gathers the commands and turns errors into one sentence."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from polyladder import __version__
from polyladder.cli.datasets import datasets
from polyladder.cli.demo import demo
from polyladder.cli.equation import equation

commands = typer.Typer(
    help="Ladder polynomial networks: fit, read, bound and share exact polynomials.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
commands.command()(datasets)
commands.command()(demo)
commands.command()(equation)


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"polyladder {__version__}")
        raise typer.Exit


@commands.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ladder polynomial networks: fit, read, bound and share exact polynomials."""


def app() -> None:
    """Run the command line: what a user can mend is said in one sentence on stderr, with exit code 1."""
    try:
        commands()
    except (ValueError, OSError) as error:
        print(f"polyladder: {error}", file=sys.stderr)
        sys.exit(1)
