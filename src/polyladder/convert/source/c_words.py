"""What C files say besides their arithmetic: names and texts that cannot end a literal or a comment, and headers."""

from __future__ import annotations

from collections.abc import Sequence

from polyladder.convert.exported.cells import number_words
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel


def c_string(text: str | None) -> str:
    r"""A string literal, all but letters, digits and spaces as octal bytes of UTF-8; NULL for nothing.

    >>> print(c_string("a? é"))
    "a\077 \303\251"
    """
    if text is None:
        return "NULL"
    plain = (chr(b) if b < 128 and (chr(b).isalnum() or b == 32) else f"\\{b:03o}" for b in text.encode())
    return '"' + "".join(plain) + '"'


def commented(text: str) -> str:
    r"""Text within a comment, in quotes: on one line, and with nothing that could end the comment or join two lines.

    >>> print(commented("a*/ \n b"))
    "a*\/ \n b"
    """
    return f'"{escaped(text)}"'


def escaped(text: str) -> str:
    """Text within a comment, without quotes; see `commented`."""
    safe = repr(text)[1:-1].replace(r"\'", "'").replace('"', r"\"")
    return safe.replace("*/", r"*\/").replace("/*", r"/\*").replace("??", r"?\?")


def column_words(column: Column) -> str:
    """What stands for a column in a row: a number, days, or one of some codes."""
    if column.kind == "category":
        known = enumerate(column.categories)
        codes = "".join(f"{k}: {'missing' if c is None else commented(c)}, " for k, c in known)
        neither = "; -2: neither yes nor no, which has no answer" if column.reading.kind == "boolean" else ""
        return f"code of a text ({codes}-1: none of these{neither})" if codes else "not used"
    return escaped(number_words(column))


def summary(model: FittedModel, numbers: str, scales: Sequence[str], notes: Sequence[str]) -> str:
    """What the model is and how a row is laid out, as the text of a comment.

    Args:
        model: to be described.
        numbers: that the code computes with.
        scales: what is to be done with the cells of each column; empty for nothing.
        notes: further sentences.
    """
    lines = [f"A ladder polynomial of order {model.ladders.order} for {commented(model.target)}, in {numbers}. "]
    lines[0] += "A row holds, in this order:"
    for i, (column, scale) in enumerate(zip(model.columns, scales, strict=True)):
        lines.append(f"   {i}  {commented(column.name)}: {column_words(column)}{scale}")
    return "\n".join([*lines, *notes, f"The answers are: {', '.join(map(commented, model.answer_names))}."])


def declarations(model: FittedModel, name: str, number: str) -> str:
    """The public functions, of rows and answers of a type."""
    lines = [f"void {name}_predict(const {number} *row, {number} *answers);"]
    if model.labels is not None:
        lines.append(f"int {name}_class(const {number} *answers);")
    if has_codes(model):
        lines.append(f"int {name}_code(int column, const char *text);")
    return "\n".join(lines)


def header_text(model: FittedModel, name: str, number: str, words: str, more: Sequence[str] = ()) -> str:
    """The header: what the model is, further lines, sizes, and the functions, for C++ as well."""
    # The first word keeps the guard apart from those of system headers.
    guard = f"POLYLADDER_{name.upper()}_H"
    lines = [
        f"/* {words} */",
        f"#ifndef {guard}",
        f"#define {guard}",
        *more,
        f"#define {name.upper()}_COLUMNS {len(model.columns)}",
        f"#define {name.upper()}_ANSWERS {len(model.answer_names)}",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        declarations(model, name, number),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def has_codes(model: FittedModel) -> bool:
    """Whether a model reads texts."""
    return any(column.categories for column in model.columns)
