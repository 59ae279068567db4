"""`polyladder optimize`: the best row, and a proof that none is better by more than a gap."""

from __future__ import annotations

import json
import math
from typing import Annotated

import typer

from polyladder.cli.output import AsJson, ModelPath, old_option, pairs


def optimize(
    model: ModelPath,
    maximize: Annotated[
        bool, typer.Option("--maximize/--minimize", help="Look for the highest or for the lowest prediction.")
    ] = False,
    bounds: Annotated[
        list[str] | None,
        typer.Option("--bounds", "-b", help="column=low:high, repeatable; other columns keep to their training range."),
    ] = None,
    fix: Annotated[list[str] | None, typer.Option("--fix", help="column=value that is fixed; repeatable.")] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Gap at which the search ends, relative to the best value.")
    ] = 0.01,
    time_budget: Annotated[
        float, typer.Option(min=0, help="Seconds after which the search ends, with what is proven by then.")
    ] = 60.0,
    seconds: Annotated[float | None, typer.Option(min=0, hidden=True)] = None,
    as_json: AsJson = False,
) -> None:
    """Find the row with the lowest or highest prediction, and prove that no other is better by more than a gap.

    No training row is predicted better than the row found. Columns of whole numbers stay whole. For two classes it is
    the log-odds of the second, for more the score of the first.

    \b
    Examples:
      polyladder optimize houses.ladder --maximize
      polyladder optimize houses.ladder --maximize --bounds area=50:120 --fix street=paved
      polyladder optimize houses.ladder --minimize -b age=0:30 --json
    """
    from polyladder.automatic.model_rows import load_estimator
    from polyladder.robustness import optimize as searches

    estimator = load_estimator(model)
    ends = {name: read_ends(name, text) for name, text in pairs("--bounds", bounds, "have the form column=low:high")}
    lower, upper = ({name: pair[i] for name, pair in ends.items()} for i in (0, 1))
    texts = {column.name for column in estimator.model_.columns if column.kind == "category"}
    fixed = {
        name: text if name in texts else one_number(name, text)
        for name, text in pairs("--fix", fix, "have the form column=value")
    }
    limit = time_budget if seconds is None else old_option("--seconds", "--time-budget", seconds)
    search = searches.maximize if maximize else searches.minimize
    found = search(estimator, lower, upper, fixed=fixed, tolerance=tolerance, max_seconds=limit)
    if as_json:
        result = {"row": found.row, "prediction": found.value, "bound": found.bound, "gap": found.gap}
        more = {"meaning": found.meaning, "held": found.held, "boxes": found.boxes, "seconds": round(found.seconds, 3)}
        typer.echo(json.dumps({**result, **more}))
        return
    width = max(len(name) for name in found.row)
    for name, value in found.row.items():
        typer.echo(f"  {name:<{width}}  {shown(value)}")
    word, side = ("Highest", "above") if maximize else ("Lowest", "below")
    as_probability = f", probability {(1 + math.tanh(found.value / 2)) / 2:.4g}" if "log-odds" in found.meaning else ""
    typer.echo(f"{word} {found.meaning} found: {found.value:.6g}{as_probability}.")
    if found.held:
        typer.echo("Predictions are held to that; the polynomial itself goes beyond it there.")
    bound = outward(found.bound, maximize)
    typer.echo(f"Proven: none is {side} {bound} ({found.boxes:,} boxes, {found.seconds:.1f} seconds).")


def outward(bound: float, maximize: bool) -> str:
    """A bound to six digits that is proven as printed: rounded away from what it bounds, never to the nearest."""
    from polyladder.convert.printed import rounded_up

    return f"{float(rounded_up(bound, 6)) if maximize else -float(rounded_up(-bound, 6)):.6g}"


def shown(value: float | str | None) -> str:
    """A cell, as it is printed."""
    if value is None:
        return "(missing)"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def read_ends(name: str, text: str) -> tuple[float, float]:
    """Two numbers with a colon between them."""
    low, colon, high = text.partition(":")
    if not colon:
        raise ValueError(f"--bounds must have the form column=low:high; got {name}={text}.")
    return one_number(name, low), one_number(name, high)


def one_number(name: str, text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"The value of {name} must be a number; got {text!r}.") from None
