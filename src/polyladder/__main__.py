"""`python -m polyladder` is the command."""

from polyladder.cli.start import run

run()
