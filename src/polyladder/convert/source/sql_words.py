"""Words of SQL that SQLite, DuckDB and PostgreSQL understand alike."""

from __future__ import annotations

from collections.abc import Sequence


def quoted(name: str) -> str:
    """A name, in double quotes.

    >>> print(quoted('size "net"'))
    "size ""net\"""
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A text, in single quotes.

    >>> print(quoted_text("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def comment(text: str) -> str:
    r"""A comment of one line, whatever the text.

    >>> print(comment("a\n; DROP"), end="")
    -- a\n; DROP
    """
    return f"-- {repr(text)[1:-1]}\n"


def number(value: float) -> str:
    """A number in the fewest digits that say it, with an exponent: without one, DuckDB would take it for a decimal.

    >>> number(0.1), number(-2e30)
    ('0.1e0', '-2e+30')
    """
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def balanced(terms: Sequence[str]) -> str:
    """A sum as a balanced tree: databases limit how deep an expression may be nested.

    >>> balanced(["a", "b", "c"])
    'a + (b + c)'
    """
    if len(terms) <= 2:
        return " + ".join(terms)
    half = len(terms) // 2

    def side(part: Sequence[str]) -> str:
        return part[0] if len(part) == 1 else f"({balanced(part)})"

    return f"{side(terms[:half])} + {side(terms[half:])}"


def product_sum(weights: Sequence[float], names: Sequence[str], constant: float) -> str:
    """Constant + sum of weights times names; what is zero is left out.

    >>> product_sum([2.0, 0.0], ["a", "b"], 0.0)
    '2.0e0 * a'
    """
    terms = [f"{number(w)} * {name}" for w, name in zip(weights, names, strict=True) if w != 0]
    if constant != 0 or not terms:
        terms.append(number(constant))
    return balanced(terms)


def best_text(letter: str, values: Sequence[str]) -> str:
    """The value that belongs to the largest of the columns that a letter and the numbers from 0 on name.

    >>> best_text("p", ["'a'", "'b'"])
    "CASE WHEN p0 >= p1 THEN 'a' WHEN p1 >= p0 THEN 'b' END"
    """
    count = range(len(values))
    tests = [" AND ".join(f"{letter}{j} >= {letter}{i}" for i in count if i != j) for j in count]
    return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in zip(tests, values, strict=True))} END"


def label_text(label: object) -> str:
    """A class, as it is predicted."""
    return quoted_text(label) if isinstance(label, str) else repr(label)


def held(x: str, low: str, high: str) -> str:
    """X held between two numbers; NULL stays NULL."""
    return f"(CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END)"
