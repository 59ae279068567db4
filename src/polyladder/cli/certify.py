"""`polyladder certify`: how far predictions can move when inputs are slightly off."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import (
    CsvPath,
    Force,
    ModelPath,
    NoClobber,
    RowsPath,
    check,
    old_option,
    pairs,
    place_words,
    write_frame,
)
from polyladder.files.kinds import PICTURE, TABLE

if TYPE_CHECKING:
    from polyladder.estimators.table_estimator import TableEstimator

Radius = Annotated[
    list[str] | None,
    typer.Option(
        "--radius",
        "-r",
        help="A share of every column's training range, or column=step in its own unit; repeatable.",
    ),
]


def certify(
    model: ModelPath,
    rows: RowsPath,
    radius: Radius = None,
    time_budget: Annotated[
        float | None, typer.Option(min=0, help="Seconds for splitting boxes, which makes the ranges tighter.")
    ] = None,
    budget: Annotated[float | None, typer.Option(min=0, hidden=True)] = None,
    output: CsvPath = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw certified and attacked error against the radius; ROWS must have the target."),
    ] = None,
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Prove the range of every row's prediction while its columns move within a radius.

    One line for each row: for numbers the prediction and its proven lowest and highest value; for classes the
    prediction and whether it is proven to stay. Categories stay as they are.

    \b
    Examples:
      polyladder certify houses.ladder new.csv --radius 0.02
      polyladder certify houses.ladder new.csv -r area=5 -r age=1 --time-budget 10 -o ranges.csv
      polyladder certify houses.ladder houses.csv --plot robustness.png
    """
    from polyladder.automatic.model_rows import load_estimator

    files = (("--output", output, TABLE), ("--plot", plot, PICTURE))
    replaced = check([model, rows], force, no_clobber, *files)
    estimator = load_estimator(model)
    steps = read_radius(radius)
    seconds = time_budget if budget is None else old_option("--budget", "--time-budget", budget)
    if plot is None or output is not None:
        write_frame(certified(estimator, rows, steps, seconds), output)
    if plot is not None:
        draw(estimator, rows, steps, plot)
        typer.echo(place_words("Plot:", plot, replaced[-1]), err=True)


def read_radius(given: list[str] | None) -> float | dict[str, float]:
    """The radius of a command: one number, or steps by column."""
    if not given:
        return 0.01
    if len(given) == 1 and "=" not in given[0]:
        return number("--radius", given[0])
    found = pairs("--radius", given, "be one number, or column=step as often as needed")
    return {name: number(f"The radius of {name}", step) for name, step in found}


def number(what: str, text: str) -> float:
    """A number from 0 on."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"{what} must be a finite number that is not negative; got {text!r}.")
    return value


def certified(estimator: TableEstimator, rows: str, radius: float | dict[str, float], seconds: float | None) -> Any:
    """The result as a frame."""
    import polars as pl

    from polyladder.cli.report import judged_rows
    from polyladder.estimators.targets import ClassTarget
    from polyladder.robustness.certify import certify as prove
    from polyladder.robustness.margins import certify_margins

    X, _ = judged_rows(estimator, rows)
    predicted = estimator.predict(X)
    if isinstance(estimator.target_, ClassTarget):
        safe = certify_margins(estimator, X, predicted, radius, max_seconds=seconds) < 0
        return pl.DataFrame({"prediction": predicted, "stays": safe.numpy()})
    if predicted.ndim > 1:
        raise ValueError(f"The model must have one target to be written as CSV; it has {predicted.shape[1]}.")
    found = prove(estimator, X, radius, max_seconds=seconds)
    columns = {"prediction": predicted, "lower": found.lower[:, 0].numpy(), "upper": found.upper[:, 0].numpy()}
    return pl.DataFrame(columns)


def draw(estimator: TableEstimator, rows: str, radius: float | dict[str, float], path: Path) -> None:
    """The plot of certified and attacked error against the radius."""
    import io

    from polyladder.cli.report import judged_rows
    from polyladder.files.replace_file import write_atomically
    from polyladder.report.robustness import plot_robustness
    from polyladder.robustness.curve import default_radii, robustness_curve

    if isinstance(radius, dict):
        raise ValueError("--plot must come with one number as --radius, the largest of the plot; got columns.")
    X, y = judged_rows(estimator, rows)
    if y is None:
        raise ValueError("--plot needs rows with the target, to know their error; ROWS lacks it.")
    figure = plot_robustness(robustness_curve(estimator, X, y, default_radii(radius))).figure
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix.removeprefix(".") or "png", dpi=150)
    write_atomically(image.getvalue(), path)
