"""Every measured number of docs/choosing.md: each cell is the mean of the stored rows, rounded as it is printed."""

import json
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.experiments.engine.compare import compare, verdict
from polyladder_lab.experiments.engine.declare import declared, results_folder
from polyladder_lab.experiments.engine.store import Store
from tests.real_data import real_dataset

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "choosing.md").read_text()
WORDS = " ".join(PAGE.split())


@cache
def measured(name):
    file = name if name.startswith("table_") else str(ROOT / "benchmarks" / f"{name}.toml")
    return compare(declared(file), Store(results_folder(file)).rows(name)).cells


def table_of(head):
    """The rows of the page's table whose first line begins so, by their first cell."""
    lines = PAGE[PAGE.index(f"| {head} |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


def rounds_to(value, text):
    """Whether a text is a value, rounded to the digits that the text has."""
    exponent = Decimal(text).as_tuple().exponent
    return abs(value - float(text)) <= 0.5000001 * 10.0**exponent


def field(cell, name):
    return mean(row[name] for row in cell.rows.values())


def check(shown, values):
    """Hold the cells of one line to their values; a cell without a value must be empty."""
    assert len(shown) == len(values)
    for text, value in zip(shown, values, strict=True):
        assert (text == "") if value is None else rounds_to(value, text), (shown, values)


def value_of(cells, column, model):
    cell = cells.get((column, model))
    return cell.mean if cell is not None and cell.values else None


LONG = {
    "boston": "boston-housing",
    "wine": "wine-quality-red",
    "power plant": "power-plant",
    "naval": "naval-propulsion-plant",
    "protein": "protein-tertiary-structure",
}
SELECTED, BOOSTING, RIDGE, POSTERIOR = (
    "ladder, selected",
    "boosting, defaults",
    "linear ridge",
    "posterior, defaults",
)


def test_published_splits():
    cells = measured("defaults")
    rows = table_of("data | selected | ladders of order 6")
    assert {LONG.get(name, name) for name in rows} == {column for column, _ in cells}
    ratios = {}
    for name, shown in rows.items():
        models = (SELECTED, "ladder of order 6", BOOSTING, RIDGE)
        own = [cells[LONG.get(name, name), model] for model in models]
        check(shown[:4], [cell.mean for cell in own])
        seconds = [field(cell, "processor_seconds") for cell in own[:3]]
        check(shown[4].split(", "), seconds)
        ratios[name] = seconds[0] / seconds[2]
        assert len(own[0].values) == (20 if name == "energy" else 5)
    worse = {
        name: cells[LONG.get(name, name), SELECTED].mean / cells[LONG.get(name, name), BOOSTING].mean for name in rows
    }
    behind = {name: f"{100 * (ratio - 1):.0f}" for name, ratio in worse.items() if ratio > 1}
    (*names, last), (*shares, least) = behind, behind.values()
    said = f"On {', '.join(names)} and {last} boosted trees are better, by {', '.join(shares)} and {least} %."
    assert said in WORDS
    assert (
        f"The default took {min(ratios.values()):.0f} to {max(ratios.values()):.0f} times the processor seconds"
        in WORDS
    )
    assert set(sorted(ratios, key=ratios.__getitem__)[-2:]) == {"energy", "concrete"}


def test_rows_of_wine_that_repeat():
    data = real_dataset("wine-quality-red")
    shares = []
    for split in data.splits[:5]:
        known = {tuple(row) for row in data.features[split.train].tolist()}
        shares.append(mean(tuple(row) in known for row in data.features[split.test].tolist()))
    assert f"Of wine's test rows {100 * mean(shares):.0f} % repeat training rows" in WORDS


def test_further_sets():
    cells = measured("defaults_more")
    rows = table_of("data | selected | posterior | boosting | linear ridge")
    assert set(rows) == {column for column, _ in cells}
    for name, shown in rows.items():
        check(shown[:4], [value_of(cells, name, model) for model in (SELECTED, POSTERIOR, BOOSTING, RIDGE)])
        posterior = cells[name, POSTERIOR]
        covered = 100 * field(posterior, "coverage") if posterior.values else None
        check([shown[4].removesuffix(" %")], [covered])
    assert [name for name, shown in rows.items() if not shown[1]] == ["gas"]
    coverage = [100 * row["coverage"] for row in cells["bike", POSTERIOR].rows.values()]
    times = {name: cells[name, POSTERIOR].mean / cells[name, SELECTED].mean for name in rows if rows[name][1]}
    assert sorted(times, key=times.__getitem__)[-3:] == ["sml", "airfoil", "bike"]
    said = f"On bike it has {times['bike']:.0f} times the error of the selection, with intervals that cover"
    assert f"{said} {min(coverage):.0f} to {max(coverage):.0f} %" in WORDS
    assert f"on airfoil and sml it has {times['airfoil']:.1f} and {times['sml']:.1f} times the error" in WORDS


def test_smooth_functions():
    cells = measured("defaults_smooth")
    for name, shown in table_of("function | selected").items():
        data = "wing" if name == "wing weight" else name.lower()
        for text, model in zip(shown, (SELECTED, "Gaussian process", "sparse polynomial chaos", BOOSTING), strict=True):
            check(text.split(", "), [cells[f"{data}-{rows}", model].mean for rows in (100, 400)])
    lost = {c for c, m in cells if cells[c, SELECTED].mean > cells[c, "sparse polynomial chaos"].mean}
    assert lost == {"ishigami-100"}


def test_classes():
    cells = measured("defaults_classes")
    for name, shown in table_of("data | selected | posterior | boosting | logistic regression").items():
        data = name.removesuffix(" (three classes)").replace(" ", "-")
        check(shown, [cells[data, model].mean for model in (SELECTED, POSTERIOR, BOOSTING, "logistic regression")])
        assert len(cells[data, SELECTED].values) == (20 if data == "wine" else 5)


@pytest.mark.slow
def test_classes_of_many_rows():
    cells = measured("table_3")
    names = {"fashion": "fashion-mnist"}
    for name, (sizes, *shown) in table_of("data | rows, columns, classes").items():
        trained = cells[name, "LPNNClassifier()"]
        seconds = field(trained, "processor_seconds")
        published = cells[name, "LPNN"].published[0]
        check(shown, [trained.mean, seconds, value_of(cells, name, "boosting"), published])
        entry = find_entry(names.get(name, name))
        (row,) = trained.rows.values()
        inside = entry.rows - row["rows"]
        assert sizes.startswith(f"{inside:,}, {entry.features}, "), (sizes, inside, entry.features)


def test_real_tables():
    lines = (ROOT / "benchmarks" / "results" / "tables.jsonl").read_text().splitlines()
    stored = [json.loads(line)["figures"] for line in lines]
    for name, shown in table_of("table | the command").items():
        errors = [row["errors"] for row in stored if row["table"] == name]
        assert len(errors) == 5
        check(shown, [mean(each[model] for each in errors) for model in ("command", "boosting", "linear", "constant")])
    assert set(table_of("table | the command")) == {row["table"] for row in stored}


def test_what_effort_costs():
    numbers, classes = measured("effort"), measured("effort_classes")
    assert not any(
        verdict(cells[column, "high"], cells[column, "default"]) == "better"
        for cells in (numbers, classes)
        for column, _ in cells
    )

    def times(cells, column, model):
        return field(cells[column, model], "processor_seconds") / field(cells[column, "default"], "processor_seconds")

    columns = [(cells, column) for cells in (numbers, classes) for column in dict.fromkeys(c for c, _ in cells)]
    high = [times(*place, "high") for place in columns]
    assert f"{min(high):.1f} to {max(high):.1f} times as much" in WORDS
    large = [times(*place, "low") for place in columns if place[0] is numbers and find_entry(place[1]).rows > 450]
    other = [times(*place, "low") for place in columns if place[0] is classes or find_entry(place[1]).rows <= 450]
    assert f"{min(large):.2f} to {max(large):.2f} of that for numbers from 450 rows on," in WORDS
    assert f"{min(other):.1f} to {max(other):.1f} of it for classes and smaller tables" in WORDS
    worse = max(cells[column, "low"].mean / cells[column, "default"].mean for cells, column in columns)
    assert f"errors rise by up to [a factor of {worse:.1f}]" in WORDS
    usual = measured("defaults")
    around = [field(usual[name, SELECTED], "processor_seconds") for name in ("energy", "concrete", "wine-quality-red")]
    assert f"{min(around):.0f} to {max(around):.0f} seconds of computing for a thousand rows" in WORDS


@pytest.mark.parametrize(
    ("value", "text", "holds"), [(0.34299, "0.343", True), (1.448e-5, "1.4e-5", True), (2.667, "2.66", False)]
)
def test_a_text_is_a_rounded_value(value, text, holds):
    assert rounds_to(value, text) is holds


def test_every_table_of_measurements_is_checked():
    section = PAGE[PAGE.index("## Measured") :]
    heads = re.findall(r"^\| ((?:data|function|table) \|.*)\n\|---", section, flags=re.M)
    assert len(heads) == 6
