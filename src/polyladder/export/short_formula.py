"""A formula of a few terms in the units of the table, as close to a model as so many terms can come.

The terms are products of columns and categories. They are found one by one (orthogonal matching pursuit): each time the
one that explains most of what the others leave of the model's answers, on rows like the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from polyladder.convert.printed import rounded_within, shortest
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.model import AnyModel, FittedModel, fitted_model
from polyladder.tables.between import rows_between
from polyladder.tables.dates import DAYS
from polyladder.tables.number_style import counted, number_words
from polyladder.tables.table import Table

Array = np.ndarray[Any, Any]
Powers = tuple[tuple[int, int], ...]
"""Factors by number, each with its exponent."""

TERMS = 30
"""Terms of a formula, by default."""

LEARNED, JUDGED = 4_000, 2_000
"""Rows between the given ones that terms are found on, and that the difference is measured on."""

MOST_FACTORS, DEGREE = 14, 3
"""Columns and categories that products are made of, at most, and how many of them a product has."""

DEPENDENT = 1e-6
"""A product of which less than this part is new beside those chosen is not looked at again."""

ROUNDING = 1e-4
"""What rounding all coefficients may change, as a share of the spread of the answers."""


@dataclass(frozen=True)
class Factor:
    """A column of numbers, or whether a column holds a category.

    Attributes:
        column: its position in the table.
        name: as it stands in the formula.
        category: None of numbers.
        typical: what a missing number counts as.
        words: what must be known of its numbers; empty of most.
    """

    column: int
    name: str
    category: str | None = None
    typical: float = 0.0
    words: str = ""

    def values(self, table: Table) -> Array:
        """Of the rows of a table. Shape (n,)."""
        if self.category is not None:
            return np.asarray(table.categories[self.column] == self.category, dtype=np.float64)
        numbers = table.numbers[:, table.positions.index(self.column)]
        return np.where(np.isnan(numbers), self.typical, numbers)


@dataclass(frozen=True)
class ShortFormula:
    """Sums of a few terms that stand for the outputs of a model.

    Attributes:
        outputs: names.
        factors: that the terms are products of.
        terms: for each output its coefficients and powers, the constant first.
        differences: for each output the root mean square difference to the model between the rows given ...
        shares: ... and what part of the variance of its answers that leaves unexplained.
        note: what stands between the formula and a prediction.
    """

    outputs: tuple[str, ...]
    factors: tuple[Factor, ...]
    terms: tuple[tuple[tuple[float, Powers], ...], ...]
    differences: tuple[float, ...]
    shares: tuple[float, ...]
    note: str = ""

    def __str__(self) -> str:
        lines = []
        for output, terms, difference, share in zip(
            self.outputs, self.terms, self.differences, self.shares, strict=True
        ):
            words = " ".join(self._words(value, powers) for value, powers in terms)
            lines.append(f"{output} = {words.removeprefix('+ ')}")
            lines.append(
                f"    {counted(len(terms), 'term')}; measured difference to the model {number_words(difference)} (root "
                f"mean square between the rows given), {100 * share:.2g}% of the variance of its answers"
            )
        used = sorted({i for terms in self.terms for _, powers in terms for i, _ in powers})
        for factor in (self.factors[i] for i in used):
            if factor.category is not None:
                lines.append(f"where [{factor.name}] is 1 if that holds, else 0")
            elif factor.words:
                lines.append(f"where {factor.name} is {factor.words}")
        return "\n".join([*lines, self.note] if self.note else lines)

    def _words(self, value: float, powers: Powers) -> str:
        """A term as text, its sign in front."""
        factors = ""
        for i, exponent in powers:
            factor = self.factors[i]
            name = factor.name if factor.category is None else f"[{factor.name}]"
            factors += f" * {name}" + (f"^{exponent}" if exponent > 1 else "")
        return f"{'-' if value < 0 else '+'} {shortest(abs(value))}{factors}"

    def values(self, table: Table) -> Array:
        """What the formula gives for the rows of a table. Shape (n, outputs)."""
        columns = [factor.values(table) for factor in self.factors]
        found = np.zeros((len(table), len(self.terms)))
        for k, terms in enumerate(self.terms):
            for value, powers in terms:
                found[:, k] += value * product(columns, powers)
        return found


def product(columns: list[Array], powers: Powers) -> Array | float:
    """A product of powers of columns; 1 of none."""
    found: Array | float = 1.0
    for i, exponent in powers:
        found = found * columns[i] ** exponent
    return found


def short_formula(model: AnyModel, rows: Any = None, terms: int = TERMS, seed: int = 0) -> ShortFormula:
    """The formula of so many terms that comes closest to a model, in the units of the table.

    Args:
        model: a fitted model of numbers or classes, of any size.
        rows: where it should be close: training rows, or rows like them. By default those that the model keeps.
        terms: of each output, at most, a constant among them.
        seed: of the rows in between.

    Returns:
        A formula of numbers in the target's units, of classes the log-odds or scores. How far it lies from the model is
        measured with the coefficients as printed.
    """
    if terms < 1:
        raise ValueError(f"terms must be at least 1; got {terms}.")
    read = fitted_model(model)
    if not isinstance(read.answer, Numbers | Classes):
        raise TypeError(f"The model must be one of numbers or classes for a short formula; it is a {read.kind}.")
    rng = np.random.default_rng(seed)
    given = read.rows_like_training(rows)
    points = rows_between(given, read.table_inputs(given), LEARNED + JUDGED, rng)
    answers = read.table_outputs(points)[0].numpy()
    if read.guard is not None:
        answers = np.clip(answers, *(end.numpy() for end in read.guard))
    factors = strongest(all_factors(read, given), points, answers)
    columns = [factor.values(points) for factor in factors]
    powers = list(products(factors))
    learned, judged = slice(0, LEARNED), slice(LEARNED, None)
    matrix = np.stack([np.asarray(product(columns, each))[learned] for each in powers], 1)
    found = tuple(matched(matrix, powers, answers[learned, k], terms) for k in range(answers.shape[1]))
    draft = ShortFormula(read.output_names, tuple(factors), found, (), ())
    missed = draft.values(points)[judged] - answers[judged]
    spread = np.maximum(answers[judged].var(0), np.finfo(float).tiny)
    squares = (missed**2).mean(0)
    return ShortFormula(
        read.output_names,
        tuple(factors),
        found,
        tuple(np.sqrt(squares).tolist()),
        tuple((squares / spread).tolist()),
        note_of(read),
    )


def note_of(model: FittedModel) -> str:
    """What stands between the formula and a prediction."""
    if not isinstance(model.answer, Classes):
        return ""
    if len(model.output_names) == 1:
        return "These are log-odds: 1 / (1 + exp(-value)) is the probability."
    return "These are scores: exp(score), divided by the sum of all, is the probability of a class."


def all_factors(model: FittedModel, table: Table) -> list[Factor]:
    """Columns of numbers that the model reads, and the categories of the others."""
    found = []
    for i, column in enumerate(model.columns):
        if not column.inputs and column.main is None:
            continue
        if i in table.categories:
            found += [Factor(i, f"{column.name} = {c}", c) for c in column.categories if c is not None]
        else:
            fill = 0.0 if column.fill is None else column.fill
            found.append(Factor(i, column.name, typical=fill, words=number_facts(column)))
    return found


def number_facts(column: Column) -> str:
    """What a reader must know of a column's numbers to put them in: the unit of dates, and what blanks count as."""
    facts = [DAYS] if column.reading.kind == "date" else []
    if column.flag is not None and column.fill is not None:
        facts.append(f"{shortest(column.fill)} where it is missing")
    return ", ".join(facts)


def strongest(factors: list[Factor], table: Table, answers: Array) -> list[Factor]:
    """The factors that explain most of the answers (n, m) by themselves, as a curve of third order."""
    explained = []
    for factor in factors:
        x = factor.values(table)
        spread = x.std()
        t = (x - x.mean()) / spread if spread > 0 else np.zeros_like(x)
        curve = np.stack([np.ones_like(t), t, t**2, t**3], 1)
        fitted = curve @ np.linalg.lstsq(curve, answers, rcond=None)[0]
        explained.append(float(fitted.var(0).sum()))
    order = np.argsort(explained, kind="stable")[::-1][:MOST_FACTORS]
    return [factors[i] for i in sorted(order)]


def products(factors: list[Factor]) -> Iterator[Powers]:
    """All products of up to three factors; a category is not multiplied by itself or by another of its column."""
    for degree in range(1, DEGREE + 1):
        for chosen in combinations_with_replacement(range(len(factors)), degree):
            powers = tuple((i, chosen.count(i)) for i in sorted(set(chosen)))
            texts = [factors[i].column for i, _ in powers if factors[i].category is not None]
            single = all(e == 1 for i, e in powers if factors[i].category is not None)
            if single and len(set(texts)) == len(texts):
                yield powers


def matched(matrix: Array, powers: list[Powers], answers: Array, terms: int) -> tuple[tuple[float, Powers], ...]:
    """Orthogonal matching pursuit, and the coefficients of least squares of what it chose.

    Args:
        matrix: values of the products. Shape (n, products).
        powers: what they are.
        answers: to be matched. Shape (n,).
        terms: at most, with the constant.
    """
    mean, scale = matrix.mean(0), matrix.std(0)
    varied = np.flatnonzero(scale > 1e-12 * np.abs(mean))
    scaled = (matrix[:, varied] - mean[varied]) / scale[varied]
    left, rest = answers - answers.mean(), scaled.copy()
    size = np.full(len(varied), float(len(answers)))
    chosen: list[int] = []
    while len(chosen) < min(terms - 1, len(varied)):
        gain = np.where(size > DEPENDENT * len(answers), (rest.T @ left) ** 2 / np.maximum(size, 1e-300), -1.0)
        best = int(np.argmax(gain))
        if gain[best] <= 1e-14 * len(answers) * answers.var():
            break
        chosen.append(best)
        direction = rest[:, best] / np.sqrt(size[best])
        left = left - direction * (direction @ left)
        rest = rest - np.outer(direction, direction @ rest)
        size = (rest**2).sum(0)
    places = varied[chosen]
    slopes = np.linalg.lstsq(scaled[:, chosen], answers - answers.mean(), rcond=None)[0] / scale[places]
    reach = np.abs(matrix[:, places]).max(0) if len(places) else np.empty(0)
    allowed = ROUNDING * answers.std() / max(1, len(places))
    short = [rounded_within(float(s), allowed / max(r, 1e-300)) for s, r in zip(slopes, reach, strict=True)]
    # The constant makes up for what rounding has moved in the mean.
    constant = float(answers.mean() - np.dot(short, mean[places])) if len(places) else float(answers.mean())
    listed = [(value, powers[i]) for value, i in zip(short, places, strict=True)]
    return ((rounded_within(constant, ROUNDING * float(answers.std()) or abs(constant) * 1e-6), ()), *listed)
