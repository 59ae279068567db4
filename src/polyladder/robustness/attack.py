"""The worst input near a row, found by exact steps, with a proof of how much worse another could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.renamed import renamed
from polyladder.robustness.certificate import check_region, check_seconds, single
from polyladder.robustness.feasible import Feasible, Rules
from polyladder.robustness.region import Norm
from polyladder.robustness.surface import Surface
from polyladder.robustness.table_attack import Columns, attack_rows
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import read_estimator
from polyladder.robustness.worst import Attack, Goal, aim_at, proven, strongest
from polyladder.training.threads import small_on_one_thread


@renamed("norm", p="model", budget="max_seconds")
@small_on_one_thread
def attack(
    model: LadderPolynomial | Any,
    x: Tensor | Any,
    y: Any,
    radius: float | Tensor | Mapping[str, float],
    *,
    norm: Norm = "inf",
    goal: Goal | None = None,
    within: float | None = None,
    rules: Rules | None = None,
    frozen: Sequence[str] = (),
    integer: Sequence[str] = (),
    changing: Sequence[str] = (),
    restarts: int = 4,
    rounds: int = 20,
    certificate: bool = True,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Attack:
    """The input within a radius of each row that is worst for a ladder or a fitted estimator.

    Every step goes to the highest point along its direction, which is known exactly (`line_polynomial`): toward the
    corner that the gradient points to, along the gradient, along single inputs. Starts are the row and random corners.

    Args:
        model: a single ladder, or a fitted estimator with one polynomial behind it.
        x: rows. Shape (n, d), or rows of the estimator's table.
        y: whole numbers of shape (n,) are classes; other numbers, shape (n,) or (n, 1), are targets. Of an estimator,
            its labels or numbers.
        radius: one number, or for boxes one for each input, (d,) or (n, d). For an estimator, one number is a part of
            each column's training range; a mapping from names of columns is in their own units.
        norm: "inf" for boxes, 2 for Euclidean balls.
        goal: "margin" for classes; "up" (f - y), "down" (y - f) or "away" (the larger of both) for numbers. None:
            "margin" for classes, else "away".
        within: how far from y a number may go before the attack counts as a success.
        rules: inputs of a ladder that are frozen, whole numbers, one-hot groups or held to linear constraints. Every
            row must keep to them.
        frozen: columns of an estimator that never change.
        integer: columns of an estimator that hold whole numbers.
        changing: columns of categories that may change; others stay.
        restarts: starts for each row.
        rounds: of steps from each start, at most.
        certificate: whether to prove a bound as well.
        max_seconds: for making that bound tight by splitting; None for no splitting.
        seed: of the random starts.

    Returns:
        The worst input, its value, whether it is a success, and the proven bound.

    Example:
        >>> import torch
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> found = attack(square, torch.tensor([[1.0]]), torch.tensor([1.0]), 0.5)
        >>> found.x, found.value
        (tensor([[1.5000]]), tensor([1.2500], dtype=torch.float64))
    """
    check_seconds(max_seconds)
    if not isinstance(model, LadderPolynomial):
        if rules is not None:
            raise ValueError("rules belong to a ladder; give an estimator's columns as frozen, integer and changing.")
        boxes = TableBoxes.around(read_estimator(model), x, radius, norm)
        columns = Columns(frozen, integer, changing)
        return attack_rows(boxes, y, columns, goal, within, restarts, rounds, certificate, max_seconds, seed)
    if frozen or integer or changing:
        raise ValueError("frozen, integer and changing name columns of an estimator; give a ladder's inputs as rules.")
    polynomial, rules = single(model), rules or Rules()
    rules.check(polynomial.in_features, norm)
    region = check_region(polynomial, x, radius, norm)
    if len(region):
        polynomial = rescaled(polynomial, region.farthest)
    aim = aim_at(polynomial, y, len(region), goal)
    feasible = Feasible(region, rules)
    if not bool(feasible.allows(region.center).all()):
        wrong = int((~feasible.allows(region.center)).nonzero()[0]) + 1
        raise ValueError(f"x must satisfy the rules; row {wrong} does not. Leave it out or loosen the constraints.")
    worst, evaluations = strongest(Surface.of(polynomial), feasible, aim, region.center, restarts, rounds, seed)
    found = feasible.rounded(worst, model.dtype)
    outputs = polynomial(found)
    # Another class than the one that was aimed at may have come out on top.
    value, clean = aim.value(outputs), aim.value(polynomial(region.center))
    bound = proven(polynomial, feasible, aim, found, max_seconds) if certificate else None
    return Attack(found.to(model.dtype), outputs, value, aim.success(value, clean, within), bound, evaluations)
