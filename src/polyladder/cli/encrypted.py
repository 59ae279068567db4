"""`polyladder encrypted`: keys, encrypt, score and decrypt; the server that scores never sees the secret key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import Force, ModelPath, NoClobber, RowsPath, check, place_words
from polyladder.files.kinds import ENCRYPTED_ROWS, ENCRYPTED_SCORES, PUBLIC_KEY, SECRET_KEY
from polyladder.files.replace_file import write_atomically

if TYPE_CHECKING:
    from polyladder.convert.encrypted.client import ClientRecipe
    from polyladder.tables.table import Table

encrypted = typer.Typer(help="Predictions of rows that the predictor cannot read.", no_args_is_help=True)

RecipePath = Annotated[Path, typer.Argument(help="From: polyladder export MODEL --to recipe.")]
SecretPath = Annotated[Path, typer.Argument(help="The secret key that keys wrote.")]


@encrypted.command()
def keys(
    recipe: RecipePath,
    secret: Annotated[Path, typer.Option("--secret", help="Where the secret key goes.")] = Path("secret.key"),
    public: Annotated[Path, typer.Option("--public", help="Where the public key goes.")] = Path("public.key"),
    no_clobber: Annotated[bool, typer.Option("--no-clobber", help="Has no effect: keys are never replaced.")] = False,
) -> None:
    """Make a secret key, to be kept, and a public key, to be sent to the server; neither replaces a file.

    \b
    Example:
      polyladder encrypted keys houses.recipe
    """
    check([recipe], False, no_clobber, ("--secret", secret, SECRET_KEY), ("--public", public, PUBLIC_KEY))
    made = read_recipe(recipe).make_keys()
    # Only the owner may read a secret key, from the moment the file exists.
    before = os.umask(0o077)
    try:
        write_atomically(made.secret, secret, new=True)
    finally:
        os.umask(before)
    secret.chmod(0o600)
    write_atomically(made.public, public, new=True)
    typer.echo(place_words("Secret key, keep it:", secret, replaced=False))
    typer.echo(place_words("Public key, send it:", public, replaced=False))


@encrypted.command()
def encrypt(
    recipe: RecipePath,
    secret: SecretPath,
    rows: RowsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to.")] = Path("rows.encrypted"),
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Encrypt the rows of a table, scaled as the model wants them.

    \b
    Example:
      polyladder encrypted encrypt houses.recipe secret.key new.csv
    """
    (replaced,) = check([recipe, secret, rows], force, no_clobber, ("--output", output, ENCRYPTED_ROWS))
    found = read_recipe(recipe)
    write_atomically(found.encrypt(secret.read_bytes(), table_rows(found, rows)), output)
    typer.echo(place_words("Encrypted rows:", output, replaced))


@encrypted.command()
def score(
    model: ModelPath,
    public: Annotated[Path, typer.Argument(help="The client's public key.")],
    rows: Annotated[Path, typer.Argument(help="Encrypted rows.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to.")] = Path("scores.encrypted"),
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the blocks of rows.")] = 1,
    force: Force = False,
    no_clobber: NoClobber = False,
) -> None:
    """Score encrypted rows, with the model and the public key alone.

    \b
    Example:
      polyladder encrypted score houses.ladder public.key rows.encrypted
    """
    from polyladder.export.encrypted import encrypt as prepared
    from polyladder.polynomial.store import load

    (replaced,) = check([model, public, rows], force, no_clobber, ("--output", output, ENCRYPTED_SCORES))
    made = prepared(load(model))
    write_atomically(made.score(public.read_bytes(), rows.read_bytes(), workers), output)
    typer.echo(place_words("Encrypted scores:", output, replaced))


@encrypted.command()
def decrypt(
    recipe: RecipePath,
    secret: SecretPath,
    scores: Annotated[Path, typer.Argument(help="Encrypted scores.")],
) -> None:
    """Decrypt scores to CSV on standard output: predictions, or the best class and its probability.

    \b
    Example:
      polyladder encrypted decrypt houses.recipe secret.key scores.encrypted > prices.csv
    """
    import polars as pl

    from polyladder.fitted.answers import Classes

    found = read_recipe(recipe)
    answers = found.decrypt(secret.read_bytes(), scores.read_bytes())
    if isinstance(found.answer, Classes):
        best = [found.answer.labels[i] for i in answers.argmax(1)]
        columns: dict[str, Any] = {"prediction": best, "probability": answers.max(1)}
    else:
        one = answers.shape[1] == 1
        columns = {"prediction" if one else f"prediction_{j + 1}": column for j, column in enumerate(answers.T)}
    typer.echo(pl.DataFrame(columns).write_csv(), nl=False)


def read_recipe(path: Path) -> Any:
    """The recipe in a file."""
    from polyladder.convert.encrypted.client import ClientRecipe

    try:
        return ClientRecipe.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must hold a recipe of polyladder; it is something else or damaged.") from error


def table_rows(recipe: ClientRecipe, rows: str) -> Table:
    """The rows of a table file with the recipe's columns."""
    from polyladder.fitted.rows import file_rows
    from polyladder.tables.table_file import open_table

    file = open_table(rows)
    return file_rows(file, recipe.columns).table(file.whole(least=1))
