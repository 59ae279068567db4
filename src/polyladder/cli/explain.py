"""`polyladder explain`: what a fitted polynomial does, read off its weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import AsJson, ModelPath, share_of

if TYPE_CHECKING:
    from rich.console import Console

    from polyladder.estimators.table_estimator import TableEstimator
    from polyladder.explain.contributions import Contributions
    from polyladder.explain.curve import Curve
    from polyladder.explain.explanation import Explanation
    from polyladder.explain.terms import Formula, Term

LISTED = 8
"""Terms of the formula that are listed, by default."""

TOLERANCE = "1%"
"""Error of a formula, by default."""

FEATURES = 8
"""Features that are shown, at most."""

PAIRS = 5
"""Interactions that are shown, at most."""

BAR = 24
"""Characters of the strongest feature's bar."""


def explain(
    model: ModelPath,
    data: Annotated[
        str | None, typer.Argument(help="Rows to average over; by default what is stored about the training rows.")
    ] = None,
    feature: Annotated[
        str | None, typer.Option("--feature", "-f", help="The feature whose curve is drawn; by default the strongest.")
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(min=1, help="Say what each column contributed to the prediction of this row of DATA, from 1 on."),
    ] = None,
    from_row: Annotated[
        int | None, typer.Option(min=1, help="With --row: start from this row instead of the training mean.")
    ] = None,
    terms: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many terms of the formula to show; by default 8. With --formula: how many terms it has, and then "
            "its error is measured.",
            show_default=False,
        ),
    ] = None,
    formula: Annotated[bool, typer.Option("--formula", help="Print only a short formula with a proven error.")] = False,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="For --formula: the largest error, as a share of the target's range or a probability; by default 1%.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the order, the strongest terms, features and interactions, and one exact curve.

    \b
    Examples:
      polyladder explain houses.ladder
      polyladder explain houses.ladder --feature area
      polyladder explain houses.ladder houses.csv --terms 20 --json
      polyladder explain houses.ladder --formula --tolerance 1%
      polyladder explain houses.ladder houses.csv --formula --terms 30
      polyladder explain houses.ladder houses.csv --row 17
    """
    from polyladder.automatic.model_rows import load_estimator
    from polyladder.cli.printable import make_console
    from polyladder.explain.explanation import explain as read_explanation

    estimator = load_estimator(model)
    console = make_console(highlight=False, soft_wrap=True)
    if formula:
        rows = None if data is None else given_rows(estimator, data)
        show_only_formula(estimator, rows, tolerance, terms, as_json)
        return
    if tolerance is not None:
        raise ValueError(f"--tolerance must come with --formula; got {tolerance} alone.")
    if row is not None:
        parts = explained_row(estimator, data, row, from_row)
        typer.echo(json.dumps({"row": row, **parts.json()})) if as_json else show_row(console, parts, row)
        return
    if from_row is not None:
        raise ValueError(f"--from-row must come with --row; got {from_row} alone.")
    rows = None if data is None else given_rows(estimator, data)
    found = read_explanation(estimator, rows, feature=feature, terms=LISTED if terms is None else terms)
    if as_json:
        typer.echo(json.dumps(found.json() | {"scores": (estimator.card_ or {}).get("scores", [])}))
    else:
        show(console, found, {column.name: column.written for column in estimator.model_.columns})


def show_only_formula(
    estimator: TableEstimator, rows: Any, tolerance: str | None, terms: int | None, as_json: bool
) -> None:
    """Print a formula whose error is proven to stay within a tolerance, or one of so many terms, its error measured.

    Args:
        estimator: whose formula it is.
        rows: where a formula of so many terms should be close; None for the training rows that the model keeps.
        tolerance: a share such as 1% or 0.01; None for 1%.
        terms: how many; None for as many as the tolerance needs.
        as_json: whether it is printed as JSON.
    """
    from polyladder.explain.terms import term_count
    from polyladder.export.fitted_formula import FittedFormula
    from polyladder.export.formula import MAX_TERMS, formula
    from polyladder.export.short_formula import TERMS, short_formula

    if terms is not None and tolerance is not None:
        raise ValueError(f"--terms and --tolerance must not both be given; got {terms} and {tolerance}. Choose one.")
    share, count, note = share_of("--tolerance", tolerance or TOLERANCE), term_count(estimator.model_), ""
    if terms is None and count > MAX_TERMS:
        note = (
            f"The model has {count:,} terms, too many to prove an error: this is the closest formula of {TERMS} terms, "
            "its error measured."
        )
    if terms is not None or note:
        short = short_formula(estimator, rows, terms or TERMS)
        found = {"text": str(short), "differences": list(short.differences), "shares": list(short.shares)}
        found |= {"note": note} if note else {}
    else:
        proven = formula(estimator, tolerance=share)
        latex = proven.latex() if isinstance(proven, FittedFormula) else ""
        found = {"text": str(proven), "latex": latex, "errors": list(proven.errors)}
    if as_json:
        typer.echo(json.dumps(found))
        return
    for line in (note, found["text"]):
        if line:
            typer.echo(line)


def explained_row(estimator: TableEstimator, data: str | None, row: int, from_row: int | None) -> Contributions:
    """What each column contributed to the prediction of one row of a file."""
    from polyladder.explain.contributions import contributions

    if data is None:
        raise ValueError("--row must come with DATA, the table whose row is meant.")
    rows = given_rows(estimator, data, least=1)
    for option, at in (("--row", row), ("--from-row", from_row)):
        if at is not None and at > len(rows):
            raise ValueError(f"{option} must be at most {len(rows):,}, the rows of {data}; got {at:,}.")
    start = None if from_row is None else rows.take([from_row - 1])
    return contributions(estimator.model_.described_by(rows), rows.take([row - 1]), start)


def speaker(console: Console) -> Callable[..., None]:
    """What prints a line of words in a style, none of them taken for markup."""
    from rich.text import Text

    return lambda words="", style="": console.print(Text(words, style))


def show_row(console: Console, parts: Contributions, row: int) -> None:
    """Print what each column contributed to one prediction."""
    from polyladder.tables.number_style import number_words

    say = speaker(console)
    prediction = parts.predictions[0]
    said = number_words(prediction) if isinstance(prediction, float) else prediction
    say(f"Row {row}: {said}", "bold")
    for k, name in enumerate(parts.output_names):
        order = parts.ranked(0, k)
        labels = [f"{parts.columns[i]} = {parts.cells[0][i]}" for i in order]
        width, largest = max(map(len, labels)), abs(parts.values[0, order[0], k]) or 1.0
        say()
        say(
            f"{name}: {number_words(parts.outputs[0, k])}, from {number_words(parts.start[k])} at {parts.baseline}",
            "bold",
        )
        for i, label in zip(order, labels, strict=True):
            value = parts.values[0, i, k]
            between = ""
            if parts.lower is not None and parts.upper is not None:
                between = (
                    f"  ({number_words(parts.lower[0, i, k], True)} to {number_words(parts.upper[0, i, k], True)})"
                )
            bar = "█" * round(BAR * abs(value) / largest)
            say(f"  {label:<{width}}  {number_words(value, signed=True):>10}{between}  {bar}")
        if abs(parts.held[0, k]) > 1e-9 * (1 + abs(parts.outputs[0, k])):
            say(f"  {'held to the range of predictions':<{width}}  {number_words(parts.held[0, k], signed=True):>10}")


def given_rows(estimator: TableEstimator, data: str, least: int = 2) -> Any:
    """Rows of a file, as the estimator takes them."""
    from polyladder.automatic.model_rows import model_rows
    from polyladder.tables.table_file import open_table

    file = open_table(data)
    return model_rows(file, estimator).table(file.whole(least))


def show(console: Console, found: Explanation, written: Mapping[str, Any]) -> None:
    """Print an explanation; ``written`` says how columns are written."""
    from polyladder.tables.number_style import counted

    say = speaker(console)
    rows = f", fitted to {counted(found.rows, 'row')}" if found.rows else ""
    say(f"{found.target}: a polynomial of order {found.order} in {counted(found.inputs, 'input')}{rows}.", "bold")
    for formula in found.formulas:
        show_formula(say, formula)
    features = found.strengths.columns[:FEATURES]
    pairs = tuple((f"{first} x {second}", value) for first, second, value in found.strengths.pairs[:PAIRS])
    if found.strengths.note:
        say()
        say(found.strengths.note)
    width = max((len(name) for name, _ in features + pairs), default=0)
    largest = max((value for _, value in features + pairs), default=0.0) or 1.0
    for title, named in (("Strongest features", features), ("Strongest interactions", pairs)):
        if named:
            say()
            say(f"{title}: change per standard deviation, over {found.strengths.over}", "bold")
            for name, value in named:
                # One scale for both, so that a negligible interaction looks negligible.
                say(f"  {name:<{width}}  {value:9.4g}  {'█' * round(BAR * value / largest)}")
    if len(features) > 1 and not pairs:
        say()
        say("No interactions: no two features change each other's effect.")
    if found.curve:
        show_curve(say, found.curve, written.get(found.curve.column))


def show_formula(say: Callable[..., None], formula: Formula) -> None:
    """Print the largest terms of one output."""
    say()
    say(f"{formula.output} ~ {' '.join(map(term_words, formula.terms))}")
    error = "" if formula.error is None else f"; without the others it is off by {formula.error:.3g}"
    units = "in the columns' own units" if formula.own_units else "in scaled inputs"
    among = f", the strongest among {formula.searched}" if formula.searched else ""
    from polyladder.tables.number_style import counted

    say(f"  {len(formula.terms)} of {counted(formula.total, 'term')}, {units}{among}{error}.")


def show_curve(say: Callable[..., None], line: Curve, written: Any) -> None:
    """Print the curve of one feature, as far as predictions follow it."""
    from polyladder.tables.columns import write_value

    held = line.held_to or (min(line.y), max(line.y))
    say()
    say(f"Along {line.column}, everything else in its middle", "bold")
    ends = (write_value(line.x[0], written), write_value(line.x[-1], written))
    for text in plot(line.x, [min(max(y, held[0]), held[1]) for y in line.y], ends=ends):
        say(text)
    (low_at, low), (high_at, high) = line.minimum, line.maximum
    places = write_value(low_at, written), write_value(high_at, written)
    say(f"  exact minimum {low:.4g} at {places[0]}, maximum {high:.4g} at {places[1]}")
    if low < held[0] or high > held[1]:
        say(f"  predictions are held to {held[0]:.4g} ... {held[1]:.4g}")


def term_words(term: Term) -> str:
    """A monomial as text, its sign in front."""
    sign = "-" if term.coefficient < 0 else "+"
    factors = "".join(f" [{name}]" + (f"^{power}" if power > 1 else "") for name, power in term.powers)
    return f"{sign} {abs(term.coefficient):.3g}{factors}"


def plot(x: Sequence[float], y: Sequence[float], height: int = 10, ends: tuple[str, str] | None = None) -> list[str]:
    """A curve in braille dots, two columns and four rows of them a character, with its axes.

    Args:
        x: rising, evenly spaced; an even number of them.
        y: as many.
        height: in characters.
        ends: the first and the last x, as text.
    """
    low, high = min(y), max(y)
    span = high - low or 1.0
    dots = [[0] * (len(x) // 2) for _ in range(height)]
    before = None
    for i, value in enumerate(y):
        level = round((high - value) / span * (4 * height - 1))
        # Steep parts are filled in, so that the curve has no gaps.
        steps = [level] if before is None or abs(level - before) < 2 else range(*sorted((level, before)))
        for at in (*steps, level):
            dots[at // 4][i // 2] |= ((1, 2, 4, 64), (8, 16, 32, 128))[i % 2][at % 4]
        before = level
    labels = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
    width = max(map(len, labels.values()))
    lines = [f"  {labels.get(k, ''):>{width}} ┤{''.join(chr(0x2800 + d) for d in row)}" for k, row in enumerate(dots)]
    left, right = ends or (f"{x[0]:.4g}", f"{x[-1]:.4g}")
    return [*lines, f"  {'':>{width}}  {left}{right:>{len(x) // 2 - len(left)}}"]
