"""`polyladder predict`: one line a row, from files of any size."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from polyladder.tables.table_file import TableFile


def predict(
    model: Annotated[Path, typer.Argument(help="A file that fit or save wrote.")],
    rows: Annotated[str, typer.Argument(help="CSV, TSV or Parquet, compressed or not; - for standard input.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV file; by default standard output.")
    ] = None,
    interval: Annotated[
        float | None, typer.Option(min=1, max=99, help="Add the bounds of intervals that hold this many percent.")
    ] = None,
    no_clobber: Annotated[bool, typer.Option("--no-clobber", help="Refuse to replace an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Predict every row of a table, a chunk at a time, in constant memory.

    The result has a header and one line a row: the prediction and, if asked for, the bounds of its interval; for
    classes the prediction and its probability. Columns are found by their names; others are ignored.

    \b
    Examples:
      polyladder predict houses.ladder new.csv > prices.csv
      polyladder predict houses.ladder new.csv.gz --interval 90 -o prices.csv
      cat new.csv | polyladder predict houses.ladder -
    """
    from polyladder.automatic.model_rows import load_estimator
    from polyladder.cli.output import check_place
    from polyladder.tables.table_file import open_table

    replaced = output is not None and check_place("--output", output, no_clobber)
    estimator = load_estimator(model)
    file = open_table(rows)
    with opened(output) as sink:
        count = 0
        for lines, chunk_rows in prediction_lines(estimator, file, interval, quiet):
            sink.write(lines)
            count += chunk_rows
    for sentence in () if quiet else file.notes:
        print(f"polyladder: note: {sentence}", file=sys.stderr)
    if output is not None and not quiet:
        said = ", which replaced the file that was there" if replaced else ""
        print(f"{count:,} predictions in {output}{said}.", file=sys.stderr)


def prediction_lines(
    estimator: Any, file: TableFile, interval: float | None, quiet: bool = False
) -> Iterator[tuple[bytes, int]]:
    """Lines of CSV, the header first, and how many rows they are."""
    import polars as pl

    from polyladder.automatic.model_rows import file_columns, model_rows

    columns = file_columns(file, estimator)
    names = predicted_columns(estimator, interval)
    yield pl.DataFrame(schema=names).write_csv().encode(), 0
    said: set[str] = set()
    row = 1
    for chunk in file.chunks:
        if not len(chunk):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            values = predictions(estimator, model_rows(chunk, columns, file, estimator, row), interval)
        for warning in caught:
            # Chunks differ in which categories are new; one sentence a column is enough.
            sentence = str(warning.message)
            start = sentence.split(" holds ", maxsplit=1)[0]
            if start not in said and not quiet:
                print(f"polyladder: note: {sentence}", file=sys.stderr)
            said.add(start)
        row += len(chunk)
        frame = pl.DataFrame(dict(zip(names, values, strict=True)))
        yield frame.write_csv(include_header=False).encode(), len(chunk)


def predicted_columns(estimator: Any, interval: float | None) -> list[str]:
    """The header of the result."""
    from polyladder.automatic.card import half_width
    from polyladder.estimators.bayesian import BayesianLPNNRegressor
    from polyladder.estimators.targets import ClassTarget

    if isinstance(estimator.target_, ClassTarget):
        if interval is not None:
            raise ValueError("--interval must be left out for a model of classes; their probability is always given.")
        return ["prediction", "probability"]
    if interval is None:
        return ["prediction"]
    if not isinstance(estimator, BayesianLPNNRegressor):
        if estimator.card_ is None:
            raise ValueError(
                "--interval must be left out: no held-out rows of this model are known. Use polyladder fit."
            )
        half_width(estimator.card_, interval)
    return ["prediction", "lower", "upper"]


def predictions(estimator: Any, X: Any, interval: float | None) -> list[Any]:
    """The columns of the result for some rows. Each has shape (n,)."""
    from polyladder.automatic.card import half_width
    from polyladder.estimators.bayesian import BayesianLPNNRegressor
    from polyladder.estimators.targets import ClassTarget

    if isinstance(estimator.target_, ClassTarget):
        probability = estimator.predict_proba(X)
        return [estimator.classes_[probability.argmax(1)], probability.max(1)]
    predicted = estimator.predict(X)
    if predicted.ndim > 1:
        raise ValueError(f"The model must have one target to be written as CSV; it has {predicted.shape[1]}.")
    if interval is None:
        return [predicted]
    if isinstance(estimator, BayesianLPNNRegressor):
        lower, upper = estimator.predict_interval(X, level=interval / 100)
        return [predicted, lower, upper]
    half = half_width(estimator.card_, interval)
    return [predicted, predicted - half, predicted + half]


@contextmanager
def opened(path: Path | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that appears only when it is whole."""
    if path is None:
        stream = typer.get_binary_stream("stdout")
        yield stream
        stream.flush()
        return
    from polyladder.files.replace_file import replacing

    with replacing(path) as sink:
        yield sink
