"""What other pages say in words of the tables on them: who is better than whom, by the same tests as in the tables."""

from functools import cache
from pathlib import Path

from polyladder_lab.experiments.engine.compare import beside_published, compare, verdict
from polyladder_lab.experiments.engine.declare import declared, results_folder
from polyladder_lab.experiments.engine.store import Store

ROOT = Path(__file__).parents[4]
FIVE = ("FFR", "FFQ", "FM", "PK")
VERDICTS = ("better", "not told apart", "worse")
SHORT = {
    "boston-housing": "boston",
    "wine-quality-red": "wine",
    "power-plant": "power plant",
    "naval-propulsion-plant": "naval",
    "protein-tertiary-structure": "protein",
}


@cache
def measured(name):
    file = str(ROOT / "benchmarks" / f"{name}.toml")
    return compare(declared(file), Store(results_folder(file)).rows(name)).cells


def words_of(page):
    return " ".join((ROOT / "docs" / f"{page}.md").read_text().split())


def listed(words):
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def columns_where(cells, first, second, said):
    """Short names of the columns in which a paired t-test says so of the first model beside the second."""
    columns = dict.fromkeys(column for column, _ in cells)
    return [SHORT.get(c, c) for c in columns if verdict(cells[c, first], cells[c, second]) == said]


def test_machines_and_kernels_beside_the_classic_fits():
    cells = measured("rivals").values()
    assert all(cell.mean < cell.published[0] for cell in cells)
    better = sum(beside_published(cell, cell.published) == "better" for cell in cells)
    said = f"in all {len(cells)} cells, in {better} of them by more than two of its standard errors"
    assert f"Ours has the lower mean {said}" in words_of("rivals")


def test_five_models():
    cells, page = measured("five_models"), words_of("rivals")
    rivals = {rival: {said: columns_where(cells, "LPNN", rival, said) for said in VERDICTS} for rival in FIVE}
    everywhere = [c for c in rivals["FFR"]["better"] if all(c in rivals[r]["better"] for r in FIVE)]
    assert f"the ladder beats all four others on {listed(everywhere)}." in page
    assert f"It loses to the ReLU network on {listed(rivals['FFR']['worse'])}, and to nothing else;" in page
    assert not any(rivals[rival]["worse"] for rival in FIVE[1:])
    lower = [c for c in rivals["FFR"]["not told apart"] if by_short(cells, c, "FFR") < by_short(cells, c, "LPNN")]
    assert f"{listed(lower)} have lower means there, but the splits do not tell the two apart." in page
    assert "yacht" in rivals["PK"]["not told apart"]
    assert "kin8nm" in rivals["FFR"]["not told apart"]
    assert "kin8nm" in rivals["FFQ"]["not told apart"]


def by_short(cells, name, model):
    return next(cell.mean for (column, m), cell in cells.items() if SHORT.get(column, column) == name and m == model)


def test_ladders_and_boosted_trees():
    cells, page = measured("regression"), words_of("benchmarks")
    better, level, worse = (columns_where(cells, "ladder, defaults", "boosting, defaults", said) for said in VERDICTS)
    assert f"boosted trees are better on {listed(worse)}, ladders on {listed(better)};" in page
    assert f"on {listed(level)} the two are not told apart." in page
    tuned = [columns_where(cells, "ladder, tuned", "boosting, tuned", said) for said in VERDICTS]
    assert set(tuned[2]) - set(worse) == {"energy"}
    assert set(tuned[0]) - set(better) == {"boston"}
    for column, kind in ((c, k) for c, _ in cells for k in ("defaults", "tuned")):
        ladder, trees = (cells[column, f"{model}, {kind}"].rows.values() for model in ("ladder", "boosting"))
        assert max(row["worst"] for row in ladder) <= 1.5 * max(row["worst"] for row in trees)


def test_posteriors_beside_published_ones_and_a_gaussian_process():
    cells, page = measured("bayesian"), words_of("bayesian")
    columns = list(dict.fromkeys(c for c, _ in cells))
    published = {name for _, name in cells} - {"ladder"}
    judged = {c: {n: beside_published(cells[c, "ladder"], cells[c, n].published) for n in published} for c in columns}
    assert [c for c in columns if "worse" in judged[c].values()] == ["protein-tertiary-structure"]
    assert [c for c in columns if "as good" in judged[c].values()] == ["wine-quality-red"]
    assert "The best figure of all on eight of the nine sets (on wine it is shared)" in page
    cells = measured("bayesian_rivals")
    better, level, worse = (columns_where(cells, "ladder", "gp", said) for said in VERDICTS)
    assert not worse
    said = f"Its log-likelihood is worse on {listed(better)} and not told apart from the ladder's on {listed(level)};"
    assert said in page
