"""What a selection hands to a posterior: features, one small ladder that says what was selected, and honest errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyladder.estimators.compact import Teacher, Trying, compacted
from polyladder.estimators.ladder import TAUGHT_ROWS, LPNNRegressor
from polyladder.estimators.posterior import Posterior, chain_by_chain
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.distinct import distinct_rows
from polyladder.estimators.selection.select import Chosen, choose_model
from polyladder.estimators.spread import LeftOut
from polyladder.estimators.support import states
from polyladder.estimators.targets import Array, NumberTarget
from polyladder.fitted.features import Features
from polyladder.polynomial.ladder import LadderPolynomial, combine
from polyladder.polynomial.members import padded, placed
from polyladder.polynomial.sparse import as_rows
from polyladder.polynomial.widen import lengthen
from polyladder.tables.table import Table
from polyladder.training.bayes.noise import noise_columns
from polyladder.training.bayes.readout import ReadoutRows, UnseenErrors, sample_readout
from polyladder.training.students.student import Form
from polyladder.training.threads import limited, threads_for

FEWEST_ROWS = 50
"""Different rows from which on a selection is worth its time: fewer say little about what they were not fitted to."""

MOST_COST = 0.05
"""Share of the error on rows left out that a small ladder may lose of what was selected. With more, predictions fall
behind the selection's; with less, more selections are left without a ladder."""

MOST_WEIGHTS = 20_000
"""Weights of that ladder, at most: every draw has as many, in memory and in files."""

FORMS = Trying(
    (Form(4, 14), Form(4, 20), Form(6, 18)), points=10_000, sweeps=6, close=0.8, small=MOST_WEIGHTS, seconds=10.0
)
"""Small ladders that are tried: about ten seconds on one core."""

CLOSE = 0.02
"""A small ladder that loses less than this is taken at once."""

READOUT_WARMUP = 20
"""Sweeps that are dropped: the chain of the noise and the readout forgets its start at once."""


@dataclass(frozen=True, eq=False)
class SelectedStart:
    """What was selected.

    Attributes:
        features: in front of the ladder.
        target: how targets are coded, and how far predictions may go.
        ladder: says what was selected. Without a batch.
        columns: positions of its inputs that are no ramps: those of the sampled ladders. Shape (d,).
        rows: all different rows, over all inputs.
        compared: those of them that were left out in turn.
        errors: of the selected model at these, when it had not seen them, enlarged by what the ladder loses. (r, m).
    """

    features: Features
    target: NumberTarget
    ladder: LadderPolynomial
    columns: NDArray[np.intp]
    rows: TrainingRows
    compared: TrainingRows
    errors: Tensor


def selected_start(
    table: Table, values: Array, weight: Array | None, settings: dict[str, Any], seed: int
) -> SelectedStart | None:
    """Select as `LPNNRegressor` does, and teach one ladder what was found; None where no small one says the same.

    Args:
        table: n rows.
        values: their targets.
        weight: of the rows. Shape (n,).
        settings: ``clip`` and ``missing``.
        seed: of everything random.
    """
    table, values, counts = distinct_rows(table, values, weight)
    if len(values) < FEWEST_ROWS:
        return None
    selector = LPNNRegressor(random_state=seed, **settings)
    target = NumberTarget.learn(values, torch.from_numpy(counts))
    options = selector.selection_options(len(values), len(table.names), target.outputs)
    with limited(threads_for(len(values))):
        chosen, _ = choose_model(table, values, counts, target, options)
        found = small_ladder(chosen, table, seed)
    if found is None:
        return None
    cost, ladder = found
    left = chosen.left_out
    assert isinstance(left, LeftOut)
    ramps = 0 if chosen.features.ramps_ is None else len(chosen.features.ramps_.column)
    assert isinstance(chosen.target, NumberTarget)
    return SelectedStart(
        chosen.features,
        chosen.target,
        ladder,
        np.arange(len(chosen.features.feature_names_out_) - ramps),
        chosen.rows,
        chosen.compared,
        torch.from_numpy((1 + cost) * left.shrink * left.errors) / chosen.target.scale,
    )


def small_ladder(chosen: Chosen, table: Table, seed: int) -> tuple[float, LadderPolynomial] | None:
    """One ladder that says what was chosen, with the share of the error that it loses; None where none is close."""
    if chosen.selection.floor and len(chosen.members) == 1:
        return 0.0, chosen.members[0]  # a line or a constant, as small as can be
    rows = len(table)
    some = table if rows <= TAUGHT_ROWS else table.take(np.linspace(0, rows - 1, TAUGHT_ROWS).astype(np.intp))
    features = chosen.features
    teacher = Teacher(
        chosen.members,
        some,
        as_rows(features.transform_table(some)),
        features.transform_table,
        chosen.target.guarded,
        chosen.target.loss,
        chosen.selection.error,
    )
    found = compacted(teacher, tolerance=CLOSE, trying=FORMS, size=MOST_WEIGHTS, seed=seed)
    if found.ladder is not None and found.cost <= MOST_COST:
        return found.cost, found.ladder
    if len(chosen.members) == 1 and chosen.members.n_weights <= MOST_WEIGHTS:
        return 0.0, chosen.members[0]
    return None


def with_selected(
    sampled: Posterior, start: SelectedStart, degrees: tuple[float, ...], heteroscedastic: bool, seed: int
) -> Posterior:
    """A posterior of as many draws, half of them of sampled ladders and half of the selected one.

    Draws of the selected ladder differ in their readout and their noise. Of the sampled ladders every other draw of
    each chain is kept.

    Args:
        sampled: over the inputs ``start.columns``.
        start: what was selected.
        degrees: degrees of freedom of the noise to choose among.
        heteroscedastic: whether the noise may depend on the inputs.
        seed: of the draws.
    """
    every = len(sampled.weights) // sampled.chains
    position = torch.arange(len(sampled.weights))
    kept = (position % every) % 2 == 0
    taught = selected_draws(start, degrees, heteroscedastic, sampled.chains, every // 2, seed)
    inputs = start.ladder.in_features
    own = placed(sampled.weights.map(lambda t: t[kept]), start.columns, inputs)
    depth = max(len(own.W), len(taught.weights.W))
    pair = [lengthen(each, depth) for each in (own, taught.weights)]
    hidden = [max(widths) for widths in zip(*(each.hidden for each in pair), strict=True)]
    undrawn = [t.new_full((len(taught.weights), t.shape[1]), torch.inf) for t in sampled.precision]
    return Posterior(
        combine(torch.cat, [padded(each, hidden) for each in pair]),
        torch.cat([sampled.noise[kept], taught.noise]),
        torch.cat([sampled.degrees[kept], taught.degrees]),
        torch.cat([spread(sampled.slopes[kept], start.columns, inputs), taught.slopes]),
        tuple(torch.cat([t[kept], fixed]) for t, fixed in zip(sampled.precision, undrawn, strict=True)),
        sampled.chains,
    )


def selected_draws(
    start: SelectedStart, degrees: tuple[float, ...], heteroscedastic: bool, chains: int, draws: int, seed: int
) -> Posterior:
    """Draws of the selected ladder: of its readout and of the noise, its layers fixed."""
    ladder, rows, compared = start.ladder, start.rows, start.compared
    columns = torch.from_numpy(start.columns)

    def noise_features(z: Tensor) -> Tensor:
        return noise_columns(z[:, columns]) if heteroscedastic else z.new_zeros(len(z), 0)

    def counts(some: TrainingRows) -> Tensor:
        return some.z.new_ones(len(some.z)) if some.weight is None else some.weight

    single = ladder.map(lambda t: t.unsqueeze(0))
    last = states(single, rows.z)[0, :, :-1]
    found = sample_readout(
        ReadoutRows(last, rows.y, noise_features(rows.z), counts(rows)),
        UnseenErrors(start.errors, noise_features(compared.z), counts(compared)),
        torch.cat([ladder.readout, ladder.offset.unsqueeze(-1)], -1),
        degrees=degrees,
        chains=chains,
        warmup=READOUT_WARMUP,
        draws=draws,
        seed=seed,
    )
    readout = chain_by_chain(found.readout)
    every = single.map(lambda t: t.expand(len(readout), *t.shape[1:]))
    return Posterior(
        replace(every, readout=readout[..., :-1], offset=readout[..., -1]),
        chain_by_chain(found.noise),
        chain_by_chain(found.degrees),
        spread(chain_by_chain(found.slopes), start.columns, ladder.in_features),
        (),
        chains,
    )


def spread(slopes: Tensor, columns: NDArray[np.intp], inputs: int) -> Tensor:
    """Slopes of the noise on some inputs and their squares as those on all, the others being zero. (draws, m, 2 d)."""
    if not slopes.shape[-1]:
        return slopes
    wide = slopes.new_zeros(*slopes.shape[:-1], 2 * inputs)
    positions = torch.from_numpy(columns)
    wide[..., torch.cat([positions, inputs + positions])] = slopes
    return wide
