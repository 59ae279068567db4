"""`to_source`: a model as source text in another language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from polyladder.convert.source.text import Source
from polyladder.files.kinds import Kind, first_line, source_kind

if TYPE_CHECKING:
    from polyladder.fitted.model import AnyModel


@dataclass(frozen=True)
class Language:
    """A language: all that commands and files know of it.

    Attributes:
        name: as `to_source` and the command take it.
        words: what a message calls a file of it.
        ending: how its files end.
        comment: the first line of a file, with {} for what it says; empty where files have no comments, so that an
            earlier one cannot be recognized and is not replaced.
        title: what the first line calls it.
        render: module and name of the function from a `FittedModel` and options to a `Source`; imported when it is
            called, so that the command knows its languages without torch.
        options: of the command that it takes.
    """

    name: str
    words: str
    ending: str
    comment: str
    title: str
    render: str
    options: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """What a file begins with, by which a later export knows that it may replace it."""
        return self.comment and self.comment.format(first_line(self.title)) + "\n"

    @property
    def kind(self) -> Kind:
        """How its files are recognized."""
        return source_kind(self.words, self.first_line)


ROOM = "polyladder.convert.source"
"""Where languages are rendered."""

PAGE = "polyladder.export.javascript"
"""Where JavaScript is rendered: apart from the others, since it uses the evaluator of the report page."""

C = Language("c", "C source", ".c", "/* {} */", "C", f"{ROOM}.c:c_source", ("numbers", "name"))
FIXED = replace(C, render=f"{ROOM}.fixed:fixed_source")
"""C with integers alone."""

LISTED = (
    Language("numpy", "a NumPy module", ".py", "# {}", "NumPy", f"{ROOM}.numpy:numpy_source"),
    C,
    Language("sql", "SQL", ".sql", "-- {}", "SQL", f"{ROOM}.sql:sql_source", ("table", "key")),
    Language("javascript", "a script", ".js", "// {}", "JavaScript", f"{PAGE}:javascript_source", ("name",)),
    Language("rust", "a Rust module", ".rs", "// {}", "Rust", f"{ROOM}.rust:rust_source"),
    # A sheet must not be taken for the table of the same name; its first line is its header.
    Language("excel", "a CSV file", ".formulas.csv", "", "Excel", f"{ROOM}.excel:excel_source"),
)
LANGUAGES = {language.name: language for language in LISTED}
"""All languages, by name. A new one is an entry here."""


def to_source(model: AnyModel, language: str = "numpy", *, interval: float | None = None, **options: Any) -> Source:
    """A model as source text that computes the same predictions without this library.

    Preprocessing, categories, missing values, clipping, the guard and the link to classes are part of it. Constants are
    written exactly (hexadecimal, or with 17 digits).

    Args:
        model: a `LadderPolynomial`, a single one, or a fitted estimator with a ladder behind it.
        language: "numpy" (a module that needs NumPy alone), "c" (C99, one file and a header), "sql" (one query for
            SQLite, DuckDB and PostgreSQL), "javascript" (one script, in a page or Node), "rust" (one file that needs
            the standard library alone), "excel" (cells of a spreadsheet as CSV, for small models).
        interval: percentage of new observations that intervals are to hold, such as 90. Behind the predictions come
            then their lower ends, their upper ends and the scales of errors, as `predict_distribution` says them. For
            models of numbers that know their errors at rows left out: `LPNNRegressor`, fitted with ``order="auto"`` or
            calibrated.
        options: of the language. c: ``name`` (prefix of its functions), ``numbers`` ("float64", "float32" or "fixed"
            for integers alone; see `polyladder.convert.source.fixed`). sql: ``table``, ``key``. javascript: ``name``.

    Returns:
        A `Source`: ``str(source)`` is the text, ``source.write(path)`` writes it, ``source.header`` is C's header.

    The difference to `predict`, relative to the size of the outputs, is below 1e-12 for NumPy, C, JavaScript and Rust
    in float64, and below 1e-9 for SQL and spreadsheets, on every estimator that the tests know.

    Example:
        >>> import torch
        >>> from polyladder import LadderPolynomial
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> module = {}
        >>> exec(str(to_source(square, "numpy")), module)
        >>> module["predict"]([[3.0]]).tolist()
        [[9.0]]
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}; got {language!r}.")
    from polyladder.fitted.model import fitted_model

    chosen = LANGUAGES[language]
    if chosen is C and options.get("numbers") == "fixed":
        chosen = FIXED
        options = {key: value for key, value in options.items() if key != "numbers"}
    described = fitted_model(model)
    if interval is not None:
        from polyladder.export.interval import with_interval

        described = with_interval(described, interval)
    return signed(resolve_name(chosen.render)(described, **options), chosen, described.answer.note)


def signed(source: Source, language: Language, note: str) -> Source:
    """The source with a first line that says who wrote it, and one with a note if there is one; and so its header."""
    head = language.first_line + (language.comment.format(note) + "\n" if note and language.comment else "")
    if source.header is None:
        return replace(source, text=head + source.text)
    further = f"/* {note} */\n" if note else ""
    return replace(source, text=head + source.text, header=f"/* {first_line('C header')} */\n{further}{source.header}")
