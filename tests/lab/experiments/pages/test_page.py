import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from polyladder.files.kinds import PAGE
from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, names, results_folder
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.page import MARK, html_page, markdown_page, markdown_section
from tests.lab.experiments.small import TEXT, filled, small


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


@pytest.mark.parametrize("kind", ["models", "settings"])
def test_rows_of_lost_commits_are_named_beside_the_table(kind):
    d = dataclasses.replace(small(), compare=kind, lost_commits=("abc",))
    rows = {key: {"column": "diabetes", "model": "FM", "commit": "abc"} | row for key, row in filled(d).items()}
    said = f"of the {len(rows)} stored rows were measured by commits that are no longer in the repository (abc)"
    assert said in markdown_section(compare(d, rows))
    assert said in html_page([compare(d, rows)])
    assert "no longer in the repository" not in markdown_section(compare(d, filled(d)))


def test_pages_of_the_paper_can_be_made_of_an_empty_store():
    empty = [compare(declared(name), {}) for name in names()]
    assert "data not available" in markdown_page(empty)
    assert html_page(empty).count("<section>") == len(names())


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


def test_a_page_is_recognized_as_one_of_this_command(tmp_path):
    (tmp_path / "page.html").write_text(html_page([]))
    assert MARK.match((tmp_path / "page.html").read_bytes())
    assert not PAGE.recognizes(tmp_path / "page.html")
    assert not MARK.match(html_page([]).replace("polyladder reproduce", "polyladder report").encode())


DOCS = Path(__file__).parents[4] / "docs"


def test_both_figures_have_their_picture():
    page = markdown_page([compare(declared(name), {}) for name in ("figure_1", "figure_2", "table_1")])
    shown = re.findall(r"!\[(.*?)\]\((.*?)\)", page)
    assert [title for title, _ in shown] == [declared(name).title for name in ("figure_1", "figure_2")]
    assert all((DOCS / file).stat().st_size > 10_000 for _, file in shown)


@pytest.mark.parametrize(
    ("page", "table"),
    [
        ("benchmarks", "regression"),
        ("rivals", "rivals"),
        ("rivals", "five_models"),
        ("bayesian", "bayesian"),
        ("bayesian", "bayesian_rivals"),
        ("distributions", "distributions"),
        ("choosing", "effort"),
        ("choosing", "effort_classes"),
    ],
)
def test_the_tables_of_other_pages_are_what_the_store_gives(page, table):
    file = DOCS.parent / "benchmarks" / f"{table}.toml"
    d = declared(str(file))
    section = markdown_section(compare(d, Store(results_folder(str(file))).rows(table)))
    shown = f"<!-- benchmarks/{table}.toml -->\n{section}<!-- end -->"
    said = f"paste what `polyladder reproduce benchmarks/{table}.toml --markdown` prints into docs/{page}.md"
    assert shown in (DOCS / f"{page}.md").read_text(), said
