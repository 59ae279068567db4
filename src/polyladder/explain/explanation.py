"""What a fitted model does, read off its weights: one value that the command, the page and notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from polyladder.explain.contributions import Contributions, contributions
from polyladder.explain.curve import Curve, curve
from polyladder.explain.strengths import Strengths, strengths
from polyladder.explain.terms import Formula, Term, formulas
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, HasModel, fitted_model
from polyladder.training.threads import small_on_one_thread

CURVES = 12
"""Columns whose curves are found, at most."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a fitted model does.

    Attributes:
        model: kind of estimator.
        target: what it predicts.
        order: of the polynomial.
        inputs: how many inputs the polynomial has.
        rows: how many rows it was fitted to, if known.
        names: of the table's columns.
        formulas: the largest terms of each output.
        strengths: of columns and pairs of columns.
        curve: of one column; None for several outputs, or without a column of numbers.
        curves: of the strongest columns of numbers, for one output.
        contributions: of each column to the predictions of the rows; None without rows.
    """

    model: str
    target: str
    order: int
    inputs: int
    rows: int | None
    names: tuple[str, ...]
    formulas: tuple[Formula, ...]
    strengths: Strengths
    curve: Curve | None
    curves: tuple[Curve, ...] = ()
    contributions: Contributions | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """The strongest terms of the first output."""
        return self.formulas[0].terms

    def __repr__(self) -> str:
        strongest = ", ".join(f"{name} ({value:.3g})" for name, value in self.strengths.columns[:5])
        rows = "" if self.contributions is None else f", contributions to {len(self.contributions.outputs)} rows"
        return f"Explanation({self.target}: order {self.order} in {self.inputs} inputs, strongest {strongest}{rows})"

    def plot(self, row: int = 0, output: int = 0, ax: Any = None) -> Any:
        """Draw what each column contributed to the prediction of a row, from the start to the end, with matplotlib.

        Args:
            row: which of the rows that were explained, counted from 0.
            output: which target or class.
            ax: axes to draw on; new ones by default.

        Returns:
            The axes.
        """
        return import_module("polyladder.report.waterfall").plot_waterfall(self, row, output, ax)

    def _repr_html_(self) -> str:
        """Contributions of the first rows, strongest columns and terms, for notebooks."""
        return str(import_module("polyladder.report.waterfall").explanation_html(self))

    def json(self) -> dict[str, Any]:
        """All of it as plain JSON, columns by name."""
        return {
            "model": self.model,
            "target": self.target,
            "order": self.order,
            "inputs": self.inputs,
            "rows": self.rows,
            "formula": [asdict(formula) for formula in self.formulas],
            "features": [list(each) for each in self.strengths.columns],
            "interactions": [list(each) for each in self.strengths.pairs],
            "over": self.strengths.over,
            "note": self.strengths.note,
            "curve": None if self.curve is None else asdict(self.curve),
        }


@small_on_one_thread
def explain(
    model: FittedModel | HasModel,
    rows: Any = None,
    *,
    feature: str | None = None,
    terms: int = 8,
    output: int = 0,
    baseline: Any = None,
) -> Explanation:
    """Read the strongest terms, columns, pairs and curves off a fitted estimator, and explain its predictions.

    Args:
        model: fitted to a dense table, with a ladder behind it.
        rows: to explain and to average over; by default averages are over what its card knows of the training rows, or
            over the middle of their ranges, and no prediction is explained.
        feature: a column of numbers whose curve is wanted; by default the strongest.
        terms: how many terms of each formula.
        output: which target or class the curves are of.
        baseline: one row that contributions start from; by default the training mean.

    Example:
        >>> from sklearn.datasets import make_friedman1
        >>> from polyladder import LPNNRegressor
        >>> from polyladder.explain.explanation import explain
        >>> X, y = make_friedman1(200, random_state=0)
        >>> found = explain(LPNNRegressor(order=3, random_state=0).fit(X, y), X)
        >>> found.strengths.columns[0][0] in ("x0", "x1", "x3")
        True
        >>> parts = found.contributions
        >>> bool(abs(parts.start + parts.values.sum(1) - parts.outputs).max() < 1e-9)
        True
    """
    model = fitted_model(model).described_by(rows)
    z = None if rows is None else model.inputs(rows)
    if not 0 <= output < model.ladders.out_features:
        raise ValueError(f"output must be from 0 to {model.ladders.out_features - 1}; got {output}.")
    # One row has no spread to average over: then the card's averages, or those of the middle, are meant.
    found = strengths(model, z if z is not None and len(z) > 1 else None)
    numeric = [model.columns[i] for i in found.positions if model.columns[i].role == "numeric"]
    return Explanation(
        model=model.kind,
        target=model.target,
        order=model.ladders.order,
        inputs=model.ladders.in_features,
        rows=model.card.get("rows"),
        names=tuple(column.name for column in model.columns),
        formulas=tuple(formulas(model, terms, z)),
        strengths=found,
        curve=chosen_curve(model, feature, numeric),
        curves=tuple(curve(model, column, output) for column in numeric[:CURVES]),
        contributions=None if rows is None else contributions(model, rows, baseline),
    )


def chosen_curve(model: FittedModel, feature: str | None, ranked: Sequence[Column]) -> Curve | None:
    """The curve of the column asked for, or of the first of some columns of numbers, the strongest one."""
    known = {column.name: column for column in model.columns if column.role == "numeric"}
    if feature is not None and feature not in known:
        listed = ", ".join(list(known)[:12]) + (", ..." if len(known) > 12 else "")
        raise ValueError(f"feature must be a column of numbers; got {feature!r}. Choose among {listed}.")
    if model.ladders.out_features > 1 or not known:
        return None
    first = next(iter([*ranked, *known.values()]))
    return curve(model, first if feature is None else known[feature])
