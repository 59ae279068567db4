"""What each column contributed to a prediction: exact integrated gradients, which add up to the whole difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyladder.analysis.attribution import integrated_gradients
from polyladder.explain.baseline import training_mean
from polyladder.fitted.model import FittedModel
from polyladder.fitted.values import values_of
from polyladder.tables.columns import write_value

LEVEL = 0.9
"""Share of the draws that an interval of a contribution holds."""

CHUNK = 2**22
"""Derivatives held at once: 32 MiB in float64."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """Contributions of the columns to the outputs of some rows.

    ``start + values.sum(1)`` is ``outputs``, to rounding. Of classes the output is the log-odds of the second, or a
    score for each of several; of numbers it is the prediction before it is held to a range.

    Attributes:
        columns: names of the columns that the model reads: those that vary, or are missing in some rows.
        cells: for each row the cells of these columns, as the table writes them.
        output_names: what each output is.
        baseline: where the contributions start, in words.
        start: the outputs there. Shape (m,).
        values: of each row, column and output. Shape (n, columns, m).
        lower: where draws of a posterior end below, for 90 % of them; None without draws. Shape as values.
        upper: where they end above.
        outputs: of each row. Shape (n, m).
        predictions: what the model predicts: numbers, or the likeliest class. Shape (n,) or (n, m).
        held: how much the range that predictions are held to, or the median of draws, changes outputs. Shape (n, m);
            zeros for classes.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    output_names: tuple[str, ...]
    baseline: str
    start: Array
    values: Array
    lower: Array | None
    upper: Array | None
    outputs: Array
    predictions: NDArray[Any]
    held: Array

    def __repr__(self) -> str:
        start = ", ".join(f"{value:.4g}" for value in self.start)
        counts = f"of {len(self.columns)} columns to {len(self.outputs)} rows"
        return f"Contributions({counts}, from {start} at {self.baseline})"

    def ranked(self, row: int = 0, output: int = 0) -> list[int]:
        """Positions of the columns, the largest contribution first."""
        return [int(i) for i in np.argsort(-np.abs(self.values[row, :, output]), kind="stable")]

    def json(self, row: int = 0) -> dict[str, Any]:
        """One row as plain JSON."""
        found: dict[str, Any] = {"prediction": plain(self.predictions[row]), "baseline": self.baseline, "outputs": []}
        for k, name in enumerate(self.output_names):
            parts = []
            for i in self.ranked(row, k):
                part = {"column": self.columns[i], "cell": self.cells[row][i], "value": float(self.values[row, i, k])}
                if self.lower is not None and self.upper is not None:
                    part["interval"] = [float(self.lower[row, i, k]), float(self.upper[row, i, k])]
                parts.append(part)
            whole = {"output": name, "start": float(self.start[k]), "value": float(self.outputs[row, k])}
            found["outputs"].append(whole | {"held": float(self.held[row, k]), "contributions": parts})
        return found


def contributions(model: FittedModel, rows: Any, baseline: Any = None) -> Contributions:
    """What each column adds to the outputs of rows, on the straight line from a baseline in the transformed features.

    Args:
        model: the model.
        rows: of its table. Shape (n, d).
        baseline: one row to start from; by default the training mean, which is a part of the model.
    """
    z = model.inputs(rows)
    if baseline is None:
        mean = training_mean(model)
        start, words = torch.from_numpy(mean.inputs), mean.words
    else:
        if len(baseline) != 1:
            raise ValueError(f"baseline must be one row; got {len(baseline)}.")
        start, words = model.inputs(baseline)[0], "the row given"
    used = [i for i, column in enumerate(model.columns) if column.inputs]
    by_column = torch.zeros(z.shape[1], len(used), dtype=z.dtype)
    for place, i in enumerate(used):
        by_column[list(model.columns[i].inputs), place] = 1.0
    ladders = model.ladders
    size = max(1, CHUNK // (len(ladders) * ladders.out_features * ladders.in_features))
    middle, low, high = [], [], []
    for part in torch.split(z, size):
        # Shape (draws, n, m, columns).
        each = integrated_gradients(ladders, part, start) @ by_column
        middle.append(each.mean(0))
        if model.answer.by_member:
            low.append(each.quantile((1 - LEVEL) / 2, 0))
            high.append(each.quantile((1 + LEVEL) / 2, 0))
    outputs = ladders(z).mean(0).numpy()
    predictions = np.asarray(model.predict(rows))
    held = np.zeros_like(outputs)
    if model.labels is None:
        held = predictions.reshape(len(z), -1) - outputs
    return Contributions(
        columns=tuple(model.columns[i].name for i in used),
        cells=written_cells(model, rows, used),
        output_names=tuple(model.output_names),
        baseline=words,
        start=ladders(start.unsqueeze(0)).mean(0)[0].numpy(),
        values=by_row(middle),
        lower=by_row(low) if low else None,
        upper=by_row(high) if high else None,
        outputs=outputs,
        predictions=predictions,
        held=held,
    )


def by_row(parts: list[Tensor]) -> Array:
    """Parts of shape (rows, m, columns) as one array of shape (n, columns, m)."""
    return np.asarray(torch.cat(parts).transpose(1, 2).numpy())


def written_cells(model: FittedModel, rows: Any, used: list[int]) -> tuple[tuple[str, ...], ...]:
    """The cells of the used columns, as the table writes them."""
    found = values_of(model.columns, model.read(rows))
    return tuple(tuple(write_value(row[i], model.columns[i].written, 6) for i in used) for row in found)


def plain(value: Any) -> Any:
    """A prediction as JSON can hold it."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
