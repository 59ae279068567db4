import hashlib
import json
from pathlib import Path

import pytest

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, names, results_folder
from polyladder_lab.experiments.engine.plan import choice, final_groups, measurement, selection_groups
from polyladder_lab.experiments.engine.store import Store
from tests.lab.experiments.small import TEXT, small


def stored(d, scores):
    """Rows in which each setting of LPNN has a score on every split."""
    model, column = d.models[2], d.columns[0]
    rows = {}
    for setting, score in zip(d.settings(model, column), scores, strict=True):
        for split in range(column.splits):
            rows[measurement(d, column, model, setting, split, d.selection).key] = {"folds": score}
    return rows


def keys(groups):
    return [[each.key for each in group] for group in groups]


def test_groups_hold_tasks_of_equal_shape_and_all_settings():
    d = small()
    groups = list(selection_groups(d, d.columns[0], {}))
    assert all(len({each.shape for each in group}) == 1 for group in groups)
    # Two networks, three splits, three settings two at a time.
    assert [len(group) for group in groups] == [2, 1] * 6
    assert {each.fits for group in groups for each in group} == {3}


def test_what_changes_the_architecture_is_another_group():
    text = TEXT.replace("dropout = [0.0, 0.2]", "hidden = [[3], [5]]").replace("settings = 3\n", "")
    d = small(text.replace("settings_at_once = 2", "settings_at_once = 4"))
    first = next(selection_groups(d, d.columns[0], {}))
    assert len(first) == 2
    assert {tuple(each.options["hidden"]) for each in first} == {(3,)}


def test_a_key_depends_on_everything_that_matters():
    d = small()
    base = measurement(d, d.columns[0], d.models[2], {"l2": 1e-6}, 0, None)
    same = measurement(small(), d.columns[0], d.models[2], {"l2": 1e-6}, 0, None)
    assert base.key == same.key
    assert base.seed == same.seed
    others = [
        measurement(d, d.columns[0], d.models[2], {"l2": 1e-5}, 0, None),
        measurement(d, d.columns[0], d.models[2], {"l2": 1e-6}, 1, None),
        measurement(d, d.columns[0], d.models[2], {"l2": 1e-6}, 0, d.selection),
        measurement(d, d.columns[0], d.models[0], {"l2": 1e-6}, 0, None),
        measurement(small(TEXT.replace("epochs = 2", "epochs = 3")), d.columns[0], d.models[2], {"l2": 1e-6}, 0, None),
        measurement(small(TEXT.replace("test = 0.3", "test = 0.2")), d.columns[0], d.models[2], {"l2": 1e-6}, 0, None),
    ]
    assert len({base.key, *(other.key for other in others)}) == 7


def test_a_title_or_a_published_figure_does_not_change_a_key():
    other = small(TEXT.replace("A small table", "Another").replace("55.0", "56.0").replace("splits = 3", "splits = 9"))
    d = small()
    assert keys(selection_groups(d, d.columns[0], {})) == [
        group
        for group, own in zip(
            keys(selection_groups(other, other.columns[0], {})),
            selection_groups(other, other.columns[0], {}),
            strict=True,
        )
        if own[0].split < 3
    ]


def test_groups_do_not_depend_on_what_is_done():
    d = small()
    groups = list(selection_groups(d, d.columns[0], {}))
    some = {groups[0][0].key: {}, **{each.key: {} for each in groups[1]}}
    left = list(selection_groups(d, d.columns[0], some))
    # Half a group is run again as a whole; a finished one is not.
    assert keys(left) == keys([groups[0], *groups[2:]])


def test_the_setting_with_the_lowest_mean_is_chosen_and_a_failed_fold_counts_as_worst():
    d = small()
    settings = d.settings(d.models[2], d.columns[0])
    rows = stored(d, [[3.0, 1.0, 2.0], [1.5, 1.0, 2.0], [0.1, 0.1, None]])
    assert choice(d, d.columns[0], d.models[2], 1, rows) == settings[1]
    assert choice(d, d.columns[0], d.models[0], 1, rows) is None


HALVED = TEXT.replace("settings = 3\n", "rungs = [{ epochs = 1, keep = 2 }, { epochs = 5 }]\n")


def halved_rows(d, rung, errors):
    """Rows of one round, for the settings of LPNN that have an error there, on the first split."""
    model, column = d.models[2], d.columns[0]
    settings = d.settings(model, column)
    return {
        measurement(d, column, model, settings[i], 0, d.selection, column.rungs[rung]).key: {"folds": [error]}
        for i, error in errors.items()
    }


def test_the_best_of_a_round_go_on_to_the_next():
    d = small(HALVED)
    model, column = d.models[2], d.columns[0]
    settings = d.settings(model, column)
    assert {each.options["epochs"] for g in selection_groups(d, column, {}) for each in g} == {1}
    assert not list(selection_groups(d, column, {}, rung=1))  # nobody knows who goes on
    rows = halved_rows(d, 0, {0: 3.0, 1: 1.0, 2: None, 3: 2.0})
    second = [each for group in selection_groups(d, column, rows, rung=1) for each in group]
    assert [each.setting for each in second] == [settings[1], settings[3]]
    assert {(each.options["epochs"], each.split) for each in second} == {(5, 0)}
    assert choice(d, column, model, 0, rows) is None
    rows |= halved_rows(d, 1, {1: 0.5, 3: 0.4})
    assert choice(d, column, model, 0, rows) == settings[3]
    (last,) = (each for g in final_groups(d, column, rows) for each in g if each.model == "LPNN")
    assert (last.setting, last.options["epochs"]) == (settings[3], 2)  # the rounds' epochs end with them


def test_a_round_that_keeps_all_is_no_round():
    d = small(HALVED.replace("rungs", "settings = 2\nrungs"))
    model, column = d.models[2], d.columns[0]
    assert not list(selection_groups(d, column, {}))
    assert {each.options["epochs"] for g in selection_groups(d, column, {}, rung=1) for each in g} == {5}
    first, second = (halved_rows(d, 1, {0: own, 1: 1.0}) for own in (0.5, 2.0))
    assert choice(d, column, model, 0, first) == d.settings(model, column)[0]
    assert choice(d, column, model, 0, second) == d.settings(model, column)[1]


def test_a_round_of_one_setting_is_no_round():
    d = small(HALVED.replace("rungs", "settings = 1\nrungs"))
    assert not list(selection_groups(d, d.columns[0], {}))
    assert choice(d, d.columns[0], d.models[2], 0, {}) == d.settings(d.models[2], d.columns[0])[0]


def test_last_fits_wait_for_the_choice_and_share_a_program_across_splits():
    d = small()
    rows = stored(d, [[3.0] * 3, [1.0] * 3, [2.0] * 3])
    groups = list(final_groups(d, d.columns[0], rows))
    assert [(group[0].model, [each.split for each in group]) for group in groups] == [
        ("FM", [0, 1]),
        ("FM", [2]),
        ("LPNN", [0, 1]),
        ("LPNN", [2]),
    ]
    assert groups[2][0].setting == d.settings(d.models[2], d.columns[0])[1]


BENCHMARKS = {"regression": 914, "bayesian": 165, "five_models": 320, "rivals": 400, "bayesian_rivals": 74}


def planned_keys(d):
    """The keys of everything that a declaration may come to measure."""
    for column in d.columns:
        for model in d.models:
            for setting in d.settings(model, column):
                for split in d.splits_of(model, column):
                    yield measurement(d, column, model, setting, split, None).key
                    yield from (measurement(d, column, model, setting, split, d.selection, r).key for r in column.rungs)


@pytest.mark.parametrize(("name", "count"), BENCHMARKS.items())
def test_committed_rows_are_found_by_what_is_declared(name, count):
    name = str(Path(__file__).parents[4] / "benchmarks" / f"{name}.toml")
    d = declared(name)
    assert len(set(planned_keys(d)) & Store(results_folder(name)).rows(d.name).keys()) == count


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_the_papers_store_holds_all_that_is_declared_and_nothing_else(name):
    d = declared(name)
    rows = Store(results_folder(name)).rows(name)
    assert rows.keys() <= set(planned_keys(d))
    lacking = [place for place, cell in compare(d, rows).cells.items() if not cell.complete]
    unavailable = {column.label for column in d.columns if column.unavailable}
    assert {column for column, _ in lacking} <= unavailable


def test_a_key_is_this_digest_forever():
    d = small()
    each = measurement(d, d.columns[0], d.models[2], {"l2": 1e-6}, 0, None)
    fields = {
        "table": "small",
        "column": "diabetes",
        "model": "LPNN",
        "data": "diabetes",
        "runner": "network",
        "metric": "rmse",
        "splits": {"kind": "random", "test": 0.3},
        "split": 0,
        "selection": None,
        "setting": {"l2": 1e-6},
        "options": {**d.network, "family": "ladder", "hidden": [4, 4], "l2": 1e-6},
        "declared_seed": 0,
    }
    assert each.key == hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def test_a_model_is_run_on_no_more_splits_than_it_says():
    text = TEXT.replace('name = "FM"', 'name = "FM"\nsplits = 2').replace(
        'name = "LPNN"', 'name = "LPNN"\ncolumns.diabetes = { splits = 0 }'
    )
    d = small(text)
    groups = [*selection_groups(d, d.columns[0], {}), *final_groups(d, d.columns[0], {})]
    splits = {(each.model, each.split) for group in groups for each in group}
    assert splits == {("FFR", 0), ("FFR", 1), ("FFR", 2), ("FM", 0), ("FM", 1)}


def test_an_empty_text_takes_an_option_away_while_settings_are_compared():
    text = TEXT.replace(
        'network = { family = "relu", hidden = [4] }',
        'network = { family = "relu", hidden = [4], scaling = "clipped" }\n'
        'while_selecting = { epochs = 1, scaling = "" }',
    )
    d = small(text)
    model, setting = d.models[0], d.settings(d.models[0], d.columns[0])[0]
    while_selecting, last = (measurement(d, d.columns[0], model, setting, 0, s).options for s in (d.selection, None))
    assert "scaling" not in while_selecting
    assert (while_selecting["epochs"], last["epochs"], last["scaling"]) == (1, 2, "clipped")
