"""`polyladder report`: the page of a model, one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def report(
    model: Annotated[Path, typer.Argument(help="A file that fit or save wrote.")],
    data: Annotated[
        str | None, typer.Argument(help="Rows to show as examples and, with their target, to judge the model by.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path("report.html"),
) -> None:
    """Write a page on which the model can be tried: one file, offline, by e-mail.

    Up to 300 rows of DATA travel with the page; leave DATA out if they must not.

    \b
    Examples:
      polyladder report houses.ladder
      polyladder report houses.ladder houses.csv -o houses.html
    """
    from polyladder.cli.model_rows import load_estimator

    estimator = load_estimator(model)
    rows, target = (None, None) if data is None else judged_rows(estimator, data)
    write_page(estimator, output, rows, target)
    typer.echo(f"Report: {output}")


def judged_rows(estimator: Any, data: str) -> tuple[Any, Any]:
    """Rows of a file as the model takes them, and their targets if the file has them all."""
    from polyladder.cli.model_rows import file_columns, model_rows
    from polyladder.data.columns import ColumnKind, convert
    from polyladder.data.read_table import open_table

    file = open_table(data)
    columns, frame = file_columns(file, estimator), file.whole()
    if not len(frame):
        raise ValueError(f"{file.label} must hold rows under its header; there are none.")
    rows = model_rows(frame, columns, file, estimator)
    name = getattr(estimator, "card_", {}).get("target")
    if name not in file.names:
        return rows, None
    classes = getattr(estimator, "classes_", None)
    text = classes is not None and classes.dtype.kind in "OU"
    target = convert(frame[name], ColumnKind(name, "category" if text else "number"), file.comma)
    if target.null_count():
        return rows.filter(target.is_not_null()), target.drop_nulls().to_numpy()
    return rows, target.to_numpy()


def write_page(estimator: Any, path: Path, rows: Any, target: Any) -> None:
    """Write the page of an estimator."""
    if not path.parent.is_dir():
        raise ValueError(f"--output must lie in an existing folder; got {path}. Make {path.parent} first.")
    from polyladder.report.page import write_report

    write_report(estimator, path, rows, target)
