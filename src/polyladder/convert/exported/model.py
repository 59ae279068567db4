"""`ExportedModel`: one description of a fitted model that every language renders."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from polyladder.convert.exported.answers import Answer, Numbers, Posterior
from polyladder.convert.exported.steps import Step
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.names import input_names
from polyladder.tables.columns import ColumnKind, column_kind


@dataclass(frozen=True)
class ExportedColumn:
    """A column of the table.

    Attributes:
        name: as the table has it.
        kind: whether it holds numbers or texts.
        categories: the texts that the model knows, in order; None is the missing one.
        low: smallest value that the ladder can be reached by, None where values are not held.
        high: largest such value.
        written: how its cells are written, as `ColumnKind.json` says it; None for plain numbers and texts.
        binary: whether its numbers are 0 and 1, so that a database may hold them as false and true.
    """

    name: str
    kind: Literal["number", "category"]
    categories: tuple[str | None, ...] = ()
    low: float | None = None
    high: float | None = None
    written: Mapping[str, Any] | None = None
    binary: bool = False

    @property
    def cells(self) -> ColumnKind:
        """What its cells hold and how they are written."""
        return column_kind(self.name, self.written or {"kind": self.kind})


@dataclass(frozen=True)
class Feature:
    """One input of the ladders: a column, and the steps that its value takes."""

    column: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class ExportedModel:
    """Columns, features, ladders and the way from outputs to answers.

    Attributes:
        columns: of the table, those that the model ignores included.
        features: the d inputs of the ladders.
        ladders: batch shape (draws,), float64, in units of the target.
        answer: what is done with their outputs.
        name: of what is predicted.
    """

    columns: tuple[ExportedColumn, ...]
    features: tuple[Feature, ...]
    ladders: LadderPolynomial
    answer: Answer
    name: str = "prediction"

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the numbers are that an export gives for a row: values (then standard deviations), or probabilities."""
        if isinstance(self.answer, Numbers | Posterior):
            m = self.ladders.out_features
            values = tuple("prediction" if m == 1 else f"prediction_{i + 1}" for i in range(m))
            return values if isinstance(self.answer, Numbers) else values + tuple(f"{v}_std" for v in values)
        return tuple(f"probability_{label}" for label in self.answer.labels)


def exported_ladder(polynomial: LadderPolynomial, names: Sequence[str] | None = None) -> ExportedModel:
    """A single ladder without preprocessing as a model: rows in, outputs out."""
    if polynomial.batch_shape:
        raise ValueError(
            f"polynomial must be a single one; got batch_shape {tuple(polynomial.batch_shape)}. Take one with p[i]."
        )
    single = polynomial.map(lambda t: t.detach().to("cpu", torch.float64).unsqueeze(0))
    columns = tuple(ExportedColumn(name, "number") for name in input_names(names, polynomial.in_features))
    return ExportedModel(columns, tuple(Feature(i, ()) for i in range(len(columns))), single, Numbers(None))


def identifier(name: str) -> str:
    """A name that programming languages take: letters, digits and underscores.

    >>> identifier("2nd price (USD)")
    '_2nd_price_USD_'
    """
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII)
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def check_identifier(name: str, language: str, taken: Collection[str] = ()) -> None:
    """Refuse a name that a language does not take for one, or that it uses itself."""
    if name != identifier(name):
        raise ValueError(f"name must be an identifier of {language}; got {name!r}. Use {identifier(name)!r}.")
    if name in taken:
        raise ValueError(f"name must not be a word that {language} uses itself; got {name!r}. Use {name + '_'!r}.")
