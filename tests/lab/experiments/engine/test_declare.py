import itertools

import numpy as np
import pytest

from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.experiments.engine.declare import ONE_ROUND, declared, names, only, quick, spread_evenly
from polyladder_lab.experiments.runners.synthetic import DRAWN
from tests.lab.experiments.small import TEXT, small

PAPER = ["table_1", "table_2", "table_3", "table_4", "table_5", "figure_1", "figure_2"]
CLAIMS = ["claim_bounds", "claim_nesting", "claim_norms", "claim_stability"]
SEARCHES = ["learning_rates", "search_covtype", "search_depth", "search_epochs", "search_length", "search_rates"]


def test_every_table_and_figure_of_the_paper_is_declared():
    assert names() == [*PAPER, *CLAIMS, *SEARCHES]


@pytest.mark.parametrize("name", names())
def test_declarations_name_known_data_and_give_reasons(name):
    d = declared(name)
    for column in d.columns:
        assert column.data in DRAWN or find_entry(column.data).rows
        assert column.splits >= 1
    assert d.departures or name in SEARCHES
    for departure in d.departures:
        assert departure.what.endswith(".")
        assert departure.why.endswith(".")
    assert quick(d).columns


@pytest.mark.parametrize(("name", "models"), [("table_2", 5), ("table_3", 5), ("table_4", 4), ("table_5", 4)])
def test_the_paper_has_a_figure_for_each_of_its_cells(name, models):
    d = declared(name)
    assert len(d.published) == models
    for model, column in itertools.product(d.published, d.columns):
        assert d.published[model][column.label][0] > 0


def test_the_grids_are_the_papers():
    for name, sizes in {
        "table_2": {"FFR": 20, "FM": 16, "PK": 16, "FFQ": 20, "LPNN": 20},
        "table_3": {"FFR": 240, "FM": 16, "PK": 48, "FFQ": 240, "LPNN": 240},
    }.items():
        d = declared(name)
        grids = {m.name: m.grid for m in d.models if m.name in d.published}
        counted = {model: len(list(itertools.product(*grid.values()))) for model, grid in grids.items()}
        assert counted == sizes


def test_names_are_read_generously_and_refused_clearly():
    assert declared("Table 2").name == declared("table-2").name == "table_2"
    with pytest.raises(ValueError, match=r"must be one of table_1, .*; got 'table_9'"):
        declared("table_9")


def test_more_settings_keep_those_that_were_there_before():
    d = small()
    model = d.models[0]
    three = d.settings(model, d.columns[0])
    other = small(TEXT.replace("settings = 3", "settings = 2"))
    assert other.settings(model, other.columns[0]) == three[:2]
    whole = small(TEXT.replace("settings = 3", "settings = 4"))
    assert all(setting in whole.settings(model, whole.columns[0]) for setting in three)
    every = small(TEXT.replace("settings = 3\n", ""))
    assert len(every.settings(model, every.columns[0])) == len(whole.settings(model, whole.columns[0])) == 4


def test_some_settings_of_a_grid_are_spread_over_it_evenly():
    sizes = (3, 4, 4, 5)
    order = tuple(np.random.RandomState(0).permutation(240).tolist())
    some = spread_evenly(sizes, 24, order)
    assert len(set(some.tolist())) == 24
    assert spread_evenly(sizes, 12, order).tolist() == some[:12].tolist()
    values = np.stack(np.unravel_index(some, sizes), 1)
    for option, size in enumerate(sizes):
        counts = np.bincount(values[:, option], minlength=size)
        assert counts.max() - counts.min() <= 1
    for i, j in itertools.combinations(range(4), 2):
        counts = np.bincount(values[:, i] * sizes[j] + values[:, j], minlength=sizes[i] * sizes[j])
        assert counts.max() <= 24 / (sizes[i] * sizes[j]) + 1.5


def test_a_model_may_search_fewer_settings_than_the_others_of_a_column():
    d = small(TEXT.replace('name = "LPNN"', 'name = "LPNN"\ncolumns.diabetes.settings = 2'))
    others, own = (d.settings(d.models[i], d.columns[0]) for i in (0, 2))
    assert own == others[:2]


def test_a_list_of_settings_is_searched_as_it_stands():
    d = small(
        TEXT.replace("grid = { l2 = [1e-6, 1e-3], dropout = [0.0, 0.2] }", "grid = [{ l2 = 1.0 }, { dropout = 0.5 }]")
    )
    assert d.settings(d.models[0], d.columns[0]) == [{"l2": 1.0}, {"dropout": 0.5}]


def test_networks_search_the_same_settings():
    d = small()
    assert d.settings(d.models[0], d.columns[0]) == d.settings(d.models[2], d.columns[0])


def test_a_column_overrides_the_table_and_a_model_the_column():
    text = TEXT.replace("settings = 3\n", "settings = 3\nnetwork = { epochs = 5, batch_size = 16 }\n")
    text = text.replace('name = "FM"', 'name = "FM"\ncolumns.diabetes = { batch_size = 8, grid = { rank = [1, 3] } }')
    d = small(text)
    relu, machine = d.models[0], d.models[1]
    assert d.options(relu, d.columns[0])["batch_size"] == 16
    assert d.options(machine, d.columns[0]) | {"epochs": 5, "batch_size": 8} == d.options(machine, d.columns[0])
    assert {s["rank"] for s in d.settings(machine, d.columns[0])} == {1, 3}


def test_quick_reduces_and_says_so():
    d = quick(small())
    assert d.columns[0].splits == 1
    assert d.options(d.models[0], d.columns[0])["epochs"] == 1
    assert "one split" in d.departures[-1].what


def test_only_picks_data_and_models():
    d = only(small(), "diabetes/LPNN")
    assert [m.name for m in d.models] == ["LPNN"]
    assert [m.name for m in only(small(), "/FM").models] == ["FM"]
    with pytest.raises(ValueError, match="only must be DATA/MODEL of small; got 'boston/LPNN'"):
        only(small(), "boston/LPNN")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('metric = "rmse"', 'metric = "error"', "published of small must be shares of wrong rows"),
        ('metric = "rmse"', 'metric = "loss"', "metric of small must be one of error, log_loss, nll, rmse; got 'loss'"),
        ('kind = "random"', 'kind = "mine"', "splits.kind of small"),
        ('name = "FM"', 'name = "FFR"', "a name twice"),
        ("FFR = { diabetes", "FFX = { diabetes", "models of its own only; got 'FFX'"),
        ("FFR = { diabetes", "FFR = { boston", "columns of its own only; got 'boston'"),
        ("selection = {", "ignored = {", "must have a selection"),
        ("network = { family = \"machine\"", "machine = { family = \"machine\"", "must have one of the tables network"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(old, new, said):
    assert old in TEXT
    with pytest.raises(ValueError, match=said):
        small(TEXT.replace(old, new, 1))


def test_rounds_keep_fewer_and_fewer():
    text = TEXT.replace(
        "settings = 3\n", "rungs = [{ epochs = 1, keep = 9 }, { epochs = 3, keep = 2 }, { epochs = 8 }]\n"
    )
    assert [(rung.options, rung.keep) for rung in small(text).columns[0].rungs] == [
        ({"epochs": 1}, 9),
        ({"epochs": 3}, 2),
        ({"epochs": 8}, 1),
    ]
    assert small().columns[0].rungs == ONE_ROUND
    assert quick(small(text)).columns[0].rungs == ONE_ROUND
    for wrong in ("keep = 2 }, { epochs = 3, keep = 9", "keep = 1 }, { epochs = 3, keep = 1", "keep = 9 }, { keep = 3"):
        with pytest.raises(ValueError, match="rungs must keep fewer and fewer settings, the last one alone; got keep"):
            small(TEXT.replace("settings = 3\n", f"rungs = [{{ epochs = 1, {wrong} }}]\n"))
    with pytest.raises(ValueError, match=r"rungs must be a list such as .*; got 3"):
        small(TEXT.replace("settings = 3\n", "rungs = 3\n"))
    with pytest.raises(ValueError, match="keep of a rung must be a whole number from 1 on; got 'two'"):
        small(TEXT.replace("settings = 3\n", 'rungs = [{ epochs = 1, keep = "two" }, {}]\n'))


@pytest.mark.parametrize("wrong", ["0", "-1", "2.5", "true"])
def test_a_number_of_settings_that_is_none_is_refused(wrong):
    own = TEXT.replace('name = "LPNN"', f'name = "LPNN"\ncolumns.diabetes.settings = {wrong}')
    for text in (TEXT.replace("settings = 3", f"settings = {wrong}"), own):
        with pytest.raises(ValueError, match="settings of small must be whole numbers from 1 on; got"):
            small(text)


def test_quick_takes_few_settings_of_models_that_ask_for_many():
    text = TEXT.replace(
        "grid = { l2 = [1e-6, 1e-3], dropout = [0.0, 0.2] }",
        "grid = { l2 = [1e-6, 1e-3], dropout = [0.0, 0.2] }\nsettings = 4",
        1,
    )
    d = small(text.replace('what = "one split"', 'what = "two settings"\nsettings = 2'))
    assert [len(d.settings(model, d.columns[0])) for model in d.models] == [4, 1, 3]
    assert [len(quick(d).settings(model, quick(d).columns[0])) for model in quick(d).models] == [2, 1, 2]
