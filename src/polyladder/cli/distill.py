"""`polyladder distill`: a small ladder that answers as a large model does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from polyladder.cli.output import AsJson, Force, NoClobber, Quiet, RowsPath, check, place_words, share_of
from polyladder.files.kinds import MODEL


def distill(
    teacher: Annotated[Path, typer.Argument(help="An ONNX model (.onnx), or a file that fit or save wrote (.ladder).")],
    rows: RowsPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The small model's file; by default TEACHER-small.ladder, in this folder."),
    ] = None,
    tolerance: Annotated[
        str,
        typer.Option(
            help="What it may cost: a share of the error of a model that fit has chosen; of other models, of what they "
            "gain over a straight line."
        ),
    ] = "1%",
    size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Weights that it may have; the closest is then taken, whatever it costs.", show_default=False
        ),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave this column of ROWS out; may be repeated.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the rows in between and of the starts.")] = 0,
    force: Force = False,
    no_clobber: NoClobber = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Teach a small ladder what a model says, at the rows of a table and between them, and save it.

    An ONNX model with one input of several columns takes the columns of numbers of ROWS in their order; one with
    several inputs finds its columns by their names. Targets are not needed.

    \b
    Examples:
      polyladder distill boosted.onnx houses.csv --drop price
      polyladder distill houses.ladder houses.csv --tolerance 5% -o small.ladder
    """
    place = output or Path(f"{teacher.stem}-small.ladder")
    (replaced,) = check([teacher, rows], force, no_clobber, ("--output", place, MODEL))
    share = share_of("--tolerance", tolerance)
    from polyladder.automatic.distill import Distilling
    from polyladder.automatic.distill import distill as taught

    small = taught(teacher, rows, Distilling(share, size, tuple(drop or ()), seed))
    small.save(place)
    order, weights = small.order_, sum(each.n_weights for each in small.members_)
    # A model of a given order has no record of a choice that could say more.
    plain = f"The model has order {order} and {weights:,} weights."
    sentence = plain if small.selected is None else small.selected.compact
    if as_json:
        typer.echo(json.dumps({"sentence": sentence, "order": order, "weights": weights, "model": str(place)}))
    elif not quiet:
        typer.echo(sentence)
        typer.echo(place_words("Saved to", place, replaced))
