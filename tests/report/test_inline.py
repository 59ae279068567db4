"""The page inside a notebook."""

from tests.report import models


def test_the_page_stands_in_a_frame_of_its_own() -> None:
    model, X, y = models.make("standard")
    found = model.report(X, y)
    text = found._repr_html_()
    assert text.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox="allow-scripts allow-downloads"' in text
    assert "<script" not in text
    assert repr(found).startswith("InlineReport(")
