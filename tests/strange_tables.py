"""Small tables of many kinds, made up: what a default must not stumble over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

FRESH = 500
"""Rows that no fit has seen."""

Rng = np.random.Generator
Array = np.ndarray


@dataclass(frozen=True, eq=False)
class StrangeTable:
    """Rows to fit and rows to test on.

    Attributes:
        name: what is strange about it.
        X, y: rows to fit.
        fresh, truth: rows to test on, drawn in the same way.
    """

    name: str
    X: pd.DataFrame
    y: Array
    fresh: pd.DataFrame
    truth: Array

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return self.y.dtype.kind in "OU"


Draw = Callable[[Rng, int], tuple[object, Array]]

KINDS: dict[str, tuple[int, Draw]] = {}


def kind(name: str, rows: int) -> Callable[[Draw], Draw]:
    """List a way to draw rows, and how many are fitted."""

    def listed(draw: Draw) -> Draw:
        assert name not in KINDS
        KINDS[name] = (rows, draw)
        return draw

    return listed


def strange_table(name: str) -> StrangeTable:
    """The table of this name, always the same."""
    rows, draw = KINDS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    columns, y = draw(rng, rows + FRESH)
    X = pd.DataFrame(
        columns if isinstance(columns, dict) else {f"x{i}": c for i, c in enumerate(np.asarray(columns).T)}
    )
    return StrangeTable(name, X[:rows], y[:rows], X[rows:].reset_index(drop=True), y[rows:])


def uniform(rng: Rng, n: int, d: int) -> Array:
    return rng.random((n, d))


# Exact functions: nothing is left unexplained, and whatever is compared is zero up to rounding.


def line(x: Array) -> Array:
    return 3 * x[:, 0] - 2 * x[:, 1] + 1


for rows in (40, 300, 3000, 4000, 6000, 30_000):

    @kind(f"an exact line of {rows} rows", rows)
    def exact_line(rng: Rng, n: int) -> tuple[Array, Array]:
        x = uniform(rng, n, 3)
        return x, line(x)


@kind("a line with noise of 1e-4", 6000)
def faint_noise(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 3)
    return x, line(x) + 1e-4 * rng.normal(size=n)


@kind("the sum of two columns of amounts", 4000)
def two_amounts(rng: Rng, n: int) -> tuple[Array, Array]:
    x = np.round(rng.gamma(2.0, 50.0, (n, 2)), 2)
    return x, x.sum(1)


@kind("the sum of ten columns", 250)
def ten_columns(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 10))
    return x, x.sum(1)


@kind("a small difference of large columns", 400)
def difference(rng: Rng, n: int) -> tuple[Array, Array]:
    base = 1e5 * uniform(rng, n, 1)
    x = base + rng.normal(size=(n, 2))
    return x, x[:, 0] - x[:, 1]


@kind("one column and its line", 200)
def one_line(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 1)
    return x, 5 * x[:, 0] - 2


@kind("an exact product", 6000)
def product(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 3)
    return x, 4 * x[:, 0] * x[:, 1]


@kind("an exact quadratic of few rows", 60)
def quadratic(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, x[:, 0] ** 2 + x[:, 1] * x[:, 2] - x[:, 2]


@kind("an exact cubic", 800)
def cubic(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 2))
    return x, x[:, 0] ** 3 - x[:, 0] * x[:, 1] + 2


@kind("a target equal to one of its columns", 200)
def leaked(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 5))
    return x, x[:, 2].copy()


# One column.


@kind("one column and its sine", 300)
def sine(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 6 * uniform(rng, n, 1)
    return x, np.sin(x[:, 0]) + 0.1 * rng.normal(size=n)


@kind("one column and a step", 300)
def step(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 1)
    return x, (x[:, 0] > 0.3) + 0.05 * rng.normal(size=n)


@kind("one column of three values", 90)
def three_values(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.integers(0, 3, (n, 1)).astype(float)
    return x, np.array([1.0, 5.0, 2.0])[x[:, 0].astype(int)] + 0.1 * rng.normal(size=n)


# Constants.


@kind("a constant target", 100)
def constant(rng: Rng, n: int) -> tuple[Array, Array]:
    return rng.normal(size=(n, 3)), np.full(n, 7.25)


@kind("constant columns beside one that counts", 150)
def constant_columns(rng: Rng, n: int) -> tuple[Array, Array]:
    x = np.c_[np.full(n, 3.0), rng.normal(size=n), np.zeros(n)]
    return x, x[:, 1] + 0.2 * rng.normal(size=n)


@kind("a target that hardly moves from 1000", 200)
def hardly_moves(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, 1000 + 1e-6 * x[:, 0] + 1e-7 * rng.normal(size=n)


# Steps and corners.


@kind("a staircase", 1000)
def staircase(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 2)
    return x, np.floor(5 * x[:, 0]) + np.floor(3 * x[:, 1])


@kind("a checkerboard", 1000)
def checkerboard(rng: Rng, n: int) -> tuple[Array, Array]:
    x = uniform(rng, n, 2)
    return x, ((np.floor(3 * x).sum(1)) % 2) + 0.1 * rng.normal(size=n)


@kind("the larger of two columns", 500)
def larger(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, np.maximum(x[:, 0], x[:, 1])


@kind("an absolute value", 2500)
def absolute(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 4))
    return x, np.abs(x[:, 0]) + 0.1 * rng.normal(size=n)


@kind("a hyperbola", 400)
def hyperbola(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 0.05 + uniform(rng, n, 2)
    return x, 1 / x[:, 0] + x[:, 1]


@kind("a logarithm over five decades", 400)
def logarithm(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 10 ** (5 * uniform(rng, n, 2))
    return x, np.log10(x[:, 0]) + 0.1 * rng.normal(size=n)


# Counts, shares, amounts.


@kind("small counts", 500)
def counts(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, rng.poisson(np.exp(0.5 * x[:, 0])).astype(float)


@kind("counts that are mostly zero", 1000)
def zeros(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 4))
    return x, rng.poisson(0.05 * np.exp(0.5 * x[:, 0])).astype(float)


@kind("shares between 0 and 1", 400)
def shares(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, 1 / (1 + np.exp(-2 * x[:, 0] - x[:, 1] + 0.3 * rng.normal(size=n)))


@kind("columns that sum to 100", 300)
def composition(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.dirichlet((2.0, 3.0, 5.0, 1.0), n) * 100
    return x, 0.3 * x[:, 0] - 0.1 * x[:, 1] + rng.normal(size=n)


@kind("amounts over four decades", 600)
def amounts(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, np.exp(2 * x[:, 0] + 0.5 * rng.normal(size=n))


@kind("ratings from 1 to 5", 400)
def ratings(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 4))
    return x, np.clip(np.round(3 + x[:, 0] + 0.5 * x[:, 1] + 0.7 * rng.normal(size=n)), 1, 5)


# Outliers and tails.


@kind("noise of heavy tails", 500)
def tails(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, x[:, 0] + 0.2 * rng.standard_t(2, n)


@kind("one target a thousand times too large", 300)
def outlier(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    y = x[:, 0] + 0.1 * rng.normal(size=n)
    y[17] = 1000.0
    return x, y


@kind("one cell a million times too large", 300)
def outlying_cell(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    y = x[:, 0] + 0.1 * rng.normal(size=n)
    x[17, 0] = 1e6
    return x, y


# Columns that say the same, rows that say the same.


@kind("two columns that nearly agree", 300)
def near_duplicates(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 1))
    x = np.c_[x, x + 1e-6 * rng.normal(size=(n, 1)), rng.normal(size=n)]
    return x, x[:, 0] + 0.1 * rng.normal(size=n)


@kind("a column written twice", 300)
def duplicates(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 2))
    return np.c_[x, x], x[:, 0] * x[:, 1] + 0.1 * rng.normal(size=n)


@kind("every row ten times", 600)
def repeated(rng: Rng, n: int) -> tuple[Array, Array]:
    x = np.repeat(rng.normal(size=(n // 10, 4)), 10, 0)
    return x, np.repeat(x[::10, 0] + 0.3 * rng.normal(size=n // 10), 10)


# Scales.


@kind("columns of 1e12 and a target of 1e15", 300)
def huge(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 1e12 * uniform(rng, n, 2)
    return x, 1e3 * x[:, 0] + 1e14 * rng.normal(size=n)


@kind("columns of 1e-12 and a target of 1e-15", 300)
def tiny(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 1e-12 * uniform(rng, n, 2)
    return x, 1e-3 * x[:, 0] + 1e-16 * rng.normal(size=n)


@kind("columns far from zero", 300)
def far_columns(rng: Rng, n: int) -> tuple[Array, Array]:
    x = 1e9 + uniform(rng, n, 2)
    return x, x[:, 0] - 1e9 + 0.05 * rng.normal(size=n)


@kind("columns of scales from 1e-6 to 1e6", 400)
def mixed_scales(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 5)) * np.logspace(-6, 6, 5)
    return x, x[:, 4] / 1e6 + x[:, 0] * 1e6 + 0.2 * rng.normal(size=n)


# Whole numbers, categories, dates, blanks.


@kind("columns of zeros and ones", 400)
def binary(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.integers(0, 2, (n, 6)).astype(float)
    return x, x[:, 0] + 2 * x[:, 1] * x[:, 2] + 0.2 * rng.normal(size=n)


@kind("parity of three columns", 400)
def parity(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.integers(0, 2, (n, 4)).astype(float)
    return x, (x[:, :3].sum(1) % 2) + 0.1 * rng.normal(size=n)


@kind("whole numbers of few values", 700)
def few_values(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.integers(0, 6, (n, 3)).astype(float)
    return x, (x[:, 0] - 2) ** 2 + x[:, 1] + 0.5 * rng.normal(size=n)


@kind("a category that decides", 300)
def deciding(rng: Rng, n: int) -> tuple[dict[str, Array], Array]:
    town = rng.integers(0, 3, n)
    x = rng.normal(size=n)
    names = np.array(["Ulm", "Zürich", "Ⅻ o'clock"], dtype=object)
    return {"x": x, "town": names[town]}, np.where(town == 0, x, -x) + town + 0.1 * rng.normal(size=n)


@kind("a category of 150 levels", 900)
def levels(rng: Rng, n: int) -> tuple[dict[str, Array], Array]:
    level = rng.integers(0, 150, n)
    effect = np.random.default_rng(1).normal(size=150)
    x = rng.normal(size=n)
    return {"code": np.array([f"c{i}" for i in level], dtype=object), "x": x}, effect[level] + x + 0.3 * rng.normal(
        size=n
    )


@kind("categories alone", 250)
def only_categories(rng: Rng, n: int) -> tuple[dict[str, Array], Array]:
    a, b = rng.integers(0, 3, n), rng.integers(0, 4, n)
    columns = {"a": np.array(list("pqr"), dtype=object)[a], "b": np.array(list("wxyz"), dtype=object)[b]}
    return columns, a + 0.5 * b + 0.3 * rng.normal(size=n)


@kind("numbers with blanks", 500)
def blanks(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 4))
    y = x[:, 0] + x[:, 1] * x[:, 2] + 0.2 * rng.normal(size=n)
    return np.where(rng.random((n, 4)) < 0.2, np.nan, x), y


@kind("blanks that say something", 500)
def telling_blanks(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    blank = rng.random(n) < 0.3
    y = np.where(blank, 4.0, x[:, 0]) + 0.2 * rng.normal(size=n)
    x[blank, 0] = np.nan
    return x, y


@kind("a season over days", 700)
def season(rng: Rng, n: int) -> tuple[dict[str, Array], Array]:
    day = rng.integers(0, 730, n)
    dates = np.datetime64("2024-01-01") + day.astype("timedelta64[D]")
    return {"day": pd.to_datetime(dates), "x": rng.normal(size=n)}, np.sin(2 * np.pi * day / 365) + 0.2 * rng.normal(
        size=n
    )


# Little or nothing to learn.


@kind("noise alone", 200)
def noise(rng: Rng, n: int) -> tuple[Array, Array]:
    return rng.normal(size=(n, 5)), rng.normal(size=n)


@kind("noise alone in many rows", 5000)
def much_noise(rng: Rng, n: int) -> tuple[Array, Array]:
    return rng.normal(size=(n, 6)), rng.normal(size=n)


@kind("noise of few rows and many columns", 40)
def wide_noise(rng: Rng, n: int) -> tuple[Array, Array]:
    return rng.normal(size=(n, 100)), rng.normal(size=n)


@kind("a faint line", 500)
def faint(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 5))
    return x, 0.15 * x[:, 0] + rng.normal(size=n)


@kind("more columns than rows", 60)
def wide(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 120))
    return x, x[:, 0] + x[:, 1] + 0.2 * rng.normal(size=n)


@kind("five rows", 5)
def five(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 2))
    return x, x[:, 0] + 0.1 * rng.normal(size=n)


@kind("twelve rows of a line", 12)
def twelve(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, x[:, 0] + 0.5 * rng.normal(size=n)


@kind("twenty rows of eight columns, one of which counts", 20)
def twenty(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 8))
    return x, x[:, 0] + 0.5 * rng.normal(size=n)


# Classes.


def named(which: Array) -> Array:
    return np.array(["no", "yes", "maybe"], dtype=object)[which.astype(int)]


@kind("classes parted by a line", 4500)
def parted(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, named(x[:, 0] + x[:, 1] > 0.3)


@kind("classes equal to a column", 300)
def given(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.integers(0, 2, (n, 3)).astype(float)
    return x, named(x[:, 1])


@kind("three blobs", 300)
def blobs(rng: Rng, n: int) -> tuple[Array, Array]:
    which = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[which], named(which)


@kind("a class of one row in fifty", 600)
def rare(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 3))
    return x, named(rng.random(n) < 1 / (1 + np.exp(4.5 - 1.5 * x[:, 0])))


@kind("classes of noise", 200)
def class_noise(rng: Rng, n: int) -> tuple[Array, Array]:
    return rng.normal(size=(n, 6)), named(rng.integers(0, 2, n))


@kind("classes of opposite corners", 500)
def corners(rng: Rng, n: int) -> tuple[Array, Array]:
    x = rng.normal(size=(n, 4))
    return x, named((x[:, 0] * x[:, 1] > 0) ^ (rng.random(n) < 0.05))
