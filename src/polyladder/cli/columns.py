"""`polyladder columns`: how the columns of a table are understood, before anything is fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from polyladder.cli.output import AsJson, Keep, RowsPath, Sheet


def columns(
    data: RowsPath,
    schema: Annotated[Path | None, typer.Option(help="What each column is, as TOML.")] = None,
    keep: Keep = None,
    sheet: Sheet = None,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print a schema to edit and pass to fit --schema.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how each column of a table is read: as number, category, boolean or date, or why it is left out.

    \b
    Examples:
      polyladder columns houses.csv
      polyladder columns houses.csv --toml > houses.toml
    """
    from polyladder.tables.number_style import counted
    from polyladder.tables.schema import read_schema, schema_text
    from polyladder.tables.table_file import open_table
    from polyladder.tables.totals import without_totals
    from polyladder.tables.understand import all_rules, column_lines, understand

    rules = {} if schema is None else read_schema(schema)
    file = open_table(data, sheet=sheet)
    for option, name in (*(("--schema", n) for n in rules), *(("--keep", n) for n in keep or ())):
        file.check_column(option, name)
    notes: list[str] = []
    frame = without_totals(file.whole(least=1), file.comma, notes)
    found = understand(frame, file.comma, file.names, all_rules(rules, keep=keep or ()))
    if as_json:
        typer.echo(json.dumps([column.json() for column in found]))
    elif as_toml:
        typer.echo(schema_text(found), nl=False)
    else:
        typer.echo(f"{file.label}: {counted(len(frame), 'row')}, {counted(len(file.names), 'column')}")
        for line in (*column_lines(found), *(c.note for c in found if c.note), *notes, *file.notes):
            typer.echo(line)
