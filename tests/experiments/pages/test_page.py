import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from polyladder.experiments.engine.compare import compare
from polyladder.experiments.engine.declare import declared, names, only, results_folder
from polyladder.experiments.engine.store import Store
from polyladder.experiments.pages.figures import INK, activation_plots, depth_curves, dot_plots, histograms
from polyladder.experiments.pages.page import html_page, markdown_page, markdown_section
from polyladder.experiments.pages.render import markdown, measured, terminal, verdicts
from tests.experiments.small import TEXT, filled, small

SVG = "{http://www.w3.org/2000/svg}"


def drawn(drawing, name):
    """How many marks (or lines without marks, or texts) the groups of a name have."""
    groups = [e for e in ElementTree.fromstring(drawing).iter(f"{SVG}g") if e.get("id") == name]
    return sum(max(1, sum(1 for _ in group.iter(f"{SVG}use"))) for group in groups)


def panels(drawing):
    return len(set(re.findall(r'id="axes_\d+"', drawing)))


def test_markdown_shows_ours_the_papers_marks_and_verdicts():
    d = small()
    lines = markdown(compare(d, filled(d)))
    assert lines[0] == "| RMSE | diabetes |"
    assert lines[2] == "| FFR | 51.0 ± 1.0<br>paper 55 ± 3 |"
    assert lines[3] == "| FM | **56.0 ± 1.0** |"
    assert lines[4] == "| LPNN | 61.0 ± 1.0<sup>a</sup><br>paper 54 ± 3 |"
    assert verdicts(compare(d, filled(d))) == [
        "FFR, beside the paper's: better in diabetes.",
        "LPNN, beside the paper's: worse in diabetes.",
    ]


OURS = """
[[model]]
name = "our recipe"
ours = true
estimator = { class = "LPNNRegressor" }

[published]"""


def test_our_recipe_is_set_beside_the_papers_ladder_and_our_rival():
    d = small(TEXT.replace("\n[published]", OURS))
    steady = compare(d, filled(d, lambda model, split: 40.0 + model + split))
    assert verdicts(steady)[2:] == [
        "our recipe, beside the paper's LPNN: lower in diabetes.",
        "our recipe, beside FFR by a paired t-test: worse in diabetes.",
    ]
    noisy = compare(d, filled(d, lambda model, split: 60.0 + model * (split - 1)))
    assert verdicts(noisy)[2:] == [
        "our recipe, beside the paper's LPNN: not lower in diabetes.",
        "our recipe, beside FFR by a paired t-test: not told apart in diabetes.",
    ]
    assert all("our recipe" not in line for line in verdicts(compare(d, {})))
    assert verdicts(compare(only(d, "/our recipe"), filled(d))) == []


def test_what_was_not_run_is_said():
    d = small()
    assert "not run" in markdown(compare(d, {}))[2]
    rows = filled(small(TEXT.replace("splits = 3", "splits = 2")))
    assert "2 of 3 splits" in markdown(compare(d, rows))[2]


def test_a_model_that_blew_up_is_named():
    d = small()
    rows = filled(d, lambda model, split: None if model == 1 and split == 2 else 50.0 + split)
    assert measured(compare(d, rows).cells["diabetes", "FM"], d) == "blew up"
    assert measured(compare(d, rows).cells["diabetes", "FFR"], d) == "51.0 ± 1.0"
    ElementTree.fromstring(dot_plots(compare(d, rows)))


def test_the_terminal_shows_the_same_numbers(capsys):
    from rich.console import Console

    d = small()
    Console(width=80).print(terminal(compare(d, filled(d))))
    out = capsys.readouterr().out
    assert "51.0 ± 1.0" in out
    assert "55 ± 3" in out


def test_dot_plots_have_a_dot_for_each_split_and_a_mark_for_each_published_figure():
    d = small()
    drawing = dot_plots(compare(d, filled(d)))
    assert drawn(drawing, "split") == 9
    assert drawn(drawing, "published") == 2


def test_depth_curves_have_a_point_for_each_depth():
    d = declared("table_4")
    drawing = depth_curves(compare(d, filled(d, lambda model, split: 5.0 + 0.1 * model + 0.01 * split)))
    assert panels(drawing) == 5
    assert drawn(drawing, "ours") == 25
    assert sum(1 for e in ElementTree.fromstring(drawing).iter(f"{SVG}use") if "7d8791" in e.get("style", "")) == 20


def test_activation_plots_have_a_dot_for_each_row():
    unit = {"unit": 3, "u": [0.0, 1.0, 2.0], "h": [0.0, 1.0, 4.0]}
    drawing = activation_plots({"layers": [[unit] * 4] * 3})
    assert drawn(drawing, "row") == 36


def test_histograms_have_a_panel_for_each_variance_and_input():
    each = {"input": 0, "ks": 0.1, "skewness": 0.0, "kurtosis": 3.0, "outside": 0, "histogram": [0, *[10] * 58, 0]}
    found = [{**each, "variance": v, "input": i} for v in (0.05, 0.1) for i in range(4)]
    drawing = histograms(found)
    assert panels(drawing) == drawn(drawing, "density") == 6
    assert "σ² = 0.05, test row 2" in drawing


def test_a_drawing_is_the_same_each_time_and_takes_the_ink_of_the_page():
    d = small()
    drawing = dot_plots(compare(d, filled(d)))
    assert drawing == dot_plots(compare(d, filled(d)))
    assert "currentColor" in drawing
    assert INK not in drawing


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    d = small()
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[plot\]'"):
        dot_plots(compare(d, filled(d)))


def test_the_html_page_needs_nothing_else_and_is_well_formed():
    d = small()
    page = html_page([compare(d, filled(d))])
    assert "<script" not in page
    assert not re.search(r"""(src|href)="(?!#)|url\((?!#)|@import""", page)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.S):
        ElementTree.fromstring(drawing)
    assert page.count("<svg") == 1
    assert "prefers-color-scheme: dark" in page
    assert "paper 55 ± 3" in page


def test_text_of_a_declaration_is_escaped():
    d = small(TEXT.replace("A small table", "1 < 2 & <b>"))
    page = html_page([compare(d, filled(d))])
    assert "1 &lt; 2 &amp; &lt;b&gt;" in page


def test_the_markdown_page_has_every_section():
    d = small()
    page = markdown_page([compare(d, filled(d))])
    for text in ("## A small table", "95 % intervals:", "<sup>a</sup> Two epochs. It is a test."):
        assert text in page


def test_pages_of_the_paper_can_be_made_of_an_empty_store():
    empty = [compare(declared(name), {}) for name in names()]
    assert "data not available" in markdown_page(empty)
    assert html_page(empty).count("<section>") == 7


MEASURED = """spread = "error"
source = "classic"

[[measure]]
field = "seconds"
label = "Seconds"

[[measure]]
field = "worst"
label = "Largest error"
over_splits = "largest"

[[model]]
name = "known"
splits = 0

[[column]]"""


def test_other_measures_standard_errors_and_models_that_are_only_published_are_shown():
    text = TEXT.replace("[[column]]", MEASURED).replace(
        "FFR = { diabetes", "known = { diabetes = [1.5] }\nFFR = { diabetes"
    )
    d = small(text)
    rows = filled(d)
    for row in rows.values():
        row |= {"seconds": 2.0, "worst": row.get("value")}
    lines = markdown_section(compare(d, rows)).splitlines()
    assert "| FFR | 56.0 ± 0.6<br>classic 55 ± 3 |" in lines
    assert "| known | 1.5 |" in lines
    seconds, worst = (
        lines.index(said) for said in ("Seconds, mean over splits:", "Largest error, largest over splits:")
    )
    assert lines[seconds + 4 : seconds + 7] == ["| FFR | 2.00 |", "| FM | 2.00 |", "| LPNN | 2.00 |"]
    assert lines[worst + 4] == "| FFR | 57.0 |"
    assert "95 % intervals:" not in lines


DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("page", "table"),
    [
        ("benchmarks", "regression"),
        ("rivals", "rivals"),
        ("rivals", "five_models"),
        ("bayesian", "bayesian"),
        ("bayesian", "bayesian_rivals"),
    ],
)
def test_the_tables_of_other_pages_are_what_the_store_gives(page, table):
    file = DOCS.parent / "benchmarks" / f"{table}.toml"
    d = declared(str(file))
    section = markdown_section(compare(d, Store(results_folder(str(file))).rows(table)))
    shown = f"<!-- benchmarks/{table}.toml -->\n{section}<!-- end -->"
    said = f"paste what `polyladder reproduce benchmarks/{table}.toml --markdown` prints into docs/{page}.md"
    assert shown in (DOCS / f"{page}.md").read_text(), said
