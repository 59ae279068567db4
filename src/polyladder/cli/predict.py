"""`polyladder predict`: one line per row, from files of any size."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyladder.cli.output import CsvPath, Force, ModelPath, NoClobber, Quiet, RowsPath, Sheet, check, opened
from polyladder.files.kinds import TABLE

if TYPE_CHECKING:
    from polyladder.estimators.table_estimator import TableEstimator
    from polyladder.tables.table_file import TableFile


def predict(
    model: ModelPath,
    rows: RowsPath,
    output: CsvPath = None,
    sheet: Sheet = None,
    interval: Annotated[
        float | None, typer.Option(min=1, max=99, help="Add the bounds of intervals that hold this many percent.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Predict the second of two classes from this probability on, not 0.5.",
        ),
    ] = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", help="Copy this column of the file to the result; may be repeated.")
    ] = None,
    keep_columns: Annotated[
        bool, typer.Option("--keep-columns", help="Copy all columns of the file to the result unchanged.")
    ] = False,
    force: Force = False,
    no_clobber: NoClobber = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row of a table, a chunk at a time, in constant memory.

    The result has a header and one line for each row: the prediction and, if asked for, the bounds of its interval; for
    classes the prediction, its probability, and the probability of each class. Columns are found by their names; others
    are ignored.

    \b
    Examples:
      polyladder predict houses.ladder new.csv > prices.csv
      polyladder predict houses.ladder new.csv.gz --interval 90 -o intervals.csv
      polyladder predict visits.ladder new.csv --id patient --threshold 0.2
      cat new.csv | polyladder predict houses.ladder -
    """
    from polyladder.automatic.model_rows import load_estimator
    from polyladder.tables.number_style import counted
    from polyladder.tables.table_file import open_table

    replaced = any(check([model, rows], force, no_clobber, ("--output", output, TABLE)))
    estimator = load_estimator(model)
    file = open_table(rows, sheet=sheet)
    for name in id_ or ():
        file.check_column("--id", name)
    carried = file.names if keep_columns else tuple(dict.fromkeys(id_ or ()))
    with opened(output) as sink:
        count = 0
        for lines, chunk_rows in prediction_lines(estimator, file, interval, threshold, carried, quiet):
            sink.write(lines)
            count += chunk_rows
    for sentence in () if quiet else file.notes:
        print(f"polyladder: note: {sentence}", file=sys.stderr)
    if output is not None and not quiet:
        said = ", which replaced the file that was there" if replaced else ""
        named = (estimator.card_ or {}).get("target")
        of = f" of {named}" if named else ""
        print(f"{counted(count, 'prediction')}{of} in {output}{said}.", file=sys.stderr)


def prediction_lines(
    estimator: TableEstimator,
    file: TableFile,
    interval: float | None = None,
    threshold: float | None = None,
    carried: Sequence[str] = (),
    quiet: bool = False,
) -> Iterator[tuple[bytes, int]]:
    """Lines of CSV, the header first, and how many rows they are.

    Args:
        estimator: that predicts.
        file: the open table.
        interval: percentage of intervals, or None.
        threshold: probability from which on the second of two classes is predicted, or None.
        carried: columns of the file that are copied.
        quiet: whether nothing is said of strange rows.
    """
    import polars as pl

    from polyladder.automatic.model_rows import model_rows
    from polyladder.tables.totals import row_label

    rows = model_rows(file, estimator)
    names, answers = answer_columns(estimator, interval, threshold)
    # Two columns of the same name would become one.
    given = {name: f"{name} (given)" if name in names else name for name in carried}
    yield pl.DataFrame(schema=[*given.values(), *names]).write_csv().encode(), 0
    said: set[str] = set()
    row, label = 1, ""
    for chunk in file.chunks:
        if not len(chunk):
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            values = answers(rows.table(chunk, row))
        for warning in caught:
            # Chunks differ in which categories are new; one sentence a column is enough.
            sentence = str(warning.message)
            start = sentence.split(" holds ", maxsplit=1)[0]
            if start not in said and not quiet:
                print(f"polyladder: note: {sentence}", file=sys.stderr)
            said.add(start)
        row += len(chunk)
        label = row_label(chunk.tail(1))
        found = dict(zip(names, values, strict=True))
        frame = pl.DataFrame({new: chunk[old] for old, new in given.items()} | found)
        yield frame.write_csv(include_header=False).encode(), len(chunk)
    if label:
        file.notes.append(f"The last row is labeled {label!r}: it was predicted like any other.")


def answer_columns(
    estimator: TableEstimator, interval: float | None, threshold: float | None
) -> tuple[list[str], Callable[[Any], list[Any]]]:
    """The header of the result without copied columns, and the function that makes its columns, (n,) each, of rows."""
    from polyladder.automatic.card import half_width
    from polyladder.estimators.bayesian import BayesianLPNNRegressor
    from polyladder.estimators.targets import ClassTarget

    if isinstance(estimator.target_, ClassTarget):
        labels = estimator.classes_
        if interval is not None:
            raise ValueError("--interval must be left out for a model of classes; their probability is always given.")
        if threshold is not None and len(labels) != 2:
            raise ValueError(f"--threshold must be left out for {len(labels)} classes; it is for two.")

        def classes(X: Any) -> list[Any]:
            probability = estimator.predict_proba(X)
            chosen = probability.argmax(1) if threshold is None else (probability[:, 1] >= threshold).astype(int)
            return [labels[chosen], probability[range(len(chosen)), chosen], *probability.T]

        return ["prediction", "probability", *(f"probability of {label}" for label in labels)], classes
    if threshold is not None:
        raise ValueError("--threshold must be left out for a model of numbers; it is for two classes.")
    bayesian, spread = isinstance(estimator, BayesianLPNNRegressor), estimator.spread_ is not None
    if interval is not None and not bayesian and not spread and estimator.card_ is None:
        raise ValueError("--interval must be left out: no held-out rows of this model are known. Use polyladder fit.")
    half = None if interval is None or bayesian or spread else half_width(estimator.card_, interval)

    def numbers(X: Any) -> list[Any]:
        if interval is not None and spread:
            # Its mean is what is predicted: the ladders are asked once.
            said = estimator.model_.predict_distribution(X)
            return [one_target(said.mean), *said.interval(interval / 100)]
        predicted = one_target(estimator.predict(X))
        if interval is None:
            return [predicted]
        if half is None:
            return [predicted, *estimator.predict_interval(X, level=interval / 100)]
        return [predicted, predicted - half, predicted + half]

    return ["prediction"] if interval is None else ["prediction", "lower", "upper"], numbers


def one_target(predicted: Any) -> Any:
    """Predictions (n,) themselves, refused where there are several for a row."""
    if predicted.ndim > 1:
        raise ValueError(f"The model must have one target to be written as CSV; it has {predicted.shape[1]}.")
    return predicted
