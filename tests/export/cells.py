"""A table of every kind of column as it stands in a file, models of it, and cells that `predict` cleans or refuses."""

from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from polyladder import LPNNRegressor, fit_table
from polyladder.automatic.fit_table import described, read_training_table
from polyladder.automatic.model_rows import model_columns
from polyladder.tables.columns import convert
from tests.cli.tables import run

NUMBERS = ("price", "share", "age", "flag", "cold", "weight")
DATES = ("day", "sold", "at")
TEXTS = ("sex", "own", "town")
"""What languages without a reader of cells take as numbers, as days, and as texts."""

BASE = {
    "sex": "Male",
    "own": "Y",
    "day": "2021-03-04",
    "sold": "04.03.2021 10:30",
    "price": "$2,000.00",
    "share": "12 %",
    "age": "30",
    "flag": "1",
    "town": "Bern",
    "at": "13:45",
    "cold": "-5.5",
    "weight": "5.1 kg",
}

CELLS = {
    "sex": [
        " Male",
        "Male\t",
        "\u00a0Male\u2003",
        "Ümi",
        " Ümi\r\n",
        "male",
        "NA",
        "",
        " n/a ",
        "None",
        "a'b\"c\\?",
        "M",
    ],
    "own": ["y", "yes", " YES ", "N", "no", "FALSE", "0", "1", "да", "ДА", "Нет", "✓", "oui", "nan", ""],
    "day": [" 2021-03-04 ", "NA", "2020-02-29", "1999-12-31", "2100-01-01"],
    "sold": ["29.02.2020 00:00", "31.12.2021 23:59\t", "null"],
    "price": ["2000", "$2000", " $2,000 ", "-$5", "$-5", "−$5.50", "$1e3", "", "$12,345,678.9"],
    "share": ["12%", "12", "0.5 %", "-3%", "#N/A"],
    "age": ["30.0", " 30", "3e1", "3E+1", "−5", "+30", "NA", "?", "-", "1.5e-3", "30.", ".5", "00031", "1e99"],
    "flag": ["0", "1.0", "0.25", "missing"],
    "town": ["bern", "BERN", " bern ", "Aue", "AUE", "aue", "Celle", "bErn", "na"],
    "at": ["00:00", "23:59", "07:05:30", "NA"],
    "cold": ["-999", "-999.0", "12", ""],
    "weight": ["5100 g", "5.1kg", "11.2 lb", "", "-3 kg"],
}
"""Cells that stand in place of those above, one at a time."""

VARIABLE = {"day": ["2021-3-4"], "sold": ["4.3.2021 9:05"], "at": ["7:05", "1:45 PM"]}
"""Dates whose parts have different lengths, which SQL cannot take apart."""

REFUSED = [
    ("own", "maybe"),
    ("day", "04.03.2021"),
    ("day", "2021-02-30"),
    ("day", "2021-13-01"),
    ("day", "today"),
    ("day", "2021"),
    ("sold", "04.03.2021 24:30"),
    ("age", "abc"),
    ("age", "12.5.2024"),
    ("age", "1e"),
    ("age", "5e+-3"),
    ("age", "5ee3"),
    ("age", "--1"),
    ("age", "1-2"),
    ("age", "e5"),
    ("age", "+"),
    ("age", "inf"),
    ("age", "-Infinity"),
    ("age", "1_000"),
    ("age", "٣"),
    ("flag", "2 3"),
    ("at", "24:30"),
    ("at", "noon"),
]
REFUSED_STYLES = [
    ("weight", "5 km"),
    ("price", "£5"),
    ("price", "$2,00"),
    ("price", "$(5"),
    ("share", "12 kg"),
    ("share", "12 %%"),
]


def training_table() -> pl.DataFrame:
    """Rows of text with a target that depends on every column."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(90):
        sex = ["Male", "Female", "Ümi", "a'b\"c\\?", None][i % 5]
        own, flag = rng.choice(["Y", "N"]), int(rng.integers(0, 2))
        day = date(2020, 1, 1) + timedelta(days=int(rng.integers(0, 900)))
        sold = datetime(2020, 1, 1) + timedelta(minutes=int(rng.integers(0, 900 * 1440)))
        price, share, age = rng.uniform(100, 5000), rng.uniform(0, 40), rng.uniform(1, 90)
        town, minute = ["Bern", "Bern", "bern", "BERN", "Aue", "Celle"][i % 6], int(rng.integers(0, 1440))
        cold, weight = rng.normal(0, 9), rng.uniform(1, 9)
        y = 2 * (sex == "Male") - (sex == "Ümi") + 3 * (own == "Y") + price / 1000 - age / 50 + flag + share * flag / 20
        y += (day - date(2020, 1, 1)).days / 200 - (sold - datetime(2020, 1, 1)).days / 300
        y += (town.lower() == "bern") + minute / 700 - cold / 10 + weight / 3
        rows.append(
            {
                "sex": sex,
                "own": own,
                "day": day.isoformat(),
                "sold": f"{sold:%d.%m.%Y %H:%M}",
                "price": f"${price:,.2f}",
                "share": f"{share:.1f} %",
                "age": None if rng.random() < 0.1 else f"{age:.1f}",
                "flag": str(flag),
                "town": town,
                "at": f"{minute // 60:02}:{minute % 60:02}",
                "cold": "-999" if i % 11 == 0 else f"{cold:.1f}",
                "weight": f"{weight:.1f} kg",
                "y": f"{y:.4f}",
            }
        )
    return pl.DataFrame(rows)


@cache
def models():
    """A small ladder with ramps, and what the command fits by default, both with cards."""
    table = read_training_table(training_table(), "y")
    first = [*("category", "boolean", "date", "date"), *["number"] * 4]
    assert [kind.kind for kind in table.kinds] == [*first, "category", "date", "number", "number"]
    small = LPNNRegressor(
        order=3, width=3, n_estimators=1, max_iter=4, features="piecewise", missing="impute", random_state=0
    )
    small.fit(table.columns, table.target)
    small.card_ = described(small, table, [({"model": "ladder", "seconds": 0.0}, None)], {}, [], 0)
    return {"small": small, "default": fit_table(training_table(), "y", seconds=5, compare=False)}


@cache
def rows(*, fixed=True):
    """The rows to predict: the base, and one with each other cell. Dates of fixed lengths alone, or all."""
    others = CELLS if fixed else {name: CELLS[name] + VARIABLE.get(name, []) for name in CELLS}
    changed = [BASE | {name: cell} for name, cells in others.items() for cell in cells]
    return pl.DataFrame([BASE, *changed])


@cache
def predicted(name, *, fixed=True):
    """What the command `predict` says of these rows, read from a file. Shape (n, 1)."""
    with TemporaryDirectory() as folder:
        models()[name].save(Path(folder) / "m.ladder")
        # Quotes keep line ends within a cell.
        rows(fixed=fixed).write_csv(Path(folder) / "t.csv", quote_style="always")
        said = run("predict", Path(folder) / "m.ladder", Path(folder) / "t.csv", "--quiet").stdout
    return np.array([[float(line)] for line in said.splitlines()[1:]])


def kinds(name="small"):
    """How `predict` reads each column of a file."""
    return {column.name: column.reading for column in model_columns(models()[name])}


def as_numbers(frame, name="small"):
    """The same rows with numbers and dates as float64, read as Python reads them for `predict`; texts as they are."""
    return frame.with_columns(convert(frame[c], kinds(name)[c], "thousands") for c in (*NUMBERS, *DATES))


def error(found, expected):
    """The largest difference, relative to the size of the answers."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected)
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max() / np.abs(expected).max())
