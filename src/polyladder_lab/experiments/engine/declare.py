"""A table or figure of the paper as data: read from ``paper/*.toml``, checked, and cut down for ``--quick``."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyladder_lab.experiments.paper import INSTALLED, paper_folder

METRICS = {"rmse": "RMSE", "error": "error rate", "nll": "NLL", "log_loss": "log loss"}
"""What may be measured, and its label. Lower is better."""

RUNNERS = ("network", "estimator", "activations", "sampling", "nesting", "bounds", "norms")
KINDS = ("table_", "figure_", "claim_", "learning_rates", "search_")
"""How the names of declarations of the paper begin, in the order in which they are listed."""
SPLITS = ("published", "random", "drawn", "smooth", "masks")

Options = dict[str, Any]
Grid = dict[str, list[Any]] | list[Options]
"""Either the values that each option may take, of which all combinations are searched, or a list of settings."""


@dataclass(frozen=True)
class Round:
    """One round of a comparison of settings: the best ones go on to the next round.

    Attributes:
        options: hold in this round alone, such as few ``epochs``.
        keep: how many settings go on; 1 is the choice.
    """

    options: Options
    keep: int


ONE_ROUND = (Round({}, 1),)


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: a data set, or a variation that every model of the table undergoes.

    Attributes:
        label: its head.
        data: name of the data set in the catalog, or of a drawn one.
        splits: how many splits are run, the first ones.
        settings: how many settings of a model's grid are searched, spread evenly; None for all.
        rungs: rounds of successive halving; a single round with all settings, if none are declared.
        network: options of gradient-trained networks that this column overrides.
        unavailable: what to say where the data set is not available; empty for most.
    """

    label: str
    data: str
    splits: int
    settings: int | None
    rungs: tuple[Round, ...]
    network: Options
    unavailable: str


@dataclass(frozen=True)
class Model:
    """A row of a table.

    Attributes:
        name: its head.
        runner: what fits it: one of `RUNNERS`.
        options: what the runner is told, the same for every setting.
        grid: settings to search.
        columns: what one column overrides, by the column's label: options, a ``grid``, ``while_selecting``, ``splits``,
            ``settings``.
        while_selecting: options that differ while settings are compared; the last fit does not use them. An empty
            text takes an option away.
        splits: how many of a column's splits are run at most; 0 for a model that is only published. None for all.
        settings: how many settings are searched; None for as many as the column says.
        polynomial: whether it takes part in the comparison of polynomial models.
        ours: whether it is a recipe of this project rather than one of the paper.
    """

    name: str
    runner: str
    options: Options
    grid: Grid
    columns: dict[str, Options]
    while_selecting: Options
    splits: int | None
    settings: int | None
    polynomial: bool
    ours: bool

    def inside(self, column: str) -> Model:
        """The model as it is in a column."""
        own = dict(self.columns.get(column, {}))
        fields = {name: own.pop(name) for name in ("grid", "while_selecting", "splits", "settings") if name in own}
        return replace(self, options={**self.options, **own}, columns={}, **fields)


@dataclass(frozen=True)
class Departure:
    """What was done differently from the paper, and why.

    Attributes:
        what: in one sentence.
        why: in one sentence.
        columns: labels of the columns that it touches; empty for all.
        models: names of the models that it touches; empty for all.
    """

    what: str
    why: str
    columns: tuple[str, ...]
    models: tuple[str, ...]

    def touches(self, column: str, model: str) -> bool:
        """Whether a cell is affected."""
        return (not self.columns or column in self.columns) and (not self.models or model in self.models)


@dataclass(frozen=True)
class Measure:
    """A number besides the metric that last fits keep, shown in a table of its own.

    Attributes:
        field: its name in the stored rows.
        label: what it is called.
        over_splits: ``"mean"``, or ``"largest"``.
        best: which number of a column is bold: the ``"lowest"``, the ``"highest"``, or empty for none.
    """

    field: str
    label: str
    over_splits: str
    best: str


@dataclass(frozen=True)
class Declaration:
    """A table or figure.

    Attributes:
        name: as in ``polyladder reproduce table_2``.
        title: one line.
        about: what is measured and how, in a few sentences.
        metric: one of `METRICS`.
        seed: of everything random.
        splits: how rows are split: ``{"kind": "published"}``, ``{"kind": "random", "test": 0.3}`` or
            ``{"kind": "drawn"}`` for data that are drawn again for each run, ``{"kind": "smooth"}`` for functions such
            as ``borehole-100``, ``{"kind": "masks"}`` for folders with ``data.csv.gz`` and ``test_mask.csv.gz``.
        selection: ``{"folds": 5}`` or ``{"holdout": 0.2}``; empty if nothing is selected.
        settings_at_once: how many settings are compared in one program.
        splits_compared_at_once: of how many splits settings are compared in one program.
        splits_at_once: how many splits have their last fits in one program.
        better_than: names of two models; the first is underlined where it is significantly better than the second.
        beside: names of models that our recipes are tested against.
        compare: ``"models"`` to compare the polynomial models of a column, or ``"rows"`` to compare all,
            ``"none"`` for neither; ``"settings"`` for a search, which measures on held-out training rows alone.
        network: options of gradient-trained networks that all models share.
        columns: of the table.
        models: its rows.
        measures: what else is shown.
        spread: ``"deviation"`` of the metric over splits, or the standard ``"error"`` of its mean.
        source: who published the figures below, in one word.
        published: (mean, deviation or None) by model and column.
        published_splits: over how many splits or runs the published deviations are.
        departures: from the paper.
        lost_commits: that measured stored rows and are no longer in the repository; the page counts their rows.
        quick: what ``--quick`` changes; see `quick`.
    """

    name: str
    title: str
    about: str
    metric: str
    seed: int
    splits: Options
    selection: Options
    settings_at_once: int
    splits_compared_at_once: int
    splits_at_once: int
    better_than: tuple[str, ...]
    beside: tuple[str, ...]
    compare: str
    network: Options
    columns: tuple[TableColumn, ...]
    models: tuple[Model, ...]
    measures: tuple[Measure, ...]
    spread: str
    source: str
    published: dict[str, dict[str, tuple[float, float | None]]]
    published_splits: int
    departures: tuple[Departure, ...]
    lost_commits: tuple[str, ...]
    quick: Options

    def options(self, model: Model, column: TableColumn) -> Options:
        """What a model's runner is told in a column, before a setting is added."""
        own = model.inside(column.label).options
        return own if model.runner == "estimator" else {**self.network, **column.network, **own}

    def splits_of(self, model: Model, column: TableColumn) -> range:
        """The splits of a column on which a model is run."""
        most = model.inside(column.label).splits
        return range(column.splits if most is None else min(most, column.splits))

    def settings(self, model: Model, column: TableColumn) -> list[Options]:
        """The settings to search, as many as model or column say, in an order that depends on the seed alone.

        A larger number, up to all of them, adds settings to those that were searched before. Some of a grid are spread
        over it evenly. Without a number, or where a list holds no more, all are searched in the declared order.
        """
        own = model.inside(column.label)
        every = own.grid if isinstance(own.grid, list) else combinations(own.grid)
        number = column.settings if own.settings is None else own.settings
        if number is None or (isinstance(own.grid, list) and number >= len(every)):
            return every
        order = np.random.RandomState(self.seed).permutation(len(every))
        if isinstance(own.grid, dict) and number < len(every):
            order = spread_evenly(tuple(map(len, own.grid.values())), number, tuple(order.tolist()))
        return [every[i] for i in order[:number]]


def combinations(grid: dict[str, list[Any]]) -> list[Options]:
    """Every choice of one value per option.

    >>> combinations({"l2": [0.0, 1.0], "rank": [8]})
    [{'l2': 0.0, 'rank': 8}, {'l2': 1.0, 'rank': 8}]
    """
    return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values())]


@cache
def spread_evenly(sizes: tuple[int, ...], number: int, order: tuple[int, ...]) -> NDArray[np.intp]:
    """Positions of some combinations that hold every value, and every pair of values, about equally often.

    Each is the one whose values and pairs were used least so far, the first in the given order among equals: a larger
    number starts with the same ones.

    Args:
        sizes: how many values each option has.
        number: of combinations.
        order: of all of them, each a position in the list of `combinations`.
    """
    values = np.stack(np.unravel_index(order, sizes), 1)
    options = [(i,) for i in range(len(sizes))] + list(itertools.combinations(range(len(sizes)), 2))
    taken = [np.zeros([sizes[i] for i in some]) for some in options]
    chosen: list[int] = []
    for _ in range(number):
        # How often relative to an even share, summed over values and pairs.
        crowded = sum(count.size * count[tuple(values[:, some].T)] for some, count in zip(options, taken, strict=True))
        crowded = np.where(np.isin(np.arange(len(order)), chosen), np.inf, crowded)
        chosen.append(int(np.argmin(crowded)))
        for some, count in zip(options, taken, strict=True):
            count[tuple(values[chosen[-1], some])] += 1
    return np.asarray(order)[chosen]


def declared(name: str) -> Declaration:
    """The declaration of that name: ``table_2``, ``table 2``, ``Table-2``, or the path of a TOML file."""
    return read_declaration(declaration_file(name))


def declaration_file(name: str) -> Path:
    """The file of a declaration."""
    if name.endswith(".toml"):
        return Path(name)
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    if plain not in names():
        raise ValueError(f"name must be one of {', '.join(names())}, or the path of a .toml file; got {name!r}.")
    return paper_folder() / f"{plain}.toml"


def names() -> list[str]:
    """Every table, figure and claim, then the searches that settled how their models are trained."""
    found = [path.stem for path in paper_folder().glob("*.toml") if path.stem.startswith(KINDS)]
    return sorted(found, key=lambda name: (next(i for i, kind in enumerate(KINDS) if name.startswith(kind)), name))


def results_folder(name: str) -> Path | None:
    """Where the rows of a declaration are kept: beside its file; None inside an installed package."""
    folder = declaration_file(name).parent
    return None if folder == INSTALLED else folder / "results"


def read_declaration(path: Path) -> Declaration:
    """Read and check a file."""
    try:
        return checked(tomllib.loads(path.read_text(encoding="utf-8")), path.stem)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} must declare every field of a table; got {error}.") from error


def checked(fields: dict[str, Any], name: str) -> Declaration:
    """A declaration from its fields. Defaults stand for what is left out; what does not fit together is refused."""
    selection = fields.get("selection", {})
    declaration = Declaration(
        name=name,
        title=fields["title"],
        about=fields["about"],
        metric=fields["metric"],
        seed=fields.get("seed", 0),
        splits=fields["splits"],
        selection={key: value for key, value in selection.items() if key in ("folds", "holdout")},
        settings_at_once=selection.get("settings_at_once", 8),
        splits_compared_at_once=selection.get("splits_compared_at_once", 1),
        splits_at_once=selection.get("splits_at_once", 5),
        better_than=tuple(fields.get("better_than", ())),
        beside=tuple(fields.get("beside", fields.get("better_than", ())[1:])),
        compare=fields.get("compare", "models"),
        network=fields.get("network", {}),
        columns=tuple(read_column(c, selection) for c in fields["column"]),
        models=tuple(read_model(m) for m in fields["model"]),
        measures=tuple(
            Measure(m["field"], m["label"], m.get("over_splits", "mean"), m.get("best", ""))
            for m in fields.get("measure", ())
        ),
        spread=fields.get("spread", "deviation"),
        source=fields.get("source", "paper"),
        published={
            model: {label: (float(cell[0]), cell[1] if len(cell) > 1 else None) for label, cell in cells.items()}
            for model, cells in fields.get("published", {}).items()
        },
        published_splits=fields.get("published_splits", 20),
        departures=tuple(
            Departure(d["what"], d["why"], tuple(d.get("columns", ())), tuple(d.get("models", ())))
            for d in fields.get("departure", ())
        ),
        lost_commits=tuple(fields.get("lost_commits", ())),
        quick=fields.get("quick", {}),
    )
    check(declaration)
    return declaration


def read_column(fields: dict[str, Any], selection: Options) -> TableColumn:
    """A column; defaults stand for what is left out."""
    return TableColumn(
        label=fields["label"],
        data=fields["data"],
        splits=fields["splits"],
        settings=fields.get("settings", selection.get("settings")),
        rungs=read_rungs(fields.get("rungs") or selection.get("rungs") or []),
        network=fields.get("network", {}),
        unavailable=fields.get("unavailable", ""),
    )


def read_rungs(declared: Sequence[Options]) -> tuple[Round, ...]:
    """Rounds of halving; the last, which keeps one, need not say so."""
    if not isinstance(declared, list) or not all(isinstance(rung, dict) for rung in declared):
        raise ValueError(
            f"rungs must be a list such as [{{ epochs = 1, keep = 12 }}, {{ epochs = 4 }}]; got {declared!r}."
        )
    if wrong := [rung["keep"] for rung in declared if "keep" in rung and not is_count(rung["keep"])]:
        raise ValueError(f"keep of a rung must be a whole number from 1 on; got {wrong[0]!r}.")
    found = tuple(
        Round({name: value for name, value in rung.items() if name != "keep"}, rung.get("keep", 1)) for rung in declared
    )
    kept = [rung.keep for rung in found]
    if found and (kept[-1] != 1 or min(kept[:-1], default=2) < 2 or kept != sorted(kept, reverse=True)):
        raise ValueError(f"rungs must keep fewer and fewer settings, the last one alone; got keep = {kept}.")
    return found or ONE_ROUND


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 1 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def read_model(fields: dict[str, Any]) -> Model:
    """A model: the table that holds its options says what runs it."""
    runner, splits = next((runner for runner in RUNNERS if runner in fields), None), fields.get("splits")
    if runner is None and splits != 0:
        raise ValueError(
            f"model {fields['name']!r} must have one of the tables {', '.join(RUNNERS)}; got none. "
            "Say splits = 0 if it is only published."
        )
    return Model(
        name=fields["name"],
        runner=runner or "",
        options=fields[runner] if runner else {},
        grid=fields.get("grid", {}),
        columns=fields.get("columns", {}),
        while_selecting=fields.get("while_selecting", {}),
        splits=splits,
        settings=fields.get("settings"),
        polynomial=fields.get("polynomial", False),
        ours=fields.get("ours", False),
    )


def check(d: Declaration) -> None:
    """Refuse a declaration whose parts do not fit together; the message names the first that does not."""
    labels, models = {c.label for c in d.columns}, {m.name for m in d.models}
    for what, value, allowed in (
        ("metric", d.metric, set(METRICS)),
        ("splits.kind", d.splits.get("kind"), set(SPLITS)),
        ("compare", d.compare, {"models", "rows", "settings", "none"}),
        ("spread", d.spread, {"deviation", "error"}),
        *(("measure.over_splits", m.over_splits, {"mean", "largest"}) for m in d.measures),
        *(("measure.best", m.best, {"", "lowest", "highest"}) for m in d.measures),
    ):
        if value not in allowed:
            raise ValueError(f"{what} of {d.name} must be one of {', '.join(sorted(allowed))}; got {value!r}.")
    numbers = [column.settings for column in d.columns]
    numbers += [model.inside(label).settings for model in d.models for label in ("", *model.columns)]
    if wrong := [number for number in numbers if number is not None and not is_count(number)]:
        raise ValueError(f"settings of {d.name} must be whole numbers from 1 on; got {wrong[0]!r}.")
    if len(labels) < len(d.columns) or len(models) < len(d.models):
        raise ValueError(f"{d.name} must name each column and each model differently; got a name twice.")
    if d.metric == "error" and any(not 0 <= mean <= 1 for own in d.published.values() for mean, _ in own.values()):
        raise ValueError(f"published of {d.name} must be shares of wrong rows from 0 to 1; got another number.")
    if any(m.grid for m in d.models) and not d.selection:
        raise ValueError(f"{d.name} must have a selection, as a model of it has a grid; got none.")
    named = [*d.published, *d.better_than, *d.beside, *(m for departure in d.departures for m in departure.models)]
    for name in named:
        if name not in models:
            raise ValueError(f"{d.name} must name models of its own only; got {name!r}. It has {', '.join(models)}.")
    heads = [label for cells in d.published.values() for label in cells]
    heads += [label for departure in d.departures for label in departure.columns]
    heads += [label for model in d.models for label in model.columns]
    for label in heads:
        if label not in labels:
            raise ValueError(f"{d.name} must name columns of its own only; got {label!r}. It has {', '.join(labels)}.")


def quick(d: Declaration) -> Declaration:
    """A small representative subset: the same rules on fewer columns, splits, settings and epochs."""
    changes = d.quick
    columns = tuple(
        replace(
            c,
            splits=min(c.splits, changes.get("splits", c.splits)),
            settings=changes.get("settings", c.settings),
            rungs=ONE_ROUND,
            network={**c.network, **changes.get("network", {})},
        )
        for c in d.columns
        if c.label in changes.get("columns", [c.label])
    )
    gone = {**changes.get("network", {}), **({"settings": 0} if "settings" in changes else {})}
    models = tuple(m if m.runner == "estimator" else hurried(m, gone) for m in d.models)
    departure = Departure(f"`--quick`: {changes.get('what', 'nothing is left out')}.", "It takes minutes.", (), ())
    return replace(d, columns=columns, models=models, departures=(*d.departures, departure))


def hurried(model: Model, changes: Options) -> Model:
    """A model with its options and its number of settings overridden by the changes."""

    def kept(options: Options) -> Options:
        return {name: value for name, value in options.items() if name not in changes}

    return replace(
        model,
        options=kept(model.options),
        columns={label: kept(own) for label, own in model.columns.items()},
        settings=None if "settings" in changes else model.settings,
    )


def only(d: Declaration, pattern: str) -> Declaration:
    """The part of a table that ``DATA/MODEL`` names; either side may be empty or ``*``."""
    data, _, model = pattern.partition("/")
    columns = tuple(c for c in d.columns if data in ("", "*", c.label, c.data))
    models = tuple(m for m in d.models if model in ("", "*", m.name))
    if not columns or not models:
        have = f"{', '.join(c.label for c in d.columns)} / {', '.join(m.name for m in d.models)}"
        raise ValueError(f"only must be DATA/MODEL of {d.name}; got {pattern!r}. It has {have}.")
    return replace(d, columns=columns, models=models)
