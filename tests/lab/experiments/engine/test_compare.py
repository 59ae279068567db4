import math

import numpy as np
import pytest
from scipy import stats

from polyladder_lab.experiments.engine.compare import (
    Cell,
    beside_published,
    best_of,
    compare,
    paired_p,
    significantly_better,
)
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.engine.scores import packed
from tests.lab.experiments.small import TEXT, filled, small


def cell(values, rows=None):
    return Cell(dict(enumerate(values)), {}, len(values), rows or {}, None, 20)


def classes(wrong):
    """A cell of one split in which these test rows are wrong."""
    wrong = np.asarray(wrong, dtype=bool)
    row = {"rows": len(wrong), "wrong": packed(wrong)}
    return cell([float(wrong.mean())], rows={0: row})


random = np.random.default_rng(0)


def test_paired_t_over_splits_is_scipys():
    a, b = random.normal(size=(2, 12))
    assert paired_p(cell(a), cell(b)) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-10)


def test_paired_t_over_test_rows_where_there_is_one_split():
    a, b = random.random((2, 300)) < 0.2
    assert paired_p(classes(a), classes(b)) == pytest.approx(
        stats.ttest_rel(a.astype(float), b.astype(float)).pvalue, rel=1e-10
    )


def test_only_common_splits_are_paired():
    a, b = random.normal(size=(2, 8))
    fewer = Cell({k: b[k] for k in (1, 3, 4, 6)}, {}, 8, {}, None, 20)
    assert paired_p(cell(a), fewer) == pytest.approx(stats.ttest_rel(a[[1, 3, 4, 6]], b[[1, 3, 4, 6]]).pvalue)
    assert paired_p(cell([1.0]), cell([2.0])) is None


def test_equal_models_are_not_told_apart_and_a_constant_difference_is():
    assert paired_p(cell([1.0, 2.0]), cell([1.0, 2.0])) == 1.0
    assert significantly_better(cell([1.0, 2.0]), cell([2.0, 3.0]))
    assert not significantly_better(cell([2.0, 3.0]), cell([1.0, 2.0]))


def test_a_model_that_blew_up_is_beaten_by_the_sign_test():
    good = cell([1.0] * 6)
    assert paired_p(good, cell([math.inf] * 6)) == pytest.approx(2 * 0.5**6)
    assert significantly_better(good, cell([math.inf] * 6))
    assert not significantly_better(good, cell([math.inf, *[0.5] * 5]))


def test_our_own_recipes_do_not_compete_for_bold_print():
    text = TEXT.replace('metric = "rmse"', 'metric = "rmse"\ncompare = "rows"')
    ours = text.replace('name = "FFR"', 'name = "FFR"\nours = true')
    for source, expected in ((text, "FFR"), (ours, "FM")):
        d = small(source)
        assert compare(d, filled(d)).bold == {("diabetes", expected)}


def test_the_best_and_all_that_tie_with_it():
    base = random.normal(5, 1, size=20)
    noise = random.normal(0, 0.1, size=20)
    cells = {"a": cell(base), "b": cell(base + noise - noise.mean() + 0.001), "c": cell(base + 1 + noise)}
    assert best_of(cells) == ["a", "b"]
    assert best_of({"a": cells["a"]}) == []


def test_intervals_are_students_or_wilsons():
    values = random.normal(size=9)
    low, high = cell(values).interval
    expected = stats.t.interval(0.95, 8, values.mean(), stats.sem(values))
    assert (low, high) == pytest.approx(expected, rel=1e-9)
    wrong = random.random(400) < 0.1
    expected = stats.binomtest(int(wrong.sum()), 400).proportion_ci(0.95, "wilson")
    assert classes(wrong).interval == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert all(math.isnan(v) for v in cell([1.0]).interval)


def test_mean_and_deviation():
    assert cell([1.0, 3.0]).mean == 2.0
    assert cell([1.0, 3.0]).deviation == pytest.approx(math.sqrt(2))
    assert math.isnan(cell([]).mean)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_better_and_worse_than_the_paper_need_the_same_distance(side):
    values, word = [1.0, 3.0] * 10, {-1.0: "worse", 1.0: "better"}[side]
    error = math.sqrt(np.var(values, ddof=1) / 20 + 0.5**2 / 20)
    assert beside_published(cell(values), (2.0 + side * 1.9 * error, 0.5)) == "as good"
    assert beside_published(cell(values), (2.0 + side * 2.1 * error, 0.5)) == word
    # Without a published deviation only ours is known.
    error = math.sqrt(np.var(values, ddof=1) / 20)
    assert beside_published(cell(values), (2.0 + side * 1.9 * error, None)) == "as good"
    assert beside_published(cell(values), (2.0 + side * 2.1 * error, None)) == word


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_shares_of_wrong_rows_beside_the_paper_are_judged_alike_on_both_sides(side):
    ours = classes(np.arange(1000) < 100)
    error = math.sqrt(2 * 0.1 * 0.9 / 1000)
    assert beside_published(ours, (0.1 + side * 1.8 * error, None)) == "as good"
    assert beside_published(ours, (0.1 + side * 2.3 * error, None)) == {-1.0: "worse", 1.0: "better"}[side]


def test_what_cannot_be_judged_beside_the_paper_is_not():
    assert beside_published(cell([1.0, 2.0]), None) == ""
    assert beside_published(cell([]), (1.0, 0.1)) == ""
    assert beside_published(cell([1.0]), (2.0, 0.1)) == ""
    assert beside_published(cell([1.0, math.inf]), (2.0, 0.1)) == "worse"


def test_a_table_is_gathered_from_the_settings_that_were_chosen():
    d = small(TEXT.replace("settings = 3", "settings = 2"))
    rows, column = {}, d.columns[0]
    for model in d.models:
        for k, setting in enumerate(d.settings(model, column)):
            for split in range(3):
                key = measurement(d, column, model, setting, split, d.selection).key
                rows[key] = {"folds": [2.0 - k if split else float(k)]}
                # The better setting on held-out rows is not always the better one on test rows.
                value = {"FFR": 60.0, "FM": 59.0, "LPNN": 50.0}[model.name] + split + 5 * k
                rows[measurement(d, column, model, setting, split, None).key] = {"value": value}
    comparison = compare(d, rows)
    lpnn = comparison.cells["diabetes", "LPNN"]
    assert lpnn.values == {0: 50.0, 1: 56.0, 2: 57.0}
    assert lpnn.complete
    # FM has one setting; the difference to it is -9, -4, -4 and not significant at three splits.
    assert comparison.bold == {("diabetes", "LPNN"), ("diabetes", "FM")}
    assert comparison.underlined == {("diabetes", "LPNN")}
    assert compare(d, {}).cells["diabetes", "LPNN"].values == {}


def test_a_model_without_the_metric_is_neither_lacking_nor_blown_up():
    d = small(TEXT.replace("settings = 3", "settings = 1"))
    rows, column, model = {}, d.columns[0], d.models[1]
    for split in range(3):
        row = {"value": None, "undefined": "rmse", "worst": 3.0}
        rows[measurement(d, column, model, d.settings(model, column)[0], split, None).key] = row
    found = compare(d, rows).cells["diabetes", model.name]
    assert found.values == {}
    assert found.complete
    assert len(found.rows) == 3
    blown = compare(d, {key: {"value": None} for key in rows}).cells["diabetes", model.name]
    assert blown.values == dict.fromkeys(range(3), math.inf)
