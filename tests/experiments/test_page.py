import re
from xml.etree import ElementTree

import pytest

from polyladder.experiments.compare import compare
from polyladder.experiments.declare import declared, names, only
from polyladder.experiments.figures import activation_plots, depth_curves, dot_plots, histograms
from polyladder.experiments.page import html_page, markdown_page
from polyladder.experiments.render import markdown, measured, terminal, verdicts
from polyladder.experiments.store import Store
from polyladder.experiments.svg import log_ticks, nice_ticks
from tests.experiments.small import TEXT, filled, small


def stored(tmp_path, d, rows):
    store = Store(tmp_path)
    store.append(d.name, rows.values())
    return Store(tmp_path)


def count(drawing, pattern):
    return sum(bool(re.search(pattern, e.get("class", ""))) for e in ElementTree.fromstring(drawing).iter())


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
    assert measured(compare(d, rows).cells["diabetes", "FM"], "rmse") == "blew up"
    assert measured(compare(d, rows).cells["diabetes", "FFR"], "rmse") == "51.0 ± 1.0"
    ElementTree.fromstring(dot_plots(compare(d, rows)))


def test_the_terminal_shows_the_same_numbers(capsys):
    from rich.console import Console

    d = small()
    Console(width=80).print(terminal(compare(d, filled(d))))
    out = capsys.readouterr().out
    assert "51.0 ± 1.0" in out
    assert "55 ± 3" in out


def test_dot_plots_have_a_dot_for_each_split():
    d = small()
    drawing = dot_plots(compare(d, filled(d)))
    assert count(drawing, r"^dot c\d$") + count(drawing, r"^edge c\d$") == 9
    assert count(drawing, "ring|edge start|edge paper") == 2


def test_depth_curves_have_a_point_for_each_depth():
    d = declared("table_4")
    drawing = depth_curves(compare(d, filled(d, lambda model, split: 5.0 + 0.1 * model + 0.01 * split)))
    assert count(drawing, "^dot c4$") == 25
    assert count(drawing, "^ring paper$") == 20


def test_activation_plots_have_a_dot_for_each_row():
    unit = {"unit": 3, "u": [0.0, 1.0, 2.0], "h": [0.0, 1.0, 4.0]}
    drawing = activation_plots({"layers": [[unit] * 4] * 3})
    assert count(drawing, "dot c4 faint") == 36


def test_histograms_have_a_panel_for_each_variance_and_input():
    each = {"input": 0, "ks": 0.1, "skewness": 0.0, "kurtosis": 3.0, "histogram": [0, *[10] * 58, 0]}
    found = [{**each, "variance": v, "input": i} for v in (0.05, 0.1) for i in range(4)]
    drawing = histograms(found, 580)
    assert count(drawing, "^stroke paper$") == 6
    assert count(drawing, "^bar c4$") == 6 * 58


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (-3.0, 40.0), (1e-4, 1.1e-4), (5.0, 5000.0)])
def test_ticks_lie_inside_and_are_few(low, high):
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 7
    assert all(low <= tick <= high for tick in ticks)


def test_log_ticks():
    assert log_ticks(3.0, 60.0) == [5.0, 10.0, 20.0, 50.0]


def test_the_html_page_needs_nothing_else_and_is_well_formed(tmp_path):
    d = small()
    page = html_page([d], stored(tmp_path, d, filled(d)))
    assert "<script" not in page
    assert not re.search(r"""(src|href)=|url\(|@import""", page)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.S):
        ElementTree.fromstring(drawing)
    assert page.count("<svg") == 1
    assert "prefers-color-scheme: dark" in page
    assert "paper 55 ± 3" in page


def test_text_of_a_declaration_is_escaped(tmp_path):
    d = small(TEXT.replace("A small table", "1 < 2 & <b>"))
    page = html_page([d], stored(tmp_path, d, filled(d)))
    assert "1 &lt; 2 &amp; &lt;b&gt;" in page


def test_the_markdown_page_has_every_section(tmp_path):
    d = small()
    page = markdown_page([d], stored(tmp_path, d, filled(d)))
    for text in ("## A small table", "95 % intervals:", "<sup>a</sup> Two epochs. It is a test."):
        assert text in page


def test_pages_of_the_paper_can_be_made_of_an_empty_store(tmp_path):
    declarations = [declared(name) for name in names()]
    assert "data not available" in markdown_page(declarations, Store(tmp_path))
    assert html_page(declarations, Store(tmp_path)).count("<section>") == 7
