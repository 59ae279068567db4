from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.pages.page import html_page, markdown_section
from polyladder_lab.experiments.pages.searches import lines_of, terminal_search
from tests.lab.experiments.engine.test_searched import SEARCH, rows_of
from tests.lab.experiments.small import small


def test_every_setting_is_shown_and_the_chosen_one_is_bold():
    d = small(SEARCH)
    comparison = compare(d, rows_of(d, [[5.0, 5.0, 5.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]))
    section = markdown_section(comparison)
    assert "| held-out RMSE | setting | diabetes |" in section
    assert section.count("| FFR |") == 3
    assert section.count("**") == 2
    assert "**4.00** |" in section
    page = html_page([comparison])
    assert "<b>4.00</b>" in page
    assert page.count("<tr><th>FFR</th>") == 3


def test_the_terminal_shows_the_same():
    d = small(SEARCH)
    table = terminal_search(compare(d, rows_of(d, [[5.0, 5.0, 5.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0]])))
    assert [column.header for column in table.columns] == ["held-out RMSE", "setting", "diabetes"]
    errors = list(table.columns[2].cells)[:3]
    assert [(error.plain, str(error.style)) for error in errors] == [("6.00", ""), ("4.00", "bold"), ("5.00", "")]


def test_an_unfinished_search_chooses_nothing():
    d = small(SEARCH)
    rows = rows_of(d, [[5.0, 5.0, 5.0], [3.0, 3.0, 3.0], [4.0, 4.0, 4.0]])
    rows.popitem()
    lines = [line for line in lines_of(compare(d, rows)) if line.model == "FFR"]
    assert [line.errors for line in lines] == [{"diabetes": "6.00"}, {"diabetes": "4.00"}, {}]
    assert all(not line.chosen for line in lines)
