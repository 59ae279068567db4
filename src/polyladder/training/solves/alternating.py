"""Exact block solves: fit a ladder by solving one block after another, each a ridge regression.

The paper notes that the loss is convex in each block with the others fixed, but does not use it. Here it replaces the
gradient: there is no learning rate, and the regularized loss never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, positive_integer
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.history import Progress
from polyladder.training.losses import AnyLoss
from polyladder.training.rows import Rows, checked_rows, chosen_rows, row_weights
from polyladder.training.solves.blocks import as_ladders, blocks_of
from polyladder.training.solves.descent import DescentOptions, SolveHistory, descend
from polyladder.training.solves.quadratic_bound import quadratic_bound
from polyladder.training.solves.ridge import WARM_UP, Alpha
from polyladder.training.solves.span import row_span, turned
from polyladder.training.solves.sweep import SweptLadders

RENEWAL = 2
"""``alpha="auto"`` re-estimates the ridge weights once in this many sweeps: an estimate costs as much as a solve."""

EXACT_SWEEPS = 1
"""Default number of sweeps before steps are relaxed, and before a relaxed fit estimates its ridge weights."""


@dataclass(frozen=True, eq=False)
class AlternatingFit(SolveHistory):
    """The result of a fit by block solves; a step is a sweep. The groups of ``alpha``: layers, gates, readout.

    Args:
        polynomial: the fitted ladders, float64. Batch shape as the start's.
    """

    polynomial: LadderPolynomial


def random_start(
    in_features: int, hidden: tuple[int, ...], out_features: int, seeds: Seeds, count: int
) -> LadderPolynomial:
    """Ladders to start from, one per seed, in float64. Batch shape (count,)."""
    return merge(LPNN(in_features, hidden, out_features, batch_shape=(count,), seed=seeds, dtype=torch.float64))


def check_precision(precision: torch.dtype | None) -> None:
    """Refuse types that Gram matrices cannot be summed in."""
    if precision not in (None, torch.float32, torch.float64):
        raise ValueError(f"precision must be torch.float32, torch.float64 or None; got {precision!r}.")


@torch.no_grad()
def fit_alternating(
    start: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    *,
    loss: AnyLoss = "squared",
    alpha: Alpha = "auto",
    noise_inflation: float | Tensor = 1.0,
    rows: Rows = None,
    validation: Rows = None,
    sample_weight: Tensor | None = None,
    sweeps: int = 20,
    tolerance: float = 1e-3,
    patience: int = 5,
    progress: Progress | None = None,
    known_alpha: Tensor | None = None,
    relaxation: float = 1.0,
    exact_sweeps: int = EXACT_SWEEPS,
    precision: torch.dtype | None = None,
    gram_rows: int | None = None,
) -> AlternatingFit:
    r"""Minimize mean loss plus ridge over all weights of many ladders, block by block, each block exactly.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \sum_{blocks} \alpha_b \|\theta_b\|^2

    A sweep solves the readout with its offset, then from the last layer to the first the gate (V, c) and the layer
    (W, b), then rescales the blocks against each other (`balance`). The offset alone is not penalized. All is computed
    in float64, but large Gram matrices (``precision``). Where inputs outnumber rows, it is computed in the span of the
    rows, outside of which the ridge leaves nothing.

    Args:
        start: where to start; its readout does not matter. Any ``batch_shape``.
        x: inputs, shared by all models. Shape (n, d).
        y: targets: (n,) or (n, m) numbers for ``"squared"`` and ``"huber"``, 0 and 1 of shape (n,) for ``"logistic"``,
            whole numbers 0, ..., m - 1 of shape (n,) for ``"softmax"``.
        loss: a name or a `Loss`. The squared error, summed over outputs, is minimized exactly in each block, the others
            through a quadratic upper bound. ``"logistic"`` is for one output.
        alpha: ridge weight, one or one per model; "auto" re-estimates the noise and one ridge weight per block between
            sweeps by empirical Bayes, and then only approximately lowers one objective.
        noise_inflation: with "auto", the estimated ridge weights are multiplied by 1 + noise_inflation * noise /
            variance of y, for targets of variance 1. The evidence of a block treats the other blocks as known, and so
            ignores their uncertainty, which grows with the noise. One number or one per model.
        rows: numbers of the rows to train on: one vector for all models, (r,); (*batch_shape, r); or a sequence of
            vectors, one per model of the flattened batch, of any lengths. A number given twice counts twice. None: all
            but the validation rows.
        validation: numbers of the rows to validate on, in the same forms, or None. With them a model stops, instead of
            by ``tolerance``, once the validation loss has not fallen for ``patience`` sweeps, and the weights of its
            best sweep are kept.
        sample_weight: non-negative, (n,). A weight of 2 counts as much as the row given twice. With "auto" the sum of
            the weights counts as the number of rows.
        sweeps: at most this many.
        tolerance: a model stops when a sweep lowers its objective by less than this, relatively.
        patience: see ``validation``.
        progress: called after each sweep with its number, counted from 1, the objective and, if there are validation
            rows, the validation loss, shape batch_shape each.
        known_alpha: the ridge weights that an earlier fit estimated (``AlternatingFit.alpha``): with "auto" those to
            continue from, with a number those to keep instead of it. Shape (groups, *batch_shape).
        relaxation: how far a step of a layer or a gate goes, from 1, the block's minimizer, to less than 2. Each step
            gains less but the next ones gain more: with 1.6, half the sweeps are enough. The readout always goes to its
            minimizer.
        exact_sweeps: in this many first sweeps all blocks go to their minimizers: from a random start longer steps
            mislead.
        precision: of Gram matrices. By default float32 from 1,000 rows on, float64 below. In float64 the fit is that of
            `polyladder.fit_partitions` in float64, to rounding, and takes up to twice as long.
        gram_rows: Gram matrices are summed over about this many of the rows, evenly spread, and gradients over all.
            A step then has the best length in a direction that is nearly that of the minimizer, which costs less on
            many rows. By default Gram matrices are of all rows, too.
    """
    check_precision(precision)
    start = start.to(torch.float64)
    x = checked_rows(x, start.in_features, start.device)
    bound = quadratic_bound(loss, y, x, start.out_features)
    positive_integer("sweeps", sweeps)
    if gram_rows is not None:
        positive_integer("gram_rows", gram_rows)
    if not 1 <= relaxation < 2:
        raise ValueError(f"relaxation must be at least 1 and less than 2; got {relaxation}.")
    chosen, held_out = chosen_rows(rows, validation, sample_weight, len(x), start.batch_shape)
    span = row_span(x)
    if span is not None:
        start, x = turned(start, span), x @ span
    found, fields = descend(
        SweptLadders(blocks_of(start, x, precision, gram_rows), relaxation, exact_sweeps),
        bound,
        row_weights(chosen, sample_weight, x),
        DescentOptions(
            alpha,
            noise_inflation,
            sweeps,
            tolerance,
            patience,
            progress,
            RENEWAL,
            None if known_alpha is None else known_alpha.reshape(len(known_alpha), -1),
            WARM_UP if relaxation == 1 else EXACT_SWEEPS,
        ),
        start.batch_shape,
        None if held_out is None else row_weights(held_out, sample_weight, x),
    )
    ladders = as_ladders(found).map(lambda t: t.reshape((*start.batch_shape, *t.shape[1:])))
    return AlternatingFit(**fields, polynomial=ladders if span is None else turned(ladders, span.mT))
