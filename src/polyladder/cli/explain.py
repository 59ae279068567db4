"""`polyladder explain`: what a fitted polynomial does, read off its weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from torch import Tensor

MOST_TERMS = 100_000
"""Monomials up to which the formula is written out."""


def explain(
    model: Annotated[Path, typer.Argument(help="A file that fit or save wrote.")],
    data: Annotated[
        str | None,
        typer.Argument(help="Rows to average over; without, what is known from the rows that were fitted."),
    ] = None,
    feature: Annotated[
        str | None, typer.Option("--feature", "-f", help="Whose curve to draw; by default the strongest.")
    ] = None,
    terms: Annotated[int, typer.Option(min=1, help="How many terms of the formula to show.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the order, the strongest terms, features and interactions, and one exact curve.

    \b
    Examples:
      polyladder explain houses.ladder
      polyladder explain houses.ladder --feature area
      polyladder explain houses.ladder houses.csv --terms 20 --json
    """
    from rich.console import Console

    from polyladder.cli.model_rows import load_estimator

    estimator = load_estimator(model)
    if not hasattr(type(estimator), "polynomial_") and not hasattr(estimator, "polynomial_"):
        raise ValueError(f"{model} must hold a ladder to be explained; got {type(estimator).__name__}.")
    found = explanation(estimator, data, feature, terms)
    if as_json:
        typer.echo(json.dumps(found))
    else:
        show(Console(highlight=False, soft_wrap=True), found)


def explanation(estimator: Any, data: str | None, feature: str | None, terms: int) -> dict[str, Any]:
    """Everything that is shown, as JSON."""
    from polyladder.estimators.card import strengths

    card = getattr(estimator, "card_", {})
    rows = None if data is None else given_rows(estimator, data)
    if rows is None and not card:
        raise ValueError("DATA must be given: the model was saved without a card, and nothing is known of its rows.")
    z = None if rows is None else estimator._transformed(rows)
    strength = (card["strengths"] if rows is None else strengths(estimator, rows)) or {}
    ladder, target = estimator.polynomial_, card.get("target", "the target")
    several = ladder.out_features > 1
    outputs = [f"score of {c}" for c in estimator.classes_] if several else [output_name(estimator, target)]
    center = estimator._transformed(middle_row(estimator, rows))
    ranked = [name for name, _ in strength.get("features", ())]
    return {
        "model": type(estimator).__name__,
        "target": target,
        "order": ladder.order,
        "inputs": ladder.in_features,
        "rows": card.get("rows"),
        "scores": card.get("scores", []),
        "formula": [written(estimator, z, k, name, terms) for k, name in enumerate(outputs)],
        "features": strength.get("features", [])[:8],
        "interactions": strength.get("interactions", [])[:5],
        "curve": None if several else curve(estimator, center, feature, ranked),
    }


def output_name(estimator: Any, target: str) -> str:
    """What the polynomial's single output is."""
    classes = getattr(estimator, "classes_", None)
    return target if classes is None else f"log-odds of {target} = {classes[1]}"


def given_rows(estimator: Any, data: str) -> Any:
    """Rows of a file, as the estimator takes them."""
    from polyladder.cli.model_rows import file_columns, model_rows
    from polyladder.data.read_table import open_table

    file = open_table(data)
    columns, frame = file_columns(file, estimator), file.whole()
    if len(frame) < 2:
        raise ValueError(f"{file.label} must hold at least 2 rows; got {len(frame)}.")
    return model_rows(frame, columns, file, estimator)


def middle_row(estimator: Any, rows: Any) -> Any:
    """The medians of numbers and the most frequent categories, as the estimator takes rows."""
    import numpy as np
    import polars as pl

    from polyladder.cli.model_rows import model_columns
    from polyladder.estimators.card import describe_columns

    described = (
        estimator.card_["columns"] if rows is None else describe_columns(estimator._read_table(rows, fresh=False))
    )
    cells = [column["median"] if column["categories"] is None else column["categories"][0] for column in described]
    if not hasattr(estimator, "feature_names_in_"):
        return np.array([cells], dtype=float)
    names = [kind.name for kind in model_columns(estimator)]
    return pl.DataFrame({name: [cell] for name, cell in zip(names, cells, strict=True)})


def written(estimator: Any, z: Tensor | None, output: int, name: str, terms: int) -> dict[str, Any]:
    """The strongest monomials of one output and, given rows, how far they are from all of them together."""
    import math

    from polyladder.analysis.coefficients import coefficients

    ladder, names = estimator.polynomial_, estimator.features_.feature_names_out_
    count = math.comb(ladder.in_features + ladder.order, ladder.order)
    if count > MOST_TERMS:
        return {"output": name, "terms": [], "of": count, "error": None}
    found = coefficients(ladder, MOST_TERMS)
    values = found.values[:, output]
    kept = values.abs().argsort(descending=True, stable=True)[:terms].tolist()
    listed = [
        {
            "coefficient": values[k].item(),
            "powers": {names[i]: e for i, e in enumerate(found.exponents[k].tolist()) if e},
        }
        for k in kept
    ]
    error = None
    if z is not None:
        part = z.unsqueeze(1).pow(found.exponents[kept].to(z)).prod(-1) @ values[kept]
        error = (ladder(z)[:, output] - part).square().mean().sqrt().item()
    return {"output": name, "terms": listed, "of": count, "error": error}


@dataclass(frozen=True)
class NumericFeature:
    """A column of numbers as the ladder sees it.

    Attributes:
        name: of the column.
        input: its place among the ladder's inputs.
        low, high: its training range, in its own unit.
    """

    name: str
    input: int
    low: float
    high: float


def numeric_features(estimator: Any) -> list[NumericFeature]:
    """The columns of numbers that the ladder sees."""
    f = estimator.features_
    return [
        NumericFeature(f.names_in_[column], i, float(f.low_[k]), float(f.high_[k]))
        for i, (column, k) in enumerate(zip(f.kept_.tolist(), f._varying.tolist(), strict=True))
    ]


def curve(estimator: Any, center: Tensor, feature: str | None, ranked: list[str]) -> dict[str, Any] | None:
    """The exact course of the output along one column, all others in their middle."""
    import numpy as np
    import torch

    from polyladder.analysis.line import line_polynomial

    known = {each.name: each for each in numeric_features(estimator)}
    if feature is None:
        chosen = next((known[name] for name in [*ranked, *known] if name in known), None)
    elif feature in known:
        chosen = known[feature]
    else:
        raise ValueError(f"--feature must be a column of numbers; got {feature!r}. Choose among {', '.join(known)}.")
    if chosen is None:
        return None
    point, direction = center[0].clone(), torch.zeros_like(center[0])
    point[chosen.input], direction[chosen.input] = 0.0, 1.0
    line = line_polynomial(estimator.polynomial_, point, direction)
    low, high = (scaled(estimator, chosen, np.array([t]))[0] for t in (chosen.low, chosen.high))
    x = np.linspace(chosen.low, chosen.high, 120)
    y = line(torch.from_numpy(scaled(estimator, chosen, x)).unsqueeze(-1))[..., 0]
    ends = {}
    for name, (t, value) in (("minimum", line.minimize(low, high)), ("maximum", line.maximize(low, high))):
        ends[name] = {"at": float(unscaled(estimator, chosen, t.item())), "value": value.item()}
    return {"feature": chosen.name, "x": x.tolist(), "y": y.tolist(), **ends, "held_to": guard_range(estimator)}


def guard_range(estimator: Any) -> list[float] | None:
    """What predictions are held to, if they are."""
    from polyladder.estimators.base import GUARD

    if not getattr(estimator, "guard", False):
        return None
    low, high = estimator.target_low_[0].item(), estimator.target_high_[0].item()
    return [low - GUARD * (high - low), high + GUARD * (high - low)]


def scaled(estimator: Any, column: NumericFeature, x: Any) -> Any:
    """Values of a column as the ladder sees them. Shape (n,)."""
    import numpy as np

    f = estimator.features_
    table = np.repeat(f.low_[f._varying][None], len(x), 0)
    table[:, column.input] = x
    return f.scaler_.transform(table if f.shaper_ is None else f.shaper_.transform(table))[:, column.input]


def unscaled(estimator: Any, column: NumericFeature, value: float) -> float:
    """What `scaled` undoes, for one value."""
    import numpy as np

    f = estimator.features_
    table = np.zeros((1, len(f._varying)))
    table[0, column.input] = value
    table = f.scaler_.inverse_transform(table)
    table = table if f.shaper_ is None else f.shaper_.inverse_transform(table)
    return min(max(float(table[0, column.input]), column.low), column.high)


def show(console: Console, found: dict[str, Any]) -> None:
    """Print an explanation."""
    from rich.text import Text

    def say(words: str = "", style: str = "") -> None:
        console.print(Text(words, style))

    rows = f", fitted to {found['rows']:,} rows" if found["rows"] else ""
    say(f"{found['target']}: a polynomial of order {found['order']} in {found['inputs']} inputs{rows}.", "bold")
    for formula in found["formula"]:
        say()
        if not formula["terms"]:
            say(f"{formula['output']}: {formula['of']:,} terms, too many to write out.")
            continue
        say(f"{formula['output']} ~ {' '.join(map(term_words, formula['terms']))}")
        error = "" if formula["error"] is None else f"; without the others it is off by {formula['error']:.3g}"
        say(f"  {len(formula['terms'])} of {formula['of']:,} terms, in scaled inputs{error}.")
    for title, key in (("Strongest features", "features"), ("Strongest interactions", "interactions")):
        if found[key]:
            say()
            say(f"{title}: change per standard deviation", "bold")
            names = [" x ".join(each[:-1]) for each in found[key]]
            most, width = found[key][0][-1] or 1.0, max(map(len, names))
            for name, (*_, value) in zip(names, found[key], strict=True):
                say(f"  {name:<{width}}  {value:9.4g}  {'█' * round(24 * value / most)}")
    if found["curve"]:
        show_curve(say, found["curve"])


def show_curve(say: Callable[..., None], line: dict[str, Any]) -> None:
    """Print the curve of one feature, as far as predictions follow it."""
    held = line["held_to"] or [min(line["y"]), max(line["y"])]
    say()
    say(f"Along {line['feature']}, everything else in its middle", "bold")
    for text in plot(line["x"], [min(max(y, held[0]), held[1]) for y in line["y"]]):
        say(text)
    ends = (f"{end} {line[end]['value']:.4g} at {line[end]['at']:.4g}" for end in ("minimum", "maximum"))
    say(f"  exact {', '.join(ends)}")
    if line["minimum"]["value"] < held[0] or line["maximum"]["value"] > held[1]:
        say(f"  predictions are held to {held[0]:.4g} ... {held[1]:.4g}")


def term_words(term: dict[str, Any]) -> str:
    """A monomial as text, its sign in front."""
    sign = "-" if term["coefficient"] < 0 else "+"
    factors = "".join(f" [{name}]" + (f"^{power}" if power > 1 else "") for name, power in term["powers"].items())
    return f"{sign} {abs(term['coefficient']):.3g}{factors}"


def plot(x: list[float], y: list[float], height: int = 10) -> list[str]:
    """A curve in braille dots, two columns and four rows of them a character, with its axes.

    Args:
        x: rising, evenly spaced; an even number of them.
        y: as many.
        height: in characters.
    """
    low, high = min(y), max(y)
    span = high - low or 1.0
    dots = [[0] * (len(x) // 2) for _ in range(height)]
    before = None
    for i, value in enumerate(y):
        level = round((high - value) / span * (4 * height - 1))
        # Steep parts are drawn through, so that the curve has no gaps.
        steps = [level] if before is None or abs(level - before) < 2 else range(*sorted((level, before)))
        for at in (*steps, level):
            dots[at // 4][i // 2] |= ((1, 2, 4, 64), (8, 16, 32, 128))[i % 2][at % 4]
        before = level
    labels = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
    width = max(map(len, labels.values()))
    lines = [f"  {labels.get(k, ''):>{width}} ┤{''.join(chr(0x2800 + d) for d in row)}" for k, row in enumerate(dots)]
    left, right = f"{x[0]:.4g}", f"{x[-1]:.4g}"
    return [*lines, f"  {'':>{width}}  {left}{right:>{len(x) // 2 - len(left)}}"]
