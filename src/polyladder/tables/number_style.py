"""How the numbers of a text column are written (currency, percent, thousands, brackets, 3.5k), and how to read them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from polyladder.tables.units import conversion

Comma = Literal["decimal", "thousands"]

MAGNITUDES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "mn": 1e6, "Mio": 1e6, "b": 1e9, "B": 1e9, "bn": 1e9, "T": 1e12}
"""What a letter behind a number multiplies it by."""

DOUBTFUL = {"m", "b", "B", "T"}
"""Letters that may also be units or codes: they are magnitudes only if k or M occurs too, or a currency comes
before."""

CURRENCIES = ("$", "€", "£", "¥", "₹", "₩", "R$", "USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY", "CNY", "INR", "SEK")

SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "R$": "BRL"}
"""Signs of currencies that have a code."""

SPACES = " \u00a0\u2009\u202f"
MOST_ENDINGS = 50
"""Different texts behind numbers, at most; with more of them they are not units."""

BARE = 0.2
"""The share of numbers that may lack the unit of the others, at most."""

POWER = r"(?:[^\d()\s]{1,6}/)?(?:[kcdm]?m|in|ft|yd|mi)\^?[23](?:/[a-z]{1,4})?"
"""Units of areas and volumes, which have a digit: m2, kg/m3, ft^2, m3/h."""

GRAMMAR = (
    r"^(?P<open>\()?\s*(?P<sign>[-+−])?\s*(?P<prefix>"
    + "|".join(re.escape(c) for c in sorted(CURRENCIES, key=len, reverse=True))
    + r")?\s*(?P<inner>[-+−])?(?P<digits>(?:\d+(?:[.,'’"
    + SPACES
    + r"]\d+)*[.,]?|[.,]\d+))(?P<power>[eE][-+]?\d+)?\s*(?P<ending>"
    + POWER
    + r"|[^\d()]{0,16}?)\s*(?P<close>\))?$"
)
"""A number with all that may stand around it, as a regular expression of polars."""


NUMBER = re.compile(GRAMMAR)
LONGEST_NUMBER = 80
"""Longest cell that may be a number: Python's patterns are slow on long texts that are not numbers."""


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written.

    Attributes:
        prefix: before the number, such as "$".
        suffix: behind it, such as "%" or " kg", with its space.
        decimal: the mark before decimals.
        thousands: the mark between thousands, or nothing.
        letter: of the magnitude that every cell has, such as "k"; "*" if cells have different ones.
        brackets: whether (12) is -12.
    """

    prefix: str = ""
    suffix: str = ""
    decimal: str = "."
    thousands: str = ""
    letter: str = ""
    brackets: bool = False

    def json(self) -> dict[str, Any]:
        """What differs from a plain number."""
        plain = asdict(PLAIN)
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    @property
    def words(self) -> str:
        """The style as an example."""
        if self == PLAIN:
            return ""
        return write_number(-1234.5 if self.brackets else 1234.5, self)

    @property
    def unit(self) -> str:
        """What is behind the numbers, without its space; empty for a currency."""
        suffix = self.suffix.strip()
        return "" if suffix in CURRENCIES else suffix

    @property
    def money(self) -> str:
        """The code of the currency, or its sign if it has no code; empty if the numbers are not amounts of money."""
        sign = self.prefix.strip() or self.suffix.strip()
        return SIGNS.get(sign, sign) if sign in CURRENCIES else ""


PLAIN = NumberStyle()


def find_style(cells: Any, comma: Comma) -> NumberStyle | None:
    """The style in which every cell is a number; None if there is none.

    Args:
        cells: different texts without surrounding space, none missing.
        comma: what a comma means where the cells leave it open.
    """
    import polars as pl

    if not read_numbers(cells, PLAIN).null_count():
        return PLAIN
    # A few cells show that most text columns do not hold numbers.
    if not bool(cells.head(20).str.contains(GRAMMAR).all()) or not bool(cells.str.contains(GRAMMAR).all()):
        return None
    parts = cells.str.extract_groups(GRAMMAR).struct.unnest().with_columns(pl.all().fill_null(""))
    if (parts["open"].eq("(") != parts["close"].eq(")")).any():
        return None
    prefixes = set(parts["prefix"].unique().to_list()) - {""}
    marks = find_marks(parts["digits"].to_list(), comma)
    ending = find_ending(cells, parts, bool(prefixes))
    if len(prefixes) > 1 or marks is None or ending is None:
        return None
    prefix = prefixes.pop() if prefixes else ""
    if prefix and bool(cells.str.contains(re.escape(prefix) + r"\s\S").all()):
        prefix += " "
    style = NumberStyle(prefix, ending[0], *marks, ending[1], bool(parts["open"].eq("(").any()))
    return style if not read_numbers(cells, style).null_count() else None


def find_ending(cells: Any, parts: Any, currency: bool) -> tuple[str, str] | None:
    """The unit and the letter of magnitude behind the numbers, or None where they do not agree."""
    counted = parts["ending"].value_counts(name="rows").rows()
    if len(counted) > MOST_ENDINGS:
        return None
    split = {text: split_ending(text) for text, _ in counted}
    letters = {letter for letter, _ in split.values()}
    sure = currency or letters - DOUBTFUL - {""}
    if letters - {""} and not sure:
        split = {text: ("", text) for text in split}
        letters = {""}
    units: dict[str, int] = {}
    for text, rows in counted:
        units[split[text][1]] = units.get(split[text][1], 0) + rows
    bare = units.pop("", 0)
    # The most frequent unit; others must be of its kind, and then no number may lack its unit.
    unit = max(sorted(units), key=lambda name: units[name], default="")
    if len(units) > 1 and (bare or any(conversion(name, unit) is None for name in units)):
        return None
    if unit and unit != "%" and unit not in CURRENCIES and bare > BARE * len(cells):
        return None
    spaced = unit and bool(cells.str.contains(r"\s" + re.escape(unit) + r"\)?$").any())
    letter = letters.pop() if len(letters) == 1 else "*"
    return (" " if spaced else "") + unit, letter


def split_ending(text: str) -> tuple[str, str]:
    """The letter of a magnitude, if there is one, and the unit."""
    first, _, rest = text.strip(SPACES).partition(" ")
    if first in MAGNITUDES:
        return first, rest.strip(SPACES)
    if first[:1] in MAGNITUDES and first[1:] in CURRENCIES:
        return first[0], first[1:]
    return "", text.strip(SPACES)


def find_marks(digits: list[str], comma: Comma) -> tuple[str, str] | None:
    """The marks of decimals and thousands, or None where cells contradict each other."""
    decimals, thousands, open_marks = set(), set(), set()
    for text in digits:
        found = re.findall(r"[^\d]", text)
        if not found:
            continue
        last = found[-1]
        if last not in ".,":
            thousands.update(found)
        elif len(set(found)) > 1:
            decimals.add(last)
            thousands.update(set(found) - {last})
        elif len(found) > 1:
            thousands.add(last)
        elif re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", text):
            open_marks.add(last)
        else:
            decimals.add(last)
    for mark in open_marks:
        if mark in decimals or mark in thousands:
            continue
        other = {".": ",", ",": "."}[mark]
        means_thousands = other in decimals or (mark == "," and comma == "thousands" and other not in thousands)
        (thousands if means_thousands else decimals).add(mark)
    thousands = {" " if mark in SPACES else "'" if mark == "’" else mark for mark in thousands}
    if len(decimals) > 1 or len(thousands) > 1 or decimals & thousands:
        return None
    mark = thousands.pop() if thousands else ""
    return decimals.pop() if decimals else ("," if mark == "." else "."), mark


def read_numbers(text: Any, style: NumberStyle, unit: str | None = None) -> Any:
    """Cells as float64; null where they do not have this style. Plain numbers are read in every style.

    Args:
        text: a column of text without surrounding space.
        style: how its numbers are written.
        unit: of the result, if it differs from the style's; cells in units that measure the same are converted.
    """
    import polars as pl

    if style == PLAIN:
        # The typographic minus sign counts as well.
        return text.str.replace("−", "-", literal=True).cast(pl.Float64, strict=False)
    parts = text.str.extract_groups(GRAMMAR).struct.unnest().with_columns(pl.all().fill_null(""))
    wanted = style.suffix.strip() if unit is None else unit
    scaled = {ending: scaling(ending, style, wanted) for ending in parts["ending"].unique().to_list()}
    known = {ending: found for ending, found in scaled.items() if found is not None}
    mark, pattern = mark_pattern(style)
    brackets = parts["open"].eq("(")
    right = (
        parts["digits"].str.contains(pattern)
        & parts["ending"].is_in(list(known))
        & parts["prefix"].is_in(["", style.prefix.strip()])
        & brackets.eq(parts["close"].eq(")"))
    )
    plain = parts["digits"]
    if style.thousands:
        plain = plain.str.replace_all(mark, "")
    plain = plain.str.replace(style.decimal, ".", literal=True)
    values = (plain + parts["power"]).cast(pl.Float64, strict=False)
    minus = ["-", "−"]
    negative = brackets | parts["sign"].is_in(minus) | parts["inner"].is_in(minus)
    values = values.zip_with(~negative, -values)
    for ending, (factor, shift) in known.items():
        if (factor, shift) != (1.0, 0.0):
            values = values.zip_with(parts["ending"].ne(ending), values * factor + shift)
    return values.set(~right.fill_null(False), None).alias(text.name)


def mark_pattern(style: NumberStyle) -> tuple[str, str]:
    """Patterns of the mark between thousands, empty if there is none, and of all digits of a number."""
    mark = f"[{SPACES}]" if style.thousands == " " else "['’]" if style.thousands == "'" else re.escape(style.thousands)
    grouped = rf"|\d{{1,3}}(?:{mark}\d{{2,3}})*{mark}\d{{3}}" if style.thousands else ""
    return mark, rf"^(?:\d+{grouped})?(?:{re.escape(style.decimal)}\d*)?$"


def scaling(ending: str, style: NumberStyle, wanted: str) -> tuple[float, float] | None:
    """Factor and shift that turn a number with this ending into the wanted unit; None if they are not known."""
    factor = factor_of(ending, style)
    found = conversion(ending if factor is None else style.suffix.strip(), wanted)
    return None if found is None else ((factor or 1.0) * found[0], found[1])


def factor_of(ending: str, style: NumberStyle) -> float | None:
    """What a number with this ending is multiplied by; None if the style has no such ending."""
    unit = style.suffix.strip()
    if ending in ("", unit):
        return 1.0
    letter, rest = split_ending(ending)
    if not style.letter or letter not in MAGNITUDES or rest not in ("", unit):
        return None
    return MAGNITUDES[letter]


def is_number(cell: str) -> bool:
    """Whether a single cell without surrounding space is a number in some style."""
    return len(cell) <= LONGEST_NUMBER and NUMBER.fullmatch(cell) is not None


def endings(text: Any) -> Any:
    """The texts behind the numbers of cells: nothing for a bare number, null where there is no number."""
    return text.str.extract(GRAMMAR, 7)


def write_number(value: float, style: NumberStyle, digits: int = 6) -> str:
    """A number as the column's cells are written, with at most this many digits."""
    letter = style.letter
    if letter == "*":
        letter = next((name for name, least in (("B", 1e9), ("M", 1e6), ("k", 1e3)) if abs(value) >= least), "")
    size = abs(value) / MAGNITUDES.get(letter, 1.0)
    text = (
        f"{size:,.{max(0, digits - len(str(int(size))))}f}"
        if 1e-3 <= size < 1e15 or size == 0
        else f"{size:.{digits}g}"
    )
    if "." in text and "e" not in text:
        text = text.rstrip("0").rstrip(".")
    text = text.translate({ord(","): style.thousands, ord("."): style.decimal})
    text = f"{style.prefix}{text}{letter}{style.suffix}"
    if value < 0:
        text = f"({text})" if style.brackets else f"-{text}"
    return text


def number_words(value: float, signed: bool = False) -> str:
    """A number for readers: four digits, marks between thousands, no powers of ten between 0.001 and 10^15."""
    text = write_number(value, NumberStyle(thousands=","), 4)
    return f"+{text}" if signed and value >= 0 else text


def number_style(entries: dict[str, Any]) -> NumberStyle:
    """A style from what `NumberStyle.json` wrote."""
    return replace(PLAIN, **entries)


def counted(count: int, word: str, plural: str = "") -> str:
    """A count with its word, in the singular or the plural.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "process", "processes")
    ('1 row', '2,000 rows', '2 processes')
    """
    return f"{count:,} {word if count == 1 else plural or word + 's'}"
