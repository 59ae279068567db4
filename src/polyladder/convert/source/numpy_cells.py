"""How the Python module of an export reads cells: numbers and texts as they stand in tables, dates, yes and no."""

from __future__ import annotations

from dataclasses import astuple

from polyladder.convert.exported.cells import (
    PER_MICROSECOND,
    PLAIN_NUMBER,
    SPACES,
    ZONE,
    date_texts,
    is_time,
    number_text,
    odd_categories,
    spellings_of,
    words_of,
)
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.tables.columns import MISSING
from polyladder.tables.dates import FIRST_YEAR

CELLS = f"""
_SPACES = {SPACES!r}
_MISSING = {MISSING!r}


def _cells(rows, i):
    named = hasattr(rows, "keys") or hasattr(rows, "columns")
    if not named and not isinstance(rows, np.ndarray):
        rows = np.array(rows, dtype=object)
    found = rows[COLUMNS[i]] if named else rows[:, i]
    if isinstance(found, np.ma.MaskedArray):
        found = found.astype(object).filled(None)
    return np.asarray(found)


def _is_gone(cell):
    return cell is None or (not isinstance(cell, str) and str(cell) in ("nan", "NaN", "<NA>", "NaT"))


def _refuse(i, wanted, cell, row):
    raise ValueError(f"Column {{COLUMNS[i]!r}} must hold {{wanted}}; got {{cell!r}} in row {{row + 1}}.")


def _stripped(cell):
    text = str(cell).strip(_SPACES)
    return None if text.lower() in _MISSING else text

"""

NUMBERS = f"""
_PLAIN = re.compile({PLAIN_NUMBER!r})


def _plain(text):
    text = text.replace("\\u2212", "-", 1)
    return float(text) if _PLAIN.fullmatch(text) else None


def _number(cell, read):
    if _is_gone(cell):
        return math.nan
    if hasattr(cell, "isoformat"):
        cell = cell.isoformat()
    if isinstance(cell, str):
        text = _stripped(cell)
        return math.nan if text is None else read(text)
    return float(cell) if isinstance(cell, numbers.Number) else None


def _numbers(rows, i, read=_plain, wanted="numbers"):
    cells = _cells(rows, i)
    if cells.dtype.kind in "fiub":
        values = cells.astype(np.float64)
    elif cells.dtype.kind == "M" and wanted == "dates":
        values = np.where(np.isnat(cells), np.nan, cells.astype("M8[us]").astype(np.int64) * {PER_MICROSECOND!r})
    elif cells.dtype.kind in "mM":
        _refuse(i, wanted, cells[0], 0)
    else:
        values = np.array([_number(cell, read) for cell in cells.tolist()], dtype=object)
        unread = np.equal(values, None)
        if unread.any():
            row = int(np.argmax(unread))
            _refuse(i, wanted, cells[row], row)
        values = values.astype(np.float64)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        _refuse(i, "finite numbers", cells[row], row)
    return values

"""

STYLED = """
def _styled(pattern, digits, mark, decimal, prefixes, scales):
    def read(text):
        found = re.fullmatch(pattern, text)
        if not found:
            return None
        parts = [part or "" for part in found.groups()]
        opened, sign, prefix, inner, figures, power, ending, closed = parts
        if not re.fullmatch(digits, figures) or ending not in scales or prefix not in prefixes:
            return None
        if (opened == "(") != (closed == ")"):
            return None
        if mark:
            figures = re.sub(mark, "", figures)
        value = float(figures.replace(decimal, ".", 1) + power)
        factor, shift = scales[ending]
        return (-value if opened or {"-", "\\u2212"} & {sign, inner} else value) * factor + shift

    return read

"""

DATES = f"""
_MONTHS = "january february march april may june july august september october november december".split()


def _dates(formats):
    def read(text):
        plain = re.sub({ZONE!r}, r"\\1", text)
        for pattern, fields in formats:
            found = re.fullmatch(pattern, plain)
            if found:
                return _days(dict(zip(fields, found.groups())))
        return None

    return read


def _days(part):
    year = int(part.get("Y", 1970))
    if "y" in part:
        year = (1900 if part["y"] >= "70" else 2000) + int(part["y"])
    name = (part.get("b") or part.get("B") or "").lower()
    names = [m for m in _MONTHS if name in (m, m[:3])]
    if name and not names:
        return None
    month = _MONTHS.index(names[0]) + 1 if name else int(part.get("m", 1))
    hour = int(part.get("H") or part.get("I") or 0)
    if "p" in part:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if part["p"].lower() == "pm" else 0)
    minute, second = int(part.get("M", 0)), int(part.get("S", 0))
    rest = int((part.get("f") or "").ljust(6, "0")[:6])
    try:
        moment = datetime.datetime(year, month, int(part.get("d", 1)), hour, minute, second)
    except ValueError:
        return None
    if year < {FIRST_YEAR}:
        return None
    passed = moment - datetime.datetime(1970, 1, 1)
    return ((passed.days * 86400 + passed.seconds) * 10**6 + rest) * {PER_MICROSECOND!r}

"""

TEXTS = """
def _texts(rows, i, odd=(), words=None, spelled=()):
    found = []
    for row, cell in enumerate(_cells(rows, i).tolist()):
        text = None if _is_gone(cell) else cell if cell in odd else _stripped(cell)
        if words is not None and text is not None:
            text = words.get(text.lower()) or _refuse(i, "yes or no", cell, row)
        found.append(spelled[text] if text in spelled else text)
    return np.array(found, dtype=object)


def _is(texts, category):
    # As an object: NumPy's own texts lose zeros at their end.
    return np.equal(texts, np.array(category, dtype=object))

"""


def cells_text(model: FittedModel) -> str:
    """The functions that read the cells of the model's columns."""
    kinds = {used_kind(column) for column in model.columns}
    parts = [CELLS]
    if kinds - {"text"}:
        parts.append(NUMBERS)
    parts += [STYLED] * ("styled" in kinds) + [DATES] * ("date" in kinds) + [TEXTS] * ("text" in kinds)
    return "\n".join(parts)


def used_kind(column: Column) -> str:
    """Which of the functions above a column needs."""
    if column.kind == "category":
        return "text"
    if column.reading.kind == "date":
        return "date"
    return "number" if number_text(column.reading.style) is None else "styled"


def read_text(column: Column, i: int) -> str:
    """The expression that reads a column."""
    match used_kind(column):
        case "text":
            known = {"odd": odd_categories(column), "words": words_of(column), "spelled": spellings_of(column)}
            more = "".join(f", {name}={value!r}" for name, value in known.items() if value)
            return f"_texts(rows, {i}{more})"
        case "date":
            formats = [astuple(each) for each in date_texts(column.reading.date_format)]
            return f"_numbers(rows, {i}, _dates({formats!r}), {'times' if is_time(column) else 'dates'!r})"
        case "styled":
            style = number_text(column.reading.style)
            assert style is not None
            return f"_numbers(rows, {i}, _styled(*{astuple(style)!r}))"
    return f"_numbers(rows, {i})"
