"""A model as cells of a spreadsheet, for small ones: a CSV file whose second line holds formulas to be filled down."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence

from polyladder.convert.exported.cells import is_time, odd_categories, refuse_nul, spellings_of, words_of
from polyladder.convert.source.operations import TextOperations
from polyladder.convert.source.text import Source
from polyladder.fitted.answers import Banded, Classes, Draws, Guard, Numbers, Probit
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson
from polyladder.tables.columns import MISSING

COLUMNS = 16_384
"""Most columns of an Excel sheet."""

LENGTH = 8_192
"""Most characters of an Excel formula."""

TEXT = 255
"""Most characters of a text within an Excel formula."""


def excel_source(model: FittedModel) -> Source:
    """The CSV text: a header, and one line with empty cells for the inputs and formulas for everything else.

    Fill in the inputs, or paste rows of data below and fill the formulas down. An empty cell is a missing value, dates
    are dates of the spreadsheet, and a cell that cannot be read is an error in every cell that depends on it.
    Spreadsheets keep 15 digits of a constant: results agree with `predict` to about 1e-9 of the size of the outputs.

    Args:
        model: to be rendered; not a posterior, nor one with quantiles or with more cells than a sheet has columns.
    """
    if isinstance(model.answer, Draws | Probit):
        raise ValueError("A spreadsheet must have one ladder per cell; a posterior has too many. Use 'c' or to_onnx.")
    refuse_nul(model, "a spreadsheet")
    sheet = Sheet()
    columns = [sheet.add(column.name, "") for column in model.columns]
    z = []
    for i, feature in enumerate(model.steps):
        value = feature_text(model.columns[feature.column], feature, columns[feature.column])
        z.append(sheet.add(f"z{i + 1}", f"={value}"))
    outputs = ladders(sheet, model, z)
    match model.answer:
        case Numbers(guard):
            final_numbers(sheet, model, outputs, guard)
        case Banded() as answer:
            final_banded(sheet, model, outputs, answer)
        case Classes(labels, link):
            final_classes(sheet, model, outputs, labels, link)
    return Source(sheet.text())


class Sheet:
    """Columns of a sheet, the header in the first line and a formula, or nothing, in the second."""

    def __init__(self) -> None:
        self.header: list[str] = []
        self.cells: list[str] = []

    def add(self, name: str, formula: str) -> str:
        """A new column; its cell in the second line, such as AB2."""
        if len(self.header) >= COLUMNS:
            raise ValueError(f"A sheet must have at most {COLUMNS:,} columns; the model needs more. Use 'sql' or 'c'.")
        if len(formula) > LENGTH:
            raise ValueError(
                f"A formula must have at most {LENGTH:,} characters; {name} has {len(formula):,}. Use 'sql' or 'c'."
            )
        # A name that begins like a formula would be taken for one.
        self.header.append(f" {name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name)
        self.cells.append(formula)
        return f"{letters(len(self.header))}2"

    def text(self) -> str:
        """The CSV text."""
        out = io.StringIO()
        # The line end has both characters, so that names with either of them are quoted.
        csv.writer(out, lineterminator="\r\n").writerows([self.header, self.cells])
        return out.getvalue()


def letters(position: int) -> str:
    """The letters of a column, counted from 1.

    >>> letters(1), letters(27), letters(702)
    ('A', 'AA', 'ZZ')
    """
    found = ""
    while position:
        position, rest = divmod(position - 1, 26)
        found = chr(65 + rest) + found
    return found


def number(value: float) -> str:
    """A constant; negative ones in brackets, as -2^2 is 4 in a spreadsheet."""
    # Spreadsheets take numbers smaller than this for text.
    if abs(value) < sys.float_info.min:
        return "0"
    return f"({value:.17g})" if value < 0 else f"{value:.17g}"


EPOCH = 25569
"""The number that spreadsheets give to 1970-01-01."""


def feature_text(column: Column, feature: Feature, cell: str) -> str:
    """One input of the ladders as an expression of a cell; an error where the cell cannot be read."""
    if column.kind == "category":
        (step,) = feature.steps
        assert isinstance(step, IsCategory)
        return category_text(column, step.category, cell)
    if feature.steps[-1:] == (IsMissing(),):
        return f"IF({is_gone(feature, cell)},1,0)"
    # A sum is an error for a text, which MIN and MAX would pass over.
    day = column.reading.kind == "date" and not is_time(column)
    value = f"({cell}-{EPOCH})" if day else f"({cell}+0)"
    fills = [step.value for step in feature.steps if isinstance(step, Fill)]
    value = f"IF({is_gone(feature, cell)},{number(fills[0]) if fills else 'NA()'},{value})"
    for step in feature.steps:
        value = value if isinstance(step, Fill | Blank) else step_text(step, value)
    return value


def is_gone(feature: Feature, cell: str) -> str:
    """Whether a cell of numbers is missing: blank, or the number that marks missing values."""
    codes = [number(step.code) for step in feature.steps if isinstance(step, Blank)]
    return f"OR(ISBLANK({cell}),{cell}={codes[0]})" if codes else f"ISBLANK({cell})"


def category_text(column: Column, category: str | None, cell: str) -> str:
    """1 where a cell is this category, else 0; of yes and no, an error where it is neither."""
    odd, words = odd_categories(column), words_of(column)
    text = f"TRIM({cell})"
    gone = is_word(text, MISSING)
    if category is None:
        same = gone
    elif words:
        same = is_word(text, [word for word, meant in words.items() if meant == category])
    else:
        # EXACT tells upper from lower case, which = does not; TRIM takes spaces within a text as well.
        others = [category, *(other for other, meant in spellings_of(column).items() if meant == category)]
        each = [f"EXACT({cell if t in odd or '  ' in t else text},{quoted(t)})" for t in others]
        same = each[0] if len(each) == 1 else f"OR({','.join(each)})"
    if odd and category not in odd:
        exact = ",".join(f"EXACT({cell},{quoted(other)})" for other in odd)
        same = f"AND({same},NOT(OR({exact})))"
    other = f"IF(OR({gone},{is_word(text, list(words))}),0,NA())" if words else "0"
    return f"IF({same},1,{other})"


def is_word(text: str, words: Sequence[str]) -> str:
    """Whether a text is one of some words, in capitals or not."""
    return f'ISNUMBER(FIND("|"&LOWER({text})&"|",{quoted("|" + "|".join(words) + "|")}))'


def quoted(text: str) -> str:
    """A text in a formula."""
    if len(text) > TEXT:
        raise ValueError(
            f"A text of a formula must have at most {TEXT} characters; {text[:20]!r}... has {len(text):,}. "
            "Use 'sql' or 'c'."
        )
    return '"' + text.replace('"', '""') + '"'


def step_text(step: Step, x: str) -> str:
    """One step as an expression of x."""
    match step:
        case Clip(low, high):
            return f"MIN(MAX({x},{number(low)}),{number(high)})"
        case Affine(shift, scale):
            return f"(({x})-{number(shift)})/{number(scale)}"
        case Ramp(low, high):
            return f"MIN(MAX((({x})-{number(low)})/{number(high - low)},0),1)"
        case YeoJohnson(power):
            return yeo_johnson(x, power)
        case Quantile():
            raise ValueError("features='quantile' must not be used for a spreadsheet: a column has too many pieces.")
        case Blank() | Fill() | IsMissing() | IsCategory():
            raise AssertionError("these look at the cell itself")
        case _:
            return step.written(f"({x})", TextOperations(number, "SIN"))


def yeo_johnson(x: str, power: float) -> str:
    """The power transform."""
    up = f"LN(1+({x}))" if power == 0 else f"((1+({x}))^{number(power)}-1)/{number(power)}"
    other = 2 - power
    down = f"-LN(1-({x}))" if other == 0 else f"(1-(1-({x}))^{number(other)})/{number(other)}"
    return f"IF(({x})>=0,{up},{down})"


def product_sum(weights: list[float], cells: list[str], constant: float) -> str:
    """Constant + weights times cells."""
    terms = [f"{number(w)}*{cell}" for w, cell in zip(weights, cells, strict=True) if w != 0]
    return "+".join([*terms, number(constant)])


def ladders(sheet: Sheet, model: FittedModel, z: list[str]) -> list[str]:
    """One cell per unit, and one for the mean of each output."""
    p = model.ladders
    last = []
    for s in range(len(p)):
        h = z
        for l, (W, b, V, c) in enumerate(p.layers()):
            units = []
            for i in range(W.shape[-2]):
                u = product_sum(W[s, i].tolist(), h, b[s, i].item())
                gate = product_sum(V[s, i].tolist(), z, c[s, i].item())
                units.append(sheet.add(f"h{s + 1}_{l + 1}_{i + 1}", f"=({u})*({gate})"))
            h = units
        last.append(h)
    outputs = []
    for j in range(p.out_features):
        each = [
            sheet.add(f"f{s + 1}_{j + 1}", "=" + product_sum(p.readout[s, j].tolist(), last[s], p.offset[s, j].item()))
            for s in range(len(p))
        ]
        outputs.append(sheet.add(f"f_{j + 1}", f"=({'+'.join(each)})/{len(p)}"))
    return outputs


def final_numbers(sheet: Sheet, model: FittedModel, outputs: list[str], guard: Guard | None) -> None:
    """The predictions, guarded."""
    for name, value in zip(model.answer_names, held(outputs, guard), strict=True):
        sheet.add(name, f"={value}")


def held(cells: Sequence[str], guard: Guard | None) -> list[str]:
    """Expressions that hold cells to a range."""
    if guard is None:
        return list(cells)
    return [f"MIN(MAX({cell},{number(lo)}),{number(hi)})" for cell, lo, hi in zip(cells, *guard, strict=True)]


def final_banded(sheet: Sheet, model: FittedModel, outputs: list[str], answer: Banded) -> None:
    """The predictions, guarded, the ends of their intervals, and the scales."""
    m = len(answer.widths)
    growths = [f"MIN({cell},{number(answer.most)})" for cell in outputs[2 * m :]]
    logs = zip(held(outputs[m : 2 * m], answer.log_scales), growths, strict=True)
    scales = [sheet.add(f"s_{j + 1}", f"=EXP({log}+{growth})") for j, (log, growth) in enumerate(logs)]
    names = iter(model.answer_names)
    values = [sheet.add(next(names), f"={value}") for value in held(outputs[:m], answer.guard)]
    for sign in "-+":
        for value, width, scale in zip(values, answer.widths, scales, strict=True):
            sheet.add(next(names), f"={value}{sign}{number(width)}*{scale}")
    for scale in scales:
        sheet.add(next(names), f"={scale}")


def final_classes(sheet: Sheet, model: FittedModel, outputs: list[str], labels: tuple[object, ...], link: str) -> None:
    """Probabilities, then the best label."""
    scores = outputs
    if link == "one-versus-rest":
        scores = [sheet.add(f"s_{j + 1}", f"=MIN({f},0)-LN(1+EXP(-ABS({f})))") for j, f in enumerate(outputs)]
    elif len(outputs) == 1:
        scores = [sheet.add("s_1", "=0*" + outputs[0]), outputs[0]]
    # Powers of e relative to the largest, which no cell can overflow.
    top = sheet.add("top", f"=MAX({','.join(scores)})")
    powers = [sheet.add(f"e_{j + 1}", f"=EXP({score}-{top})") for j, score in enumerate(scores)]
    total = "+".join(powers)
    cells = [sheet.add(n, f"={e}/({total})") for n, e in zip(model.answer_names, powers, strict=True)]
    shown = [quoted(label) if isinstance(label, str) else repr(label) for label in labels]
    best = shown[-1]
    for cell, name in zip(cells[-2::-1], shown[-2::-1], strict=True):
        best = f"IF({cell}=MAX({','.join(cells)}),{name},{best})"
    sheet.add("prediction", f"={best}")
