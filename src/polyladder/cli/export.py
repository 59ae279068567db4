"""`polyladder export`: a model as source, ONNX or a recipe for encrypted rows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import Force, ModelPath, NoClobber, check, place_words
from polyladder.export.source import LANGUAGES, to_source
from polyladder.files import kinds

if TYPE_CHECKING:
    from polyladder.fitted.model import AnyModel

FORMATS = {
    **{language.name: (language.kind, language.ending) for language in LANGUAGES.values()},
    "onnx": (kinds.ONNX, ".onnx"),
    "recipe": (kinds.RECIPE, ".recipe"),
}
"""What a model can be exported to: the kind of file and its ending."""

Target = StrEnum("Target", [(name, name) for name in FORMATS])  # type: ignore[misc]


class NumberChoice(StrEnum):
    """The type of numbers to compute with."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FIXED = "fixed"


def export(
    model: ModelPath,
    to: Annotated[Target, typer.Option("--to", help="The language; recipe is for clients of encrypted rows.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to; by default in the current folder, under the model's name."),
    ] = None,
    numbers: Annotated[
        NumberChoice, typer.Option(help="For c and onnx; fixed is c with integers only.")
    ] = NumberChoice.FLOAT64,
    name: Annotated[
        str, typer.Option(help="For c and javascript: prefix of functions, name of the object.")
    ] = "ladder",
    table: Annotated[str, typer.Option(help="For sql: the table to read, such as houses or main.houses.")] = "rows",
    key: Annotated[
        str | None, typer.Option(help="For sql: a column that identifies rows; by default rows are numbered.")
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Add the ends of intervals that hold this many percent, and the scale of errors."),
    ] = None,
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Write a model in another language, preprocessing and all.

    \b
    Examples:
      polyladder export houses.ladder --to c
      polyladder export houses.ladder --to sql --table houses --key id -o houses.sql
      polyladder export houses.ladder --to onnx --numbers float32 --interval 90
    """
    from polyladder.convert.printed import rounded_up
    from polyladder.polynomial.store import load

    kind, ending = FORMATS[to]
    place = output or Path(model.stem + ending)
    header = place.with_suffix(".h") if to == "c" else None
    files = (("--output", place, kind), ("The header", header, kinds.HEADER))
    replaced = check([model], force, no_clobber, *files)
    options = {"numbers": numbers.value, "name": name, "table": table, "key": key}
    source = write(load(model), to, place, interval, options)
    for label, path, old in zip(("Export:", "Header:"), (place, header), replaced, strict=False):
        typer.echo(place_words(label, path or place, old))
    if source is not None and source.bound is not None:
        typer.echo(f"Proven largest error of each answer: {', '.join(map(rounded_up, source.bound))}.")


def write(model: AnyModel, to: str, place: Path, interval: float | None, options: dict[str, Any]) -> Any:
    """Write the export; the source, if it is one."""
    if to == "onnx":
        from polyladder.export.onnx_model import to_onnx

        if options["numbers"] == "fixed":
            raise ValueError("--numbers must be float64 or float32 for onnx; got fixed. Use --to c.")
        to_onnx(model, place, dtype=options["numbers"], interval=interval)
        return None
    if to == "recipe":
        if interval is not None:
            raise ValueError("--interval must be left out for recipe: encrypted predictions are numbers alone.")
        from polyladder.export.encrypted import encrypt
        from polyladder.files.replace_file import write_atomically

        write_atomically(encrypt(model).recipe.to_json().encode(), place)
        return None
    source = to_source(model, to, interval=interval, **{name: options[name] for name in LANGUAGES[to].options})
    source.write(place, force=True)
    return source
