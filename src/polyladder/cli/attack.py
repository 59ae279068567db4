"""`polyladder attack`: the worst rows near those of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from polyladder.cli.certify import Radius, read_radius
from polyladder.cli.output import CsvPath, Force, ModelPath, NoClobber, RowsPath, check, write_frame
from polyladder.files.kinds import TABLE


def attack(
    model: ModelPath,
    rows: RowsPath,
    radius: Radius = None,
    frozen: Annotated[list[str] | None, typer.Option(help="A column that never changes; repeatable.")] = None,
    integer: Annotated[list[str] | None, typer.Option(help="A column of whole numbers; repeatable.")] = None,
    changing: Annotated[
        list[str] | None, typer.Option(help="A column of categories that may change; repeatable.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(help="For numbers: up, down or away from the target, which is the default.")
    ] = None,
    output: CsvPath = None,
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Find the row within a radius of each row where the model is most wrong, and prove how much worse it can get.

    ROWS must have the target.

    The result has the columns of the model at the worst row, then its prediction, the error (for classes the margin by
    which another class wins), whether the attack succeeded, and the proven bound of that error.

    \b
    Examples:
      polyladder attack houses.ladder houses.csv --radius 0.02
      polyladder attack houses.ladder houses.csv -r area=5 --goal up -o worst.csv
      polyladder attack houses.ladder houses.csv --frozen area --integer rooms --changing street
    """
    import polars as pl

    from polyladder.automatic.model_rows import load_estimator
    from polyladder.cli.report import judged_rows
    from polyladder.estimators.targets import ClassTarget
    from polyladder.robustness.attack import attack as search

    check([model, rows], force, no_clobber, ("--output", output, TABLE))
    estimator = load_estimator(model)
    X, y = judged_rows(estimator, rows)
    if y is None:
        raise ValueError("ROWS must have the target, so that the attack can lead away from it; it is missing.")
    found = search(
        estimator,
        X,
        y,
        read_radius(radius),
        goal=goal,  # type: ignore[arg-type]
        frozen=frozen or (),
        integer=integer or (),
        changing=changing or (),
    )
    worst = pl.DataFrame(found.rows)
    if isinstance(estimator.target_, ClassTarget):
        at = found.prediction.argmax(1) if found.prediction.shape[1] > 1 else (found.prediction[:, 0] > 0).long()
        predicted = estimator.classes_[at.numpy()]
    else:
        predicted = found.prediction[:, 0].numpy()
    assert found.bound is not None
    extra = {"prediction": predicted, "error": found.value.numpy(), "success": found.success.numpy()}
    frame = worst.with_columns(**{**extra, "bound": found.bound.numpy()})
    write_frame(frame, output)
    hits = int(found.success.sum())
    typer.echo(f"{hits:,} of {len(frame):,} rows attacked with success.", err=True)
