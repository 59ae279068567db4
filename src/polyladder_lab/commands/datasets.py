"""`polyladder datasets`: the named data sets, where they are, and whether their files are sound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from polyladder_lab.datasets.catalog import Entry


def datasets(
    name: Annotated[str | None, typer.Argument(help="Show this data set in detail; without a name, list all.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Compare the present files with their checksums.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder of data sets, instead of that in POLYLADDER_DATA.")
    ] = None,
) -> None:
    """List the data sets that can be loaded by name.

    Example: polyladder datasets --check
    """
    from polyladder_lab.datasets.catalog import catalog, find_entry
    from polyladder_lab.datasets.folders import data_folders

    entries = catalog() if name is None else (find_entry(name),)
    folders = data_folders(data_dir)
    if check:
        show_check(entries, folders)
    elif name is None:
        show_all(entries, folders)
    else:
        show_entry(entries[0], folders)


def show_all(entries: tuple[Entry, ...], folders: tuple[Path, ...]) -> None:
    """One line per data set, within 80 columns."""
    from rich import box
    from rich.table import Table

    from polyladder import make_console

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("task")
    for number in ("rows", "features", "splits"):
        table.add_column(number, justify="right")
    table.add_column("where")
    for e in entries:
        task = f"{len(e.class_names)} classes" if e.class_names else e.task
        splits = str(e.splits) if e.splits else "-"
        table.add_row(e.name, task, f"{e.rows:,}", str(e.features), splits, where(e, folders))
    make_console().print(table)
    for label, folder in places(folders).items():
        typer.echo(f"{label}: {folder}")


def show_entry(entry: Entry, folders: tuple[Path, ...]) -> None:
    """All that the catalog knows of one data set, and every copy of its files."""
    from polyladder_lab.datasets.folders import copies

    lines = {
        "name": entry.name,
        "task": f"{entry.task} of {entry.target_name}",
        "rows": f"{entry.rows:,}",
        "features": f"{entry.features}: {shortened(entry.feature_names)}",
        "classes": f"{len(entry.class_names)}: {shortened(entry.class_names)}" if entry.class_names else "",
        "splits": str(entry.splits or "none published"),
        "origin": entry.origin,
        "license": entry.license,
        "note": entry.note,
    }
    for label, text in lines.items():
        if text:
            typer.echo(f"{label:<9} {text}")
    for file in entry.files:
        typer.echo(f"{'file':<9} {file.name}, sha256 of its content: {file.sha256 or 'none known'}")
        for url in file.urls:
            typer.echo(f"{'':<9} {url}")
        for path in copies(entry, file, folders):
            typer.echo(f"{'':<9} {path}")


def show_check(entries: tuple[Entry, ...], folders: tuple[Path, ...]) -> None:
    """One line per file that is present; exit code 1 if any is damaged."""
    from polyladder_lab.datasets.check import check_files

    damaged = total = 0
    for checked in check_files(entries, folders):
        total += 1
        damaged += checked.damaged
        typer.echo(f"{'DAMAGED' if checked.damaged else 'ok':<8} {checked.path}: {checked.result}")
    typer.echo(f"{total} checked, {damaged} damaged, in {' and '.join(map(str, folders))}.")
    if damaged:
        raise typer.Exit(1)


def where(entry: Entry, folders: tuple[Path, ...]) -> str:
    """Where a data set will be taken from when it is loaded."""
    from polyladder_lab.datasets.folders import copies

    if not entry.files:
        return "scikit-learn"
    found = [copies(entry, file, folders) for file in entry.files]
    if all(found):
        first = {paths[0].parent.parent for paths in found}
        return " + ".join(label for label, folder in places(folders).items() if folder in first)
    if any(file.sha256 is None for file in entry.files):
        return "by hand"
    return "incomplete" if any(found) else "download"


def places(folders: tuple[Path, ...]) -> dict[str, Path]:
    """The searched folders by the names that the list uses."""
    return dict(zip(("folder", "cache")[-len(folders) :], folders, strict=True))


def shortened(names: tuple[str, ...], most: int = 12) -> str:
    """The names in one line, those beyond the first few left out."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
