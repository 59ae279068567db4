"""A small declaration on data that scikit-learn ships, for the tests of the engine."""

from __future__ import annotations

from polyladder_lab.experiments.engine.declare import Declaration, checked
from polyladder_lab.experiments.engine.plan import measurement

TEXT = """
title = "A small table"
about = "Ladders and ReLU networks on the diabetes data."
metric = "rmse"
splits = { kind = "random", test = 0.3 }
better_than = ["LPNN", "FFR"]
selection = { folds = 3, settings_at_once = 2, splits_at_once = 2 }
network = { epochs = 2, batch_size = 64, learning_rate = 1e-2, clip = 10.0 }

[[column]]
label = "diabetes"
data = "diabetes"
splits = 3
settings = 3

[[model]]
name = "FFR"
network = { family = "relu", hidden = [4] }
grid = { l2 = [1e-6, 1e-3], dropout = [0.0, 0.2] }

[[model]]
name = "FM"
polynomial = true
network = { family = "machine", order = 2, rank = 2, l2 = 1e-4 }

[[model]]
name = "LPNN"
polynomial = true
network = { family = "ladder", hidden = [4, 4] }
grid = { l2 = [1e-6, 1e-3], dropout = [0.0, 0.2] }

[published]
FFR = { diabetes = [55.0, 3.0] }
LPNN = { diabetes = [54.0, 3.0] }

[[departure]]
what = "Two epochs."
why = "It is a test."
models = ["LPNN"]

[quick]
what = "one split"
splits = 1
network = { epochs = 1 }
"""

CLASSES = TEXT.replace('"rmse"', '"error"').replace("55.0, 3.0", "5e-2, 1e-2").replace("54.0, 3.0", "4e-2, 1e-2")
"""The same with a share of wrong rows for its metric."""


def small(text: str = TEXT) -> Declaration:
    """The declaration, or a variation of its text."""
    import tomllib

    return checked(tomllib.loads(text), "small")


def filled(d, value=lambda model, split: 50.0 + 5 * model + split):
    """Rows for every last fit of a declaration, with all settings equally good."""
    rows = {}
    for column in d.columns:
        for number, model in enumerate(d.models):
            for setting in d.settings(model, column):
                for split in range(column.splits):
                    for rung in column.rungs:
                        each = measurement(d, column, model, setting, split, d.selection, rung)
                        rows[each.key] = {"key": each.key, "folds": [1.0]}
                    last = measurement(d, column, model, setting, split, None)
                    rows[last.key] = {"key": last.key, "model": model.name, "value": value(number, split)}
    return rows
