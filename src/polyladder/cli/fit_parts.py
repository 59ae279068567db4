"""`polyladder fit` for rows that are not all in one memory: read in parts, or shared by processes."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyladder.cli.progress import progress

if TYPE_CHECKING:
    from polyladder.automatic.options import FitOptions


def fit_in_processes(
    data: str,
    target: str,
    options: FitOptions,
    place: Path,
    *,
    epochs: int,
    checkpoint: Path,
    quiet: bool,
) -> Any | None:
    """Fit with the processes that torchrun started; the first one prints, writes and returns the model."""
    from polyladder.automatic.fit_processes import fit_with_processes, process_group
    from polyladder.automatic.fit_table import read_training_table
    from polyladder.models.processes import process_number

    with process_group():
        first = process_number() == 0
        with progress(first and not quiet) as shown:
            heard = replace(options, say=shown.say)
            table = read_training_table(data, target, heard)
            found = fit_with_processes(table, heard, epochs=epochs, checkpoint=checkpoint)
            if first:
                found.save(place)
    return found if first else None


def fit_parts(
    data: str, target: str, options: FitOptions, place: Path, *, sweeps: int, checkpoint: Path, quiet: bool
) -> Any:
    """Fit to a table that is read in parts, again in every pass."""
    from polyladder.automatic.fit_large import fit_large_table
    from polyladder.automatic.options import TableOptions

    with progress(not quiet) as shown:
        shared = {field.name: vars(options)[field.name] for field in fields(TableOptions)}
        heard = shared | {"say": shown.say, "step": shown.step}
        found = fit_large_table(data, target, **heard, sweeps=sweeps, checkpoint=checkpoint)
        found.save(place)
    return found


def in_parts(data: str, memory: float | None) -> bool:
    """Whether a fit in memory would need too much of it; folders are always read in parts."""
    from polyladder.tables.file_parts import bytes_in_memory

    if Path(data).is_dir():
        return True
    if not Path(data).is_file():
        return False
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 if memory is None else memory * 2**30
    return bytes_in_memory(data) > limit


def refuse_in_parts(data: str, asked: dict[str, object]) -> None:
    """Refuse options that need all rows in memory."""
    given = [option for option, value in asked.items() if value]
    if given:
        raise ValueError(
            f"{', '.join(given)} must be left out for {data}, which is read in parts. Raise --memory if it fits."
        )
