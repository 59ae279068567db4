"""The formula of a fitted estimator: terms over inputs mapped to [-1, 1], as text, LaTeX and sympy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SPECIAL = {"\\": r"\textbackslash ", "^": r"\^{}", "~": r"\~{}"} | {c: f"\\{c}" for c in "#$%&_{}"}
"""Characters that LaTeX would take for something else."""


@dataclass(frozen=True)
class Input:
    """One input of a formula, between -1 and 1 (or 0 and 1) while its column stays in the training range.

    Attributes:
        name: as it stands in the formula.
        column: that it comes from, where it is (column - middle) / half.
        middle: of the column's range, or of the transformed feature's.
        half: of the range's width.
    """

    name: str
    column: str | None
    middle: float
    half: float

    def __str__(self) -> str:
        if self.column is None:
            return self.name
        return f"{self.name} = ({self.column} - {self.middle:.6g}) / {self.half:.6g}"


@dataclass(frozen=True)
class FittedFormula:
    """The outputs of a fitted estimator as sums of terms, and what was lost by shortening them.

    Attributes:
        outputs: names.
        inputs: of the formula.
        terms: for each output, coefficients and powers of inputs by their number.
        errors: for each output, what the difference between formula and model does not exceed while every column stays
            in its training range.
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
            lines += [
                f"    {len(terms)} of {self.total:,} terms, proven to be within {error:.3g} in the training range"
            ]
        used = sorted({i for terms in self.terms for _, powers in terms for i, _ in powers})
        lines += [f"where {self.inputs[i]}" for i in used if self.inputs[i].column is not None]
        return "\n".join([*lines, self.note] if self.note else lines)

    def expressions(self) -> list[Any]:
        """One sympy expression for each output, in the table's own units wherever a column is only scaled."""
        sympy = library()
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
        sympy = library()
        names = [sympy.Symbol(latex_text(i.name)) for i in self.inputs]
        lines = []
        for output, terms in zip(self.outputs, self.terms, strict=True):
            parts = [sympy.Float(c, 6) * sympy.Mul(*(names[i] ** e for i, e in powers)) for c, powers in terms]
            written = " ".join(f"{'' if sign(p) else '+'} {sympy.latex(p)}" for p in parts) or "0"
            lines.append(f"{latex_text(output)} = {written.removeprefix('+ ')}")
        for i in self.inputs:
            if i.column is not None:
                shifted = f"{latex_text(i.column)} - {sympy.latex(sympy.Float(i.middle, 6))}"
                lines.append(f"{latex_text(i.name)} = \\frac{{{shifted}}}{{{sympy.latex(sympy.Float(i.half, 6))}}}")
        return "\n".join(lines)


def sign(expression: Any) -> bool:
    """Whether an expression is written with a minus in front."""
    return bool(expression.as_coeff_Mul()[0] < 0)


def library() -> Any:
    """Sympy."""
    try:
        import sympy
    except ImportError as error:
        raise ImportError("to_sympy needs sympy. Install it with: pip install 'polyladder[formula]'.") from error
    return sympy


def latex_text(name: str) -> str:
    """A name as upright text."""
    plain = "".join(SPECIAL.get(c, c) for c in name)
    return f"\\text{{{plain}}}"


def term_words(value: float, powers: tuple[tuple[int, int], ...], inputs: tuple[Input, ...]) -> str:
    """A term as text, its sign in front."""
    factors = "".join(f" {inputs[i].name}" + (f"^{e}" if e > 1 else "") for i, e in powers)
    return f"{'-' if value < 0 else '+'} {abs(value):.6g}{factors}"
