import math

import pytest

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.cost import cost_left
from polyladder_lab.experiments.engine.declare import combinations, declared, results_folder
from polyladder_lab.experiments.engine.plan import choice, final_groups, measurement, selection_groups
from polyladder_lab.experiments.engine.searched import best, tried
from polyladder_lab.experiments.engine.store import Store
from tests.lab.experiments.small import TEXT, small

SEARCH = TEXT.replace('metric = "rmse"', 'metric = "rmse"\ncompare = "settings"')


def rows_of(d, errors):
    """Rows for the settings of the first model, one list of errors over splits per setting."""
    rows = {}
    for setting, own in zip(d.settings(d.models[0], d.columns[0]), errors, strict=True):
        for split, error in enumerate(own):
            key = measurement(d, d.columns[0], d.models[0], setting, split, d.selection).key
            rows[key] = {"key": key, "folds": [error, error + 2.0]}
    return rows


def test_the_best_setting_has_the_lowest_mean_over_splits():
    d = small(SEARCH)
    # The last setting wins two of three splits, the second one on average.
    rows = rows_of(d, [[5.0, 5.0, 5.0], [3.0, 3.0, 3.0], [2.0, 2.0, 9.0]])
    found = tried(d, d.columns[0], d.models[0], rows)
    assert [each.mean for each in found] == pytest.approx([6.0, 4.0, 4.0 + 4 / 3])
    assert best(found).setting == d.settings(d.models[0], d.columns[0])[1]
    cell = compare(d, rows).cells["diabetes", "FFR"]
    assert cell.complete
    assert list(cell.values.values()) == [4.0, 4.0, 4.0]


def test_what_blew_up_or_was_not_measured_is_not_chosen():
    d = small(SEARCH)
    rows = rows_of(d, [[math.inf, 1.0, 1.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0]])
    assert best(tried(d, d.columns[0], d.models[0], rows)).mean == 4.0
    rows.popitem()
    assert not compare(d, rows).cells["diabetes", "FFR"].complete
    assert compare(d, {}).cells["diabetes", "FFR"].values == {}


def test_a_search_never_looks_at_test_rows():
    d = small(SEARCH)
    done = {m.key: {"folds": [1.0]} for group in selection_groups(d, d.columns[0], {}) for m in group}
    assert list(final_groups(d, d.columns[0], done)) == []
    assert cost_left(d, done) == 0


def stored(name):
    """A declaration of the paper and its rows."""
    return declared(name), Store(results_folder(name)).rows(name)


def places(search, table):
    """For every cell of a search its column and model there, and those of the same names in the table."""
    columns = {column.label: column for column in table.columns}
    models = {model.name: model for model in table.models}
    for column in search.columns:
        for model in search.models:
            yield column, model, columns[column.label], models[model.name]


@pytest.mark.parametrize(
    ("search", "table"),
    [
        ("search_covtype", "table_3"),
        ("search_depth", "table_4"),
        ("search_epochs", "table_2"),
        ("search_length", "table_3"),
    ],
)
def test_last_fits_use_what_searches_chose(search, table):
    (s, rows), d = stored(search), declared(table)
    for column, model, place, own in places(s, d):
        used = d.options(own, place)
        assert used | best(tried(s, column, model, rows)).setting == used, f"{model.name} in {column.label}"


def test_table_3_compares_settings_at_the_rate_and_batch_size_that_were_searched():
    (s, rows), d = stored("search_rates"), declared("table_3")
    for column, model, place, own in places(s, d):
        used = measurement(d, place, own, d.settings(own, place)[0], 0, d.selection, place.rungs[0]).options
        assert used | best(tried(s, column, model, rows)).setting == used, f"{model.name} in {column.label}"


def test_lengths_are_searched_with_the_settings_that_table_3_chose():
    s, (d, rows) = declared("search_length"), stored("table_3")
    for column, model, place, own in places(s, d):
        chosen, used = choice(d, place, own, 0, rows), s.options(model, column)
        assert chosen is not None
        trained = {name: value for name, value in d.options(own, place).items() if name != "epochs"}
        assert used | trained | chosen == used, f"{model.name} in {column.label}"


def test_epochs_are_searched_with_the_settings_that_table_2_chose_most_often():
    s, (d, rows) = declared("search_epochs"), stored("table_2")
    for column, model, place, own in places(s, d):
        chosen = [choice(d, place, own, split, rows) for split in d.splits_of(own, place)]
        often = max(combinations(own.grid), key=chosen.count)  # of equals the first
        used = s.options(model, column)
        assert used | often == used, f"{model.name} in {column.label}"


def test_table_2_uses_the_learning_rates_of_the_lowest_product():
    s, d = declared("learning_rates"), declared("table_2")
    rows = Store(results_folder(s.name)).rows(s.name)
    rates = {model.name: model.options["learning_rate"] for model in d.models if model.runner == "network"}
    assert d.network["batch_size"] == 128
    for model in s.models:
        products: dict[float, float] = {}
        for column in s.columns:
            for each in tried(s, column, model, rows):
                if each.setting["batch_size"] == 128:
                    rate = each.setting["learning_rate"]
                    products[rate] = products.get(rate, 1.0) * each.mean
        assert min(products, key=products.__getitem__) == rates[model.name]
