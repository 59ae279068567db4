"""The formula of a fitted estimator: terms over inputs mapped to [-1, 1], as text, LaTeX and sympy.

Every number is written so that reading it gives the number again: the stated error is that of the text itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyladder.convert.formula import sympy_library
from polyladder.convert.printed import rounded_up, shortest
from polyladder.tables.number_style import counted

SPECIAL = {"\\": r"\textbackslash ", "^": r"\^{}", "~": r"\~{}"} | {c: f"\\{c}" for c in "#$%&_{}"}
"""Characters that LaTeX would take for something else."""


def mapped(column: str, middle: str, half: str) -> str:
    """A column less a middle, divided by a half width.

    >>> mapped("age", "-4", "3")
    '(age + 4) / 3'
    """
    sign, size = ("+", middle[1:]) if middle.startswith("-") else ("-", middle)
    return f"({column} {sign} {size}) / {half}"


@dataclass(frozen=True)
class Input:
    """One input of a formula, between -1 and 1 (or 0 and 1) while its column stays in the training range.

    Attributes:
        name: as it stands in the formula.
        column: that it comes from, where it is (column - middle) / half.
        middle: of the column's range, or of the transformed feature's.
        half: of the range's width.
        definition: what the input is, in words; where it has a column, only what a missing value counts as.
    """

    name: str
    column: str | None
    middle: float
    half: float
    definition: str = ""

    def __str__(self) -> str:
        if self.column is None:
            return f"{self.name} = {self.definition}" if self.definition else self.name
        line = f"{self.name} = {mapped(self.column, shortest(self.middle), shortest(self.half))}"
        return f"{line}; {self.definition}" if self.definition else line


@dataclass(frozen=True)
class FittedFormula:
    """The outputs of a fitted estimator as sums of terms, and what was lost by shortening them.

    Attributes:
        outputs: names.
        inputs: of the formula.
        terms: for each output, coefficients and powers of inputs by their number.
        errors: for each output, what the difference between the text of the formula and the model does not exceed
            while every column stays in its training range.
        total: how many terms the polynomial has.
        note: what stands between the formula and a prediction.
    """

    outputs: tuple[str, ...]
    inputs: tuple[Input, ...]
    terms: tuple[tuple[tuple[float, tuple[tuple[int, int], ...]], ...], ...]
    errors: tuple[float, ...]
    total: int
    note: str

    def __str__(self) -> str:
        lines = []
        for output, terms, error in zip(self.outputs, self.terms, self.errors, strict=True):
            words = " ".join(term_words(value, powers, self.inputs) for value, powers in terms) or "0"
            lines += [f"{output} = {words.removeprefix('+ ')}"]
            within = f"proven to be within {rounded_up(error)} in the training range"
            lines += [f"    {len(terms)} of {counted(self.total, 'term')}, {within}"]
        used = sorted({i for terms in self.terms for _, powers in terms for i, _ in powers})
        lines += [f"where {self.inputs[i]}" for i in used if self.inputs[i].column or self.inputs[i].definition]
        return "\n".join([*lines, self.note] if self.note else lines)

    def expressions(self) -> list[Any]:
        """One sympy expression for each output, in the table's own units wherever a column is only scaled."""
        sympy = sympy_library()
        values = [
            sympy.Symbol(i.name) if i.column is None else (sympy.Symbol(i.column) - i.middle) / i.half
            for i in self.inputs
        ]
        return [
            sympy.Add(*(sympy.Float(c) * sympy.Mul(*(values[i] ** e for i, e in powers)) for c, powers in terms))
            for terms in self.terms
        ]

    def latex(self) -> str:
        """One line of LaTeX for each output, then one for each input."""
        sympy = sympy_library()
        names = [sympy.Symbol(latex_text(i.name)) for i in self.inputs]
        lines = []
        for output, terms in zip(self.outputs, self.terms, strict=True):
            parts = [sympy.Float(repr(c)) * sympy.Mul(*(names[i] ** e for i, e in powers)) for c, powers in terms]
            written = " ".join(f"{'' if sign(p) else '+'} {sympy.latex(p)}" for p in parts) or "0"
            lines.append(f"{latex_text(output)} = {written.removeprefix('+ ')}")
        for i in self.inputs:
            if i.column is not None:
                middle, half = (sympy.latex(sympy.Float(repr(value))) for value in (i.middle, i.half))
                lines.append(f"{latex_text(i.name)} = \\frac{{{latex_text(i.column)} - {middle}}}{{{half}}}")
            elif i.definition:
                lines.append(f"{latex_text(i.name)} = {latex_text(i.definition)}")
        return "\n".join(lines)


def sign(expression: Any) -> bool:
    """Whether an expression is written with a minus in front."""
    return bool(expression.as_coeff_Mul()[0] < 0)


def latex_text(name: str) -> str:
    """A name as upright text."""
    plain = "".join(SPECIAL.get(c, c) for c in name)
    return f"\\text{{{plain}}}"


def term_words(value: float, powers: tuple[tuple[int, int], ...], inputs: tuple[Input, ...]) -> str:
    """A term as text, its sign in front."""
    factors = "".join(f" {inputs[i].name}" + (f"^{e}" if e > 1 else "") for i, e in powers)
    return f"{'-' if value < 0 else '+'} {shortest(abs(value))}{factors}"
