"""Names and texts in C: as literals, and in comments that they cannot end."""

from __future__ import annotations

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
    """The same without quotes."""
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


def model_words(model: FittedModel) -> str:
    """What a model is."""
    return f"A ladder polynomial of order {model.ladders.order} for {commented(model.target)}"


def answer_words(model: FittedModel) -> str:
    """What the answers are."""
    return "The answers are: " + ", ".join(map(commented, model.answer_names)) + "."
