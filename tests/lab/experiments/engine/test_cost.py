import pytest

from polyladder_lab.experiments.engine.cost import cost_left, expected_work, pace
from polyladder_lab.experiments.engine.plan import final_groups, selection_groups
from tests.lab.experiments.small import TEXT, small


def compared(d, seconds=None):
    """Rows of all settings that are compared, each with the seconds that its work is counted with, times a factor."""
    groups = selection_groups(d, d.columns[0], {})
    return {
        each.key: {"folds": [1.0]} | ({} if seconds is None else {"seconds": seconds * each.cost})
        for group in groups
        for each in group
    }


def test_the_cost_falls_to_zero():
    d = small()
    done = compared(d)
    assert 0 < cost_left(d, done) < cost_left(d, {})
    done |= {each.key: {"value": 1.0} for group in final_groups(d, d.columns[0], done) for each in group}
    assert cost_left(d, done) == pytest.approx(0.0)


def test_what_is_left_goes_at_the_pace_of_what_was_measured():
    d = small()
    unmeasured, measured = compared(d), compared(d, 7.0)
    model = d.models[0]
    assert pace(d, model, {}) == pace(d, model, unmeasured) == 1.0
    assert pace(d, model, measured) == pytest.approx(7.0)
    left = expected_work(d, d.columns[0], measured)
    # FM has no settings to compare, so nothing of it was measured.
    assert cost_left(d, measured) == pytest.approx(7 * (left["FFR"] + left["LPNN"]) + left["FM"])
    assert left == expected_work(d, d.columns[0], unmeasured)


def test_data_that_may_not_be_had_cost_nothing():
    assert cost_left(small(TEXT.replace("settings = 3", 'settings = 3\nunavailable = "no data"')), {}) == 0


def test_later_rounds_are_counted_before_it_is_known_who_is_in_them():
    once = small(TEXT.replace("settings = 3\n", ""))
    d = small(TEXT.replace("settings = 3\n", "rungs = [{ epochs = 2, keep = 2 }, { epochs = 20 }]\n"))
    column = d.columns[0]
    more = expected_work(d, column, {})["LPNN"] - expected_work(once, once.columns[0], {})["LPNN"]
    rows = compared(d)
    second = [each for g in selection_groups(d, column, rows, rung=1) for each in g if each.model == "LPNN"]
    assert more == pytest.approx(sum(each.cost for each in second))
    rows |= {each.key: {"folds": [1.0]} for g in selection_groups(d, column, rows, rung=1) for each in g}
    rows |= {each.key: {"value": 1.0} for g in final_groups(d, column, rows) for each in g}
    assert cost_left(d, rows) == pytest.approx(0.0)
