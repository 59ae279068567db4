"""Fixed-point numbers: how many bits are behind the point, and how large the error is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from polyladder.convert.exported.ranges import Array
from polyladder.polynomial.ball import sum_error


@dataclass(frozen=True)
class Fixed:
    """A vector of integers that stand for value * 2^point.

    Attributes:
        point: bits behind the point; may be negative.
        size: proven largest absolute value of each exact entry. Shape (k,).
        error: proven largest difference of each entry to the exact one. Shape (k,).
    """

    point: int
    size: Array
    error: Array

    def __len__(self) -> int:
        return len(self.size)


def bits_after_point(size: float, bits: int) -> int:
    """How many bits of a word may lie behind the point for numbers of at most this size, and a little more.

    >>> bits_after_point(1.0, 16), bits_after_point(100.0, 16)
    (14, 8)
    """
    # One bit for the sign, and some room, so that rounding errors cannot overflow the word.
    return bits - 1 - math.ceil(math.log2(max(size, 1e-30) * 1.001))


def integers(values: Iterable[float], point: int) -> list[int]:
    """Numbers in fixed point, rounded to nearest."""
    return [round(math.ldexp(float(v), point)) for v in values]


def affine(
    table: str,
    matrix: Array,
    vector: Array,
    x: Fixed,
    size: Array | None,
    source: str,
    to: str,
    bits: int,
    point: int | None = None,
) -> tuple[list[str], list[str], Fixed]:
    """Tables and statements for to = matrix x + vector, and the resulting numbers.

    Args:
        table: prefix of the tables' names.
        matrix: shape (k, j).
        vector: shape (k,).
        x: the vector that is read.
        size: proven largest size of the result; None if it is added to what is there, in the scale ``point``.
        source: name of x.
        to: name of the result.
        bits: of a word.
        point: bits behind the point of the result, where it is given.
    """
    k, j = matrix.shape
    reach = [math.ceil(math.ldexp(float(s + e), x.point)) + 1 for s, e in zip(x.size, x.error, strict=True)]
    weight = bits_after_point(float(np.abs(matrix).max()), bits)
    while True:
        rows = [integers(row, weight) for row in matrix]
        start = integers(vector, weight + x.point)
        sums = [
            sum(abs(w) * r for w, r in zip(row, reach, strict=True)) + abs(s)
            for row, s in zip(rows, start, strict=True)
        ]
        if max(sums) < 2 ** (2 * bits - 2):
            break
        weight -= 1
    assign = "+=" if size is None else "="
    size = np.abs(matrix) @ x.size + np.abs(vector) if size is None else size
    place = bits_after_point(float(size.max()), bits) if point is None else point
    error = affine_error(matrix, vector, rows, start, weight, x) + 2.0 ** -(place + 1)
    word, wide = f"int{bits}_t", f"int{2 * bits}_t"
    tables = [
        f"static const {word} W{table}[{k}][{j}] = {{{', '.join('{' + ', '.join(map(str, r)) + '}' for r in rows)}}};",
        f"static const {wide} b{table}[{k}] = {{{', '.join(map(constant, start))}}};",
    ]
    lines = [
        f"    for (i = 0; i < {k}; i++) {{",
        f"        sum = b{table}[i];",
        f"        for (j = 0; j < {j}; j++) sum += W{table}[i][j] * {source}[j];",
        f"        {to}[i] {assign} rounded(sum, {weight + x.point - place});",
        "    }",
    ]
    return tables, lines, Fixed(place, size, error)


def affine_error(matrix: Array, vector: Array, rows: list[list[int]], start: list[int], weight: int, x: Fixed) -> Array:
    """The error of matrix x + vector before it is rounded: of x, of the weights and of the constants."""
    stored = np.array([[math.ldexp(w, -weight) for w in row] for row in rows])
    constants = np.array([math.ldexp(s, -weight - x.point) for s in start])
    error = sum_error(np.abs(stored), np.abs(stored - matrix), x.size, x.error) + np.abs(constants - vector)
    return np.asarray(error * (1 + 1e-9) + 1e-300)


def constant(value: int) -> str:
    """An integer constant of C, long where it must be."""
    return f"INT64_C({value})" if abs(value) >= 2**31 else str(value)
