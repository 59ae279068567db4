"""How large a ladder a posterior is drawn of, and how long: what its rows can hold in place, and what time allows."""

from __future__ import annotations

from dataclasses import dataclass

from polyladder.estimators.cost import Shape
from polyladder.estimators.rows import TrainingRows
from polyladder.training.solves.block_step import DIRECT_LIMIT

WEIGHTS_PER_ROW = 2.2
"""Most weights per row. With more, chains need hundreds of sweeps to forget their start, with too narrow intervals."""

NARROWEST = 2
"""Fewest units per layer."""

MOST_SECONDS = 300.0
"""What the draws may take on one core, by default. Very wide tables get narrower ladders, and then fewer draws."""

LEAST_DRAWS = 10
"""Fewest sweeps of a chain's warm-up, and of its draws."""

ENOUGH_ROWS = 10_000
"""Rows that should be used where there are more: if time does not allow so many, the ladder is made narrower first."""

LEAST_ROWS = 2000
"""Fewest rows that are used, however little time there is."""


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


def draw_seconds(rows: TrainingRows, order: int, width: int) -> float:
    """What one sweep of draws over a ladder's blocks takes on one core, about."""
    n, d = rows.z.shape
    return Shape(n, d, width, order, rows.outputs).draw_seconds()


def posterior_size(
    rows: TrainingRows, order: int, width: int | None, relevance: bool | None, sweeps: int = 1
) -> PosteriorSize:
    """Fill in what was not asked for: the usual width, or what rows and time allow of it, and then with relevance.

    Args:
        rows: to be fitted.
        order: of the ladder.
        width, relevance: as asked; None to choose.
        sweeps: of all chains together.
    """
    n, d = rows.z.shape
    usual = usual_width(rows)
    fitting = [
        k
        for k in range(NARROWEST, usual + 1)
        if count_weights(d, k, order, rows.outputs) <= WEIGHTS_PER_ROW * n
        and sweeps * draw_seconds(rows, order, k) <= MOST_SECONDS
    ]
    largest = max(fitting, default=NARROWEST)
    chosen = largest if width is None else width
    if relevance is None:
        # Blocks that are too wide to be factorized are drawn without.
        relevance = largest < usual and chosen * (d + 1) <= DIRECT_LIMIT
    return PosteriorSize(chosen, relevance)


def usual_width(rows: TrainingRows) -> int:
    """Units per layer where rows and time allow them."""
    return 12 if rows.many else 8


def rows_in_time(rows: TrainingRows, order: int, chains: int) -> int:
    """How many of the rows the usual draws can read in `MOST_SECONDS`, a wide ladder's if these are enough."""
    n = len(rows.z)
    sweeps = 2 * chains * most_sweeps(rows)
    for width in range(usual_width(rows), NARROWEST - 1, -1):
        found = int(n * 0.9 * MOST_SECONDS / (sweeps * draw_seconds(rows, order, width)))  # factorizing costs the rest
        if found >= min(n, ENOUGH_ROWS):
            return min(n, found)
    found = int(n * MOST_SECONDS / (2 * chains * LEAST_DRAWS * draw_seconds(rows, order, NARROWEST)))
    return min(n, max(found, LEAST_ROWS))


def too_wide(rows: TrainingRows, order: int) -> str | None:
    """A warning, where even the narrowest ladder has more weights than the rows can hold in place."""
    n, d = rows.z.shape
    weights = count_weights(d, NARROWEST, order, rows.outputs)
    if weights <= WEIGHTS_PER_ROW * n:
        return None
    return (
        f"{d} inputs are many for a posterior of {n} rows: its ladder has {weights:,} weights, so predictions may be "
        "worse than the mean of the targets. Keep fewer columns, or take LPNNRegressor or LPNNClassifier."
    )


def usual_sweeps(rows: TrainingRows, order: int, chains: int) -> int:
    """Sweeps of warm-up, and as many of draws: fewer on many rows, and on tables too wide for the usual number."""
    usual = most_sweeps(rows)
    seconds = 2 * chains * draw_seconds(rows, order, NARROWEST)
    return usual if usual * seconds <= MOST_SECONDS else max(LEAST_DRAWS, int(MOST_SECONDS / seconds))


def most_sweeps(rows: TrainingRows) -> int:
    """Sweeps of warm-up, and as many of draws, where time allows them."""
    return 25 if rows.many else 50
