import math

import numpy as np
import pytest
import torch

from polyladder.predictive.conformal import (
    Calibrated,
    Thresholds,
    class_scores,
    class_thresholds,
    conformal_widths,
    grouped_widths,
)
from tests.ladders import rows

LEVELS = (0.05, 0.07, 0.1, 0.5, 0.9, 0.95, 0.99)


def test_widths_are_the_scores_of_their_ranks() -> None:
    scores = torch.tensor([[5.0], [-1.0], [4.0], [2.0], [3.0], [3.0], [9.0], [6.0], [7.0]]).double()
    found = conformal_widths(scores, LEVELS)
    # Of nine rows no interval is known to hold more than nine tenths.
    torch.testing.assert_close(found.levels, torch.tensor(LEVELS[:5]).double())
    torch.testing.assert_close(found.widths[:, 0], torch.tensor([1.0, 1, 1, 4, 9]).double())
    torch.testing.assert_close(conformal_widths(scores.expand(9, 2), LEVELS).widths[:, 1], found.widths[:, 0])


def test_ranks_are_not_moved_by_rounding() -> None:
    """100 times 0.07 is a little more than 7 in floating point, which is no reason to take the eighth."""
    scores = torch.arange(1.0, 100).double().unsqueeze(1)
    assert conformal_widths(scores, [0.07, 0.29, 0.99]).widths[:, 0].tolist() == [7, 29, 99]


def test_intervals_of_rows_left_out_hold_at_least_their_level() -> None:
    """Over many sets of exchangeable scores the share that a new one keeps within is k / (n + 1)."""
    n, repeats = 19, 4000
    scores = rows(n + 1, repeats).abs()
    for level, rank in ((0.5, 10), (0.87, 18), (0.95, 19)):
        inside = (scores[-1] <= conformal_widths(scores[:-1], [level]).widths[0]).double()
        stated = rank / (n + 1)
        assert stated >= level
        assert abs(inside.mean() - stated) < 4 * math.sqrt(stated * (1 - stated) / repeats)


def test_groups_are_calibrated_by_themselves() -> None:
    scores, groups = rows(60, 2), np.repeat(["a", "b", "few"], [30, 28, 2])
    found = grouped_widths(scores, groups, [0.8, 0.9, 0.965])
    assert list(found) == ["a", "b"]
    for label, levels in (("a", 3), ("b", 3)):
        alone = conformal_widths(scores[torch.from_numpy(groups == label)], [0.8, 0.9, 0.965])
        assert len(found[label].levels) == levels
        torch.testing.assert_close(found[label].widths, alone.widths)
    with pytest.raises(ValueError, match=r"groups must have shape \(60,\); got shape \(3,\)"):
        grouped_widths(scores, groups[:3], [0.8])


def test_class_scores_count_what_is_more_probable() -> None:
    p = torch.tensor([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.2, 0.7]], dtype=torch.float64)
    each = [class_scores(p, torch.full((3,), c)) for c in range(3)]
    expected = torch.tensor([[0.0, 0.5, 0.8], [0.0, 0.4, 0.8], [0.9, 0.7, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(torch.stack(each, 1), expected)


def test_thresholds_are_ranks_too_and_hold_everything_above() -> None:
    found = class_thresholds(torch.tensor([0.4, 0.9, 0.6, 0.8], dtype=torch.float64), [0.2, 0.6, 0.8, 0.9])
    assert found.scores.tolist() == [0.4, 0.8, 0.9]
    assert [found.at(level) for level in (0.1, 0.2, 0.7, 0.8, 0.81)] == pytest.approx([0.4, 0.4, 0.85, 0.9, math.inf])


@pytest.mark.parametrize(
    ("scores", "levels", "message"),
    [
        (torch.ones(3), [0.5], r"scores must have shape \(n, m\), n at least 1; got shape \(3,\)"),
        (torch.ones(0, 1), [0.5], "n at least 1"),
        (torch.ones(3, 1), [], "levels must have shape"),
        (torch.ones(3, 1), [0.5, 1.0], "levels must be between 0 and 1; got 1.0"),
        (torch.ones(3, 1), [0.6, 0.5], "levels must ascend"),
        (torch.ones(3, 1), [0.8], r"levels must be at most n / \(n \+ 1\) = 0.75 for 3 scores; got 0.8 and higher"),
        (torch.tensor([[math.nan], [1.0]]), [0.5], "scores must be finite"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(scores: torch.Tensor, levels: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conformal_widths(scores, levels)


def test_parts_that_do_not_fit_are_refused() -> None:
    two = torch.tensor([0.5, 0.9]).double()
    with pytest.raises(ValueError, match=r"widths must have shape \(2, m\) or \(2, n, m\); got shape \(2,\)"):
        Calibrated(two, torch.ones(2))
    with pytest.raises(ValueError, match="widths must be finite, at least 0 and never fall"):
        Calibrated(two, torch.tensor([[2.0], [1.0]]))
    with pytest.raises(ValueError, match=r"scores must have shape \(2,\), as levels have"):
        Thresholds(two, torch.ones(2, 1))
    with pytest.raises(ValueError, match=r"scores must have shape \(n,\)"):
        class_thresholds(torch.ones(2, 1), [0.5])
