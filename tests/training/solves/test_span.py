"""More inputs than rows: solved in the span of the rows, to the same minimizer."""

import pytest
import torch

from polyladder import fit_alternating
from polyladder.training.solves.alternating import random_start
from polyladder.training.solves.span import row_span, turned
from tests.ladders import random_ladder, rows


def test_only_more_inputs_than_rows_have_a_span() -> None:
    assert row_span(rows(5, 5)) is None
    x = rows(4, 7)
    span = row_span(x)
    assert span is not None
    torch.testing.assert_close(span.mT @ span, torch.eye(4, dtype=torch.float64))
    torch.testing.assert_close(x @ span @ span.mT, x)


@pytest.mark.parametrize("hidden", [(), (3,), (3, 2)])
def test_a_turned_ladder_is_the_same_on_the_rows(hidden: tuple[int, ...]) -> None:
    p, x = random_ladder(7, hidden, 2), rows(4, 7)
    span = row_span(x)
    assert span is not None
    inside = turned(p, span)
    assert inside.in_features == 4
    torch.testing.assert_close(inside(x @ span), p(x))
    torch.testing.assert_close(turned(inside, span.mT)(x), p(x))


def test_a_fit_in_the_span_is_the_fit_itself() -> None:
    """The same fit with so many rows of no weight that inputs do not outnumber the rows."""
    x, y = rows(8, 12), rows(8, 1)
    start = random_start(12, (3, 3), 1, [0], 1)
    options = {"alpha": 0.01, "sweeps": 5, "tolerance": 0.0}
    short = fit_alternating(start, x, y, **options)
    weight = torch.cat([torch.ones(8), torch.zeros(9)]).double()
    more = torch.cat([x, rows(9, 12, seed=2)]), torch.cat([y, rows(9, 1, seed=3)])
    full = fit_alternating(start, *more, sample_weight=weight, **options)
    new = rows(20, 12)
    torch.testing.assert_close(short.polynomial(new), full.polynomial(new), rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(short.training_loss, full.training_loss, rtol=1e-6, atol=1e-10)
