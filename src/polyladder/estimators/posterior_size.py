"""How large a ladder a posterior is drawn of: no more weights than its rows can hold in place."""

from __future__ import annotations

from dataclasses import dataclass

from polyladder.estimators.rows import Rows

WEIGHTS_PER_ROW = 2.2
"""With more, chains need hundreds of sweeps to forget their start, and intervals come out too narrow."""

NARROWEST = 2


@dataclass(frozen=True)
class PosteriorSize:
    """Of one ladder.

    Attributes:
        width: units per layer.
        relevance: whether every input has a precision of its own.
    """

    width: int
    relevance: bool


def count_weights(inputs: int, width: int, order: int, outputs: int) -> int:
    """Weights of a ladder whose layers are equally wide, offsets included.

    >>> count_weights(inputs=6, width=8, order=6, outputs=1)
    593
    """
    first, later = width * (2 * inputs + 1), width * (inputs + width + 1)
    return first + (order - 2) * later + (width + 1) * outputs


def posterior_size(rows: Rows, order: int, width: int | None, relevance: bool | None) -> PosteriorSize:
    """Fill in what was not asked for: the usual width, or as much of it as the rows allow, and then with relevance.

    Args:
        rows: to be fitted.
        order: of the ladder.
        width, relevance: as asked; None to choose.
    """
    n, d = rows.z.shape
    usual = 12 if rows.many else 8
    fitting = [
        k for k in range(NARROWEST, usual + 1) if count_weights(d, k, order, rows.outputs) <= WEIGHTS_PER_ROW * n
    ]
    largest = max(fitting, default=NARROWEST)
    return PosteriorSize(largest if width is None else width, largest < usual if relevance is None else relevance)
