"""Figures of fitted estimators: each function draws on matplotlib axes and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyladder.explain.quality import has_spread, qualities
from polyladder.fitted.answers import Draws
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, HasModel, fitted_model
from polyladder.fitted.values import table_of
from polyladder.report.payload import order_path
from polyladder.tables.columns import write_value

LINE = "#3b50d9"
"""Color of curves, their bands and the rows that were observed."""

POINT = "#d9480f"
"""Color of what stands out."""

GRAY = "#9aa3b2"
"""Color of what is there for comparison."""

STEPS = 200
"""Points of a curve; with more it is smoother and slower."""

GRID = 60
"""Points of a map along each side."""


def plot_curve(
    model: FittedModel | HasModel,
    feature: str | int,
    at: Mapping[str, Any] | None = None,
    output: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the prediction along one feature, everything else fixed.

    Args:
        model: fitted.
        feature: name or position of a column.
        at: values of other columns, by name. Those not given stay at their medians, or most frequent categories.
        output: which target, or which class's probability.
        ax: matplotlib axes; new ones by default.

    Returns:
        The axes, with the lowest and the highest of the drawn points. A posterior and a model that has distributions
        have their 90 % interval drawn; any other model with a card has that of its held-out residuals. A card also
        gives the density of the training rows.
    """
    ax = axes(ax)
    model = fitted_model(model)
    columns = model.columns
    i = position(columns, feature)
    row = start(columns, at)
    along = steps(columns[i], STEPS)
    rows = [[*row[:i], value, *row[i + 1 :]] for value in along]
    y, low, high = predictions(model, rows, output)
    if columns[i].role == "category":
        x = [str("missing" if value is None else value) for value in along]
        error = None if low is None or high is None else [y - low, high - y]
        ax.errorbar(x, y, error, fmt="o", color=LINE, ecolor=GRAY)
    else:
        ax.plot(along, y, color=LINE)
        if low is not None and high is not None:
            ax.fill_between(along, low, high, color=LINE, alpha=0.15, linewidth=0)
        ends = [int(np.argmin(y)), int(np.argmax(y))]
        ax.plot([along[k] for k in ends], y[ends], "o", color=POINT, markersize=5)
        draw_density(ax, columns[i])
        write_ticks(ax, model, columns[i].name)
    ax.set(xlabel=columns[i].name, ylabel=output_label(model, output))
    return tidied(ax)


def plot_pair(
    model: FittedModel | HasModel,
    first: str | int,
    second: str | int,
    at: Mapping[str, Any] | None = None,
    output: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the prediction over two numeric features as a map with contour lines; arguments as for `plot_curve`."""
    ax = axes(ax)
    model = fitted_model(model)
    columns = model.columns
    i, j = position(columns, first), position(columns, second)
    for k in (i, j):
        if columns[k].role != "numeric":
            raise ValueError(
                f"plot_pair must be given numeric columns; got {columns[k].name!r}. Use plot_curve for it."
            )
    if i == j:
        raise ValueError(f"first and second must be different columns; got {columns[i].name!r} twice.")
    row = start(columns, at)
    xs, ys = steps(columns[i], GRID), steps(columns[j], GRID)
    rows = []
    for y in ys:
        for x in xs:
            changed = list(row)
            changed[i], changed[j] = x, y
            rows.append(changed)
    values = predictions(model, rows, output)[0].reshape(len(ys), len(xs))
    mesh = ax.pcolormesh(xs, ys, values, shading="gouraud", rasterized=True)
    if np.ptp(values) > 0:
        ax.contour(xs, ys, values, colors="white", linewidths=0.7, alpha=0.8)
    ax.figure.colorbar(mesh, ax=ax, label=output_label(model, output))
    ax.set(xlabel=columns[i].name, ylabel=columns[j].name)
    return ax


def plot_predictions(
    model: FittedModel | HasModel, rows: Any = None, target: Any = None, output: int = 0, ax: Any = None
) -> Any:
    """Draw observed against predicted numbers: of the rows given, or of the held-out rows of the card."""
    ax, observed, predicted = judged(model, rows, target, output, ax)
    ends = [min(observed.min(), predicted.min()), max(observed.max(), predicted.max())]
    ax.plot(ends, ends, color=GRAY, linewidth=1, linestyle="--")
    ax.plot(predicted, observed, "o", color=LINE, markersize=3.5, alpha=0.5, markeredgewidth=0)
    ax.set(xlabel="predicted", ylabel="observed", aspect="equal")
    return tidied(ax)


def plot_residuals(
    model: FittedModel | HasModel, rows: Any = None, target: Any = None, output: int = 0, ax: Any = None
) -> Any:
    """Draw residuals against predictions; arguments as for `plot_predictions`."""
    ax, observed, predicted = judged(model, rows, target, output, ax)
    ax.axhline(0, color=GRAY, linewidth=1, linestyle="--")
    ax.plot(predicted, observed - predicted, "o", color=LINE, markersize=3.5, alpha=0.5, markeredgewidth=0)
    ax.set(xlabel="predicted", ylabel="observed - predicted")
    return tidied(ax)


def plot_order_path(model: FittedModel | HasModel, ax: Any = None) -> Any:
    """Draw the cross-validated error of every order that was tried; the one taken stands out."""
    model = fitted_model(model)
    path = order_path(model)
    if not path:
        raise ValueError("model must have tried several orders; got none. Fit with order='auto'.")
    ax = axes(ax)
    orders, errors = zip(*path, strict=True)
    ax.plot(orders, errors, "o-", color=LINE)
    taken = model.ladders.order
    if taken in orders:
        ax.plot([taken], [errors[orders.index(taken)]], "o", color=POINT, markersize=9)
    ax.set(xlabel="order", ylabel="cross-validated error", xticks=[int(o) for o in orders])
    return tidied(ax)


def plot_trace(model: FittedModel | HasModel, rows: Any, row: int = 0, output: int = 0, ax: Any = None) -> Any:
    """Draw one prediction of a posterior, draw after draw, with one line per chain: lines of chains that agree overlap.

    Weights would not do: two chains may hold the same units in another order, or scaled differently.

    Args:
        model: a fitted posterior.
        rows: a table.
        row: which of its rows.
        output: which target, or which class's latent output.
        ax: matplotlib axes; new ones by default.

    Returns:
        The axes. Outputs are targets, or latent values of classes.
    """
    model = fitted_model(model)
    if not model.answer.by_member:
        raise ValueError(f"model must be a posterior, which has draws; got a {model.kind}.")
    f = model.ladders(model.inputs(rows)[row : row + 1])[:, 0, output]
    ax = axes(ax)
    for i, chain in enumerate(f.reshape(model.card["chains"], -1)):
        ax.plot(range(1, len(chain) + 1), chain.numpy(), linewidth=0.9, alpha=0.8, label=f"chain {i + 1}")
    ax.set(xlabel="draw", ylabel="output")
    ax.legend(frameon=False, fontsize="small")
    return tidied(ax)


def draw_density(ax: Any, column: Column) -> None:
    """Draw how many training rows lie where, along the bottom."""
    if len(column.edges) != len(column.counts) + 1:
        return
    heights = 0.15 * np.sqrt(np.array(column.counts) / max(column.counts))
    edges = np.array(column.edges)
    ax.bar(
        edges[:-1],
        heights,
        np.diff(edges),
        align="edge",
        color=GRAY,
        alpha=0.35,
        transform=ax.get_xaxis_transform(),
        zorder=0,
    )


def write_ticks(ax: Any, model: FittedModel, name: str) -> None:
    """Write the numbers of the horizontal axis as the table does: dates as dates."""
    written = next(column.written for column in model.columns if column.name == name)
    if written is None or (written["kind"] == "number" and "style" not in written):
        return
    ax.xaxis.set_major_formatter(lambda value, _: write_value(value, written))
    ax.locator_params(axis="x", nbins=4)


def axes(ax: Any) -> Any:
    """The axes given, or new ones."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Figures need matplotlib. Install it with: pip install 'polyladder[plot]'.") from error
    return plt.subplots(figsize=(4.8, 3.6), layout="constrained")[1] if ax is None else ax


def tidied(ax: Any) -> Any:
    """The axes without their upper and right sides."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def position(columns: Sequence[Column], feature: str | int) -> int:
    """Where a column lies, by name or position; constant ones have no curve."""
    names = [column.name for column in columns]
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be one of {names}; got {feature!r}.")
        found = names.index(feature)
    else:
        found = range(len(columns))[feature]
    if columns[found].role == "constant":
        raise ValueError(f"feature must vary in training; {columns[found].name!r} was constant.")
    return found


def start(columns: Sequence[Column], at: Mapping[str, Any] | None) -> list[Any]:
    """Typical values of all columns, changed where ``at`` says so."""
    row = [column.typical for column in columns]
    for name, value in (at or {}).items():
        row[position(columns, name)] = value
    return row


def steps(column: Column, count: int) -> list[Any]:
    """Values of a column to go through."""
    return (
        list(column.categories) if column.role == "category" else np.linspace(column.low, column.high, count).tolist()
    )


def predictions(
    model: FittedModel, rows: Sequence[Sequence[Any]], output: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None]:
    """What the model says of rows of values, and the ends of its band if it has one. Shapes (rows,)."""
    table = table_of(model.columns, rows)
    if model.labels is not None:
        return model.predict_proba(table)[:, output], None, None
    y = model.predict(table).reshape(len(rows), -1)[:, output]
    if isinstance(model.answer, Draws):
        mixture = model.distribution(table)
        low, high = (np.asarray(mixture.quantile(level)[:, output].numpy()) for level in (0.05, 0.95))
        return y, low, high
    if has_spread(model):
        ends = model.predict_distribution(table).interval(0.9)
        low, high = (side.reshape(len(rows), -1)[:, output] for side in ends)
        return y, low, high
    half = model.card.get("residual_quantiles", {}).get("90")
    return y, None if half is None else y - half, None if half is None else y + half


def judged(
    model: FittedModel | HasModel, rows: Any, target: Any, output: int, ax: Any
) -> tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Axes, and observed and predicted numbers of the rows given, or of the card's held-out rows."""
    model = fitted_model(model).described_by(rows)
    if model.labels is not None:
        raise TypeError(f"model must predict numbers; got a {model.kind}. Classes have no residuals.")
    found = qualities(model, rows, target)
    if not found:
        raise ValueError("rows and target must be given where the model has no card with held-out rows.")
    return axes(ax), found[-1].observed[:, output], found[-1].predicted[:, output]


def output_label(model: FittedModel, output: int) -> str:
    """What is drawn."""
    name = model.target
    if model.labels is not None:
        return f"P({name if name != 'prediction' else 'class'} = {model.labels[output]})"
    return model.output_names[output]
