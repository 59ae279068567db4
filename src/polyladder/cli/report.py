"""`polyladder report`: the page of a model, one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import Force, ModelPath, NoClobber, check, place_words
from polyladder.files.kinds import PAGE

if TYPE_CHECKING:
    from polyladder.estimators.table_estimator import TableEstimator


def report(
    model: ModelPath,
    data: Annotated[
        str | None, typer.Argument(help="Rows to show as examples and, if they have the target, to test the model on.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path("report.html"),
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Write an HTML page on which the model can be tried: a single file that works offline.

    The page contains up to 300 rows of DATA; leave DATA out if it must not.

    \b
    Examples:
      polyladder report houses.ladder
      polyladder report houses.ladder houses.csv -o houses.html
    """
    from polyladder.automatic.model_rows import load_estimator
    from polyladder.report.page import write_report

    (replaced,) = check([model, data], force, no_clobber, ("--output", output, PAGE))
    estimator = load_estimator(model)
    rows, target = (None, None) if data is None else judged_rows(estimator, data)
    write_report(estimator, output, rows, target)
    typer.echo(place_words("Report:", output, replaced))


def judged_rows(estimator: TableEstimator, data: str) -> tuple[Any, Any]:
    """Rows of a file as the model takes them, and their targets if the file has them; rows without one are left out."""
    import sys

    from polyladder.automatic.model_rows import model_rows
    from polyladder.estimators.targets import ClassTarget
    from polyladder.tables.columns import ColumnKind, column_kind, convert
    from polyladder.tables.table_file import open_table

    file = open_table(data)
    rows, frame = model_rows(file, estimator), file.whole(least=1)
    name = (estimator.card_ or {}).get("target")
    if name not in file.names:
        return rows.table(frame), None
    text = isinstance(estimator.target_, ClassTarget) and estimator.classes_.dtype.kind in "OU"
    written = (estimator.card_ or {}).get("target_written")
    plain = ColumnKind(name, "category" if text else "number")
    target = convert(frame[name], plain if written is None else column_kind(name, written), file.comma)
    if lacking := target.null_count():
        print(f"{lacking:,} {'row has' if lacking == 1 else 'rows have'} no {name}: left out.", file=sys.stderr)
        frame, target = frame.filter(target.is_not_null()), target.drop_nulls()
    if not len(frame):
        raise ValueError(f"{file.label} must hold a row with a value of {name}; there is none.")
    return rows.table(frame), target.to_numpy()
