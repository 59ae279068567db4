"""The `polyladder` command: gathers the commands and turns errors into one sentence."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

from polyladder import __version__
from polyladder.cli.attack import attack
from polyladder.cli.certify import certify
from polyladder.cli.columns import columns
from polyladder.cli.demo import demo
from polyladder.cli.distill import distill
from polyladder.cli.encrypted import encrypted
from polyladder.cli.explain import explain
from polyladder.cli.export import export
from polyladder.cli.fit import fit
from polyladder.cli.optimize import optimize
from polyladder.cli.output import drop_unwritten, write_whole
from polyladder.cli.predict import predict
from polyladder.cli.printable import printable, printing
from polyladder.cli.report import report
from polyladder.cli.start import INTERRUPTED
from polyladder_lab.commands.datasets import datasets
from polyladder_lab.commands.equation import equation
from polyladder_lab.commands.reproduce import reproduce

commands = typer.Typer(
    help="Ladder polynomial networks: fit, read, bound and share exact polynomials.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
COMMANDS = (
    fit,
    columns,
    predict,
    explain,
    report,
    export,
    certify,
    attack,
    optimize,
    distill,
    datasets,
    reproduce,
    demo,
    equation,
)
for command in COMMANDS:
    commands.command()(command)
commands.add_typer(encrypted, name="encrypted")
for registered in (*commands.registered_commands, *encrypted.registered_commands):
    assert registered.callback is not None
    registered.callback = printing(registered.callback)


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
    """Run the command line.

    Exit codes: 0, done; 1, bad input or a full disk, said in one sentence on stderr; 2, wrong usage; 130, interrupted.
    """
    warnings.showwarning = say_note
    write_whole()
    try:
        commands()
    except BrokenPipeError:
        # The reader has closed the pipe, as in `polyladder predict ... | head`.
        drop_unwritten()
    except MemoryError:
        say_error(OUT_OF_MEMORY)
    except RuntimeError as error:
        if "DefaultCPUAllocator" not in str(error):
            raise
        say_error(OUT_OF_MEMORY)
    except (ValueError, TypeError, OSError, ImportError) as error:
        say_error(one_line(error))
    except SystemExit as leaving:
        # An interrupt reaches this place as an exit code.
        if leaving.code == INTERRUPTED:
            raise KeyboardInterrupt from leaving
        raise


OUT_OF_MEMORY = "The memory is used up; try fewer rows or columns."


def say_error(sentence: str) -> None:
    """Say what was wrong, and leave."""
    drop_unwritten()
    print(f"polyladder: {sentence}", file=sys.stderr)
    sys.exit(1)


def one_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return printable(" ".join(str(error).split())) or type(error).__name__


def say_note(message: Any, *details: Any, **more: Any) -> None:
    """Show a warning as a sentence, without the line of code that it came from."""
    print(f"polyladder: note: {one_line(message)}", file=sys.stderr)
