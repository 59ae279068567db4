"""The page in a browser: what it shows is what the estimator says."""

import json

import numpy as np
import polars as pl
import pytest

from polyladder.report.page import embedded, render_report, write_report
from tests.fitted.test_values import with_gaps
from tests.report import browser as browsers
from tests.report import models

pytestmark = pytest.mark.slow

REGRESSORS = ("standard", "quantile", "yeo-johnson", "mixed", "cyclic", "unclipped", "spread", "posterior")
CLASSIFIERS = ("two classes", "three classes", "posterior of two classes", "posterior of three classes")


@pytest.fixture(scope="module")
def browser():
    yield from browsers.opened()


@pytest.fixture(scope="module")
def open_page(browser, tmp_path_factory):
    """Open the page of a model by name; each is fitted and opened once."""
    kept = {}

    def get(name):
        if name not in kept:
            model, X, y = models.make(name)
            path = write_report(model, tmp_path_factory.mktemp("page") / "page.html", X, y)
            kept[name] = (browsers.Watched(browser, path), model, X)
        return kept[name]

    yield get
    for page, _, _ in kept.values():
        page.close()


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def columns_of(page):
    """The columns as the page has them, without their arrays."""
    fields = "{kind, low, high, start, flag, categories}"
    return page.page.evaluate(f"report.columns.map(({fields}) => ({fields}))")


@pytest.mark.parametrize("name", REGRESSORS)
def test_predictions_are_those_of_the_estimator(open_page, name):
    page, model, X = open_page(name)
    columns = columns_of(page)
    rows = models.some_rows(columns, 10)
    shown = []
    for row in rows:
        page.set(row)
        shown.append(page.shown())
    close(shown, model.predict(models.as_rows(X, columns, rows)))
    assert np.ptp(shown) > 0.1
    page.settle()
    assert page.errors == []


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_are_those_of_the_estimator(open_page, name):
    page, model, X = open_page(name)
    columns = columns_of(page)
    rows = models.some_rows(columns, 6)
    shown = []
    for row in rows:
        page.set(row)
        shown.append(page.probabilities())
    close(shown, model.predict_proba(models.as_rows(X, columns, rows)))
    assert np.ptp(shown) > 0.1
    page.settle()
    assert page.errors == []


def test_gaps_in_a_constant_column_count_on_the_page(browser, tmp_path):
    X, model = with_gaps()
    page = browsers.Watched(browser, write_report(model, tmp_path / "page.html", X))
    try:
        assert page.values()[1] == 5.0
        shown = []
        for row in ([0.5, 5.0], [0.5, None]):
            page.set(row)
            shown.append(page.shown())
        close(shown, model.predict(X.clear().vstack(pl.DataFrame({"a": [0.5, 0.5], "b": [5.0, np.nan]}))))
        assert shown[1] - shown[0] > 2
        assert page.page.is_checked("#control-1")
        page.page.uncheck("#control-1")
        assert page.values()[1] == 5.0
        assert page.shown() == shown[0]
        seen = set()
        for _ in range(30):
            page.page.click("#random")
            seen.add(page.values()[1])
        assert seen == {5.0, None}
        page.page.click("#reset")
        assert page.values()[1] == 5.0
        page.settle()
        assert page.errors == []
    finally:
        page.close()


def test_several_outputs_can_be_chosen(open_page):
    page, model, X = open_page("two outputs")
    row = models.some_rows(columns_of(page), 1, seed=3)
    page.set(row[0])
    for output in range(2):
        page.page.select_option("#output", str(output))
        page.settle()
        close(page.shown(), model.predict(models.as_rows(X, columns_of(page), row))[0, output])
    assert page.errors == []


@pytest.mark.parametrize("name", REGRESSORS)
def test_moving_a_slider_changes_the_prediction(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    sliders = page.page.locator("input[type=range]")
    for i in range(sliders.count()):
        sliders.nth(i).focus()
        for key in ("ArrowRight", "ArrowRight", "PageUp"):
            page.page.keyboard.press(key)
        before = page.shown()
        page.page.keyboard.press("ArrowLeft")
        close(page.shown(), model.predict(models.as_rows(X, columns_of(page), [page.values()]))[0])
        assert page.shown() != before
    page.settle()
    assert page.errors == []


def test_category_and_missing_value_by_their_controls(open_page):
    page, model, X = open_page("mixed")
    page.page.click("#reset")
    seen = set()
    for choice in ("red", "missing", "blue"):
        page.page.select_option("#controls select", label=choice)
        for action in ("check", "uncheck"):
            getattr(page.page.locator("#controls input[type=checkbox]"), action)()
            close(page.shown(), model.predict(models.as_rows(X, columns_of(page), [page.values()]))[0])
            seen.add(page.shown())
    assert len(seen) == 6
    page.page.locator("#controls input[type=number]").first.fill("99")
    page.page.keyboard.press("Enter")
    assert page.page.get_by_text("Outside the training range").is_visible()
    close(page.shown(), model.predict(models.as_rows(X, columns_of(page), [page.values()]))[0])


def test_bands_of_a_posterior_are_its_intervals(open_page):
    page, model, X = open_page("posterior")
    columns = columns_of(page)
    rows = models.some_rows(columns, 6, seed=5)
    bands = []
    for row in rows:
        page.set(row)
        bands.append([page.shown("low"), page.shown("high")])
    low, high = model.predict_interval(models.as_rows(X, columns, rows), level=0.9)
    close(bands, np.stack([low, high], 1), 1e-7)
    page.settle()
    found = page.page.evaluate("report.curve(0).parts.flat()")
    row = page.values()
    low, high = model.predict_interval(models.as_rows(X, columns, [[p["x"], *row[1:]] for p in found]), level=0.9)
    close([p["low"] for p in found], low, 2e-3)
    close([p["high"] for p in found], high, 2e-3)


def test_bands_of_a_spread_are_its_intervals(open_page):
    page, model, X = open_page("spread")
    columns = columns_of(page)
    rows = [*models.some_rows(columns, 6, seed=5), [40.0, -8.0, 0, None]]
    bands = []
    for row in rows:
        page.set(row)
        bands.append([page.shown("low"), page.shown("high")])
    low, high = model.predict_interval(models.as_rows(X, columns, rows), level=0.9)
    close(bands, np.stack([low, high], 1))
    page.set([*rows[0][:2], 1, None])
    page.settle()
    row = page.values()
    for i in (0, 1, 2):
        curve = page.page.evaluate("i => report.curve(i).items ?? report.curve(i).parts.flat()", i)
        # A curve lies inside the training range; at the ends of pieces a limit is drawn, which no value reaches.
        at = [p.get("x", k) for k, p in enumerate(curve)]
        given = models.as_rows(X, columns, [[*row[:i], v, *row[i + 1 :]] for v in at])
        for level, names in ((0.9, ("low", "high")), (0.5, ("innerLow", "innerHigh"))):
            ends = model.predict_interval(given, level=level)
            close([[p[name] for name in names] for p in curve], np.stack(ends, 1), 1e-8)
    assert page.page.locator('figure[data-column="0"] path.band').count() == 2
    words = page.page.locator("#answer-band").inner_text()
    assert words.startswith("90 % between ")
    assert "50 % between " in words
    assert "Stated against actual" in page.page.locator("#quality-grid svg").nth(3).get_attribute("aria-label")
    assert page.page.locator("#quality-grid path.chance").count() == 1
    assert page.errors == []


@pytest.mark.parametrize("name", ["standard", "quantile", "yeo-johnson", "mixed", "cyclic", "posterior", "two classes"])
def test_curves_and_their_extremes(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    page.settle()
    columns, row = columns_of(page), page.values()
    for i, column in enumerate(columns):
        if column["kind"] != "numeric":
            continue
        curve = page.page.evaluate(
            "i => ({parts: report.curve(i).parts, low: report.curve(i).low, high: report.curve(i).high})", i
        )
        dense = np.linspace(column["low"], column["high"], 1201)
        drawn = [p for part in curve["parts"] for p in part[1:-1] or part]

        def at(values, i=i):
            rows = models.as_rows(X, columns, [[*row[:i], v, *row[i + 1 :]] for v in values])
            return model.predict_proba(rows)[:, 1] if hasattr(model, "classes_") else model.predict(rows)

        close([p["y"] for p in drawn], at([p["x"] for p in drawn]))
        values = at(dense)
        # What is no polynomial is searched.
        slack = {"posterior": 2e-3, "cyclic": 1e-7}.get(name, 0.0) * np.ptp(values) + 1e-9
        assert curve["low"]["y"] <= values.min() + slack
        assert curve["high"]["y"] >= values.max() - slack
        if name != "quantile":
            # At a jump of the quantiles an extreme is a limit that no value reaches.
            close(at([curve["low"]["x"], curve["high"]["x"]]), [curve["low"]["y"], curve["high"]["y"]], 1e-8)


@pytest.mark.parametrize("name", ["standard", "yeo-johnson", "mixed", "cyclic", "two classes", "three classes"])
def test_slopes_are_derivatives(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    columns, row = columns_of(page), page.values()
    output = page.page.evaluate("Number(document.getElementById('output').value)")
    slopes = page.page.evaluate("report.slopes().map((v) => Number.isNaN(v) ? null : v)")
    for i, column in enumerate(columns):
        if column["kind"] != "numeric":
            continue
        step = 1e-5 * (column["high"] - column["low"])
        start = min(max(row[i], column["low"] + 10 * step), column["high"] - 10 * step)
        if start != row[i]:
            continue
        pair = models.as_rows(X, columns, [[*row[:i], row[i] + s, *row[i + 1 :]] for s in (step, -step)])
        up, down = model.predict_proba(pair)[:, output] if hasattr(model, "classes_") else model.predict(pair)
        close(slopes[i], (up - down) / (2 * step), 1e-5)


@pytest.mark.parametrize("name", ["standard", "quantile", "yeo-johnson", "cyclic", "posterior", "two classes"])
def test_what_it_takes_is_enough(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    page.settle()
    columns, now = columns_of(page), page.shown()
    wanted = now + (0.05 if hasattr(model, "classes_") else 0.4)
    page.page.fill("#wish-value", str(100 * wanted if hasattr(model, "classes_") else wanted))
    rows = page.page.locator("#wish-list tbody tr")
    assert rows.count() > 0
    row = page.values()
    for k in range(rows.count()):
        i, x = int(rows.nth(k).get_attribute("data-column")), float(rows.nth(k).get_attribute("data-x"))
        changed = models.as_rows(X, columns, [[*row[:i], x, *row[i + 1 :]]])
        found = model.predict_proba(changed)[0, 1] if hasattr(model, "classes_") else model.predict(changed)[0]
        close(found, wanted, 1e-7)
    rows.first.get_by_role("button").click()
    close(page.shown(), wanted, 1e-7)


@pytest.mark.parametrize("name", ["standard", "quantile", "mixed", "cyclic", "posterior", "two classes"])
def test_what_several_features_take_together_is_enough_and_not_too_little(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    page.settle()
    columns, now, row = columns_of(page), page.shown(), page.values()
    classes = hasattr(model, "classes_")

    def predicted(rows):
        frame = models.as_rows(X, columns, rows)
        return model.predict_proba(frame)[:, 1] if classes else model.predict(frame)

    wanted = now + (0.05 if classes else 0.4)
    page.page.fill("#wish-value", str(100 * wanted if classes else wanted))
    page.page.click("#together-find")
    note = page.page.locator("#together-list [data-share]")
    share, proven = (note.get_attribute(f"data-{word}") for word in ("share", "proven"))
    found, numeric = list(row), [i for i, c in enumerate(columns) if c["kind"] == "numeric"]
    for line in page.page.locator("#together-list tbody tr").all():
        found[int(line.get_attribute("data-column"))] = float(line.get_attribute("data-x"))
    moves = [abs(found[i] - row[i]) / (columns[i]["high"] - columns[i]["low"]) for i in numeric]
    assert 0 < max(moves) <= float(share) * (1 + 1e-9)
    close(predicted([found])[0], wanted, 1e-7)
    if name in ("posterior", "cyclic"):
        assert proven == "null"
    else:
        assert 0 < float(proven) <= float(share)
        rng = np.random.default_rng(0)
        near = [list(row) for _ in range(200)]
        for i in numeric:
            step = float(proven) * (columns[i]["high"] - columns[i]["low"])
            ends = np.clip([row[i] - step, row[i] + step], columns[i]["low"], columns[i]["high"])
            for each, end in zip(near, rng.integers(0, 2, 200), strict=True):
                each[i] = float(ends[end])
        assert (predicted(near) <= wanted).all()
    page.page.click("#together-set")
    close(page.shown(), wanted, 1e-7)
    # What was found belongs to the row before.
    assert page.page.locator("#together-list *").count() == 0


def test_only_ticked_features_move(open_page):
    page, _, _ = open_page("standard")
    page.page.click("#reset")
    page.settle()
    page.page.fill("#wish-value", str(page.shown() + 0.2))
    boxes = page.page.locator("#together-ticks input")
    boxes.first.focus()
    page.page.keyboard.press("Space")
    page.page.locator("#together-find").press("Enter")
    page.page.wait_for_selector("#together-list .faint")
    unticked = page.page.locator("#together-ticks label").first.inner_text()
    names = page.page.locator("#together-list td.name").all_inner_texts()
    assert names
    assert not any(text.startswith(unticked) for text in names)
    for box in boxes.all():
        box.uncheck()
    page.page.click("#together-find")
    assert "tick a feature" in page.page.inner_text("#together-list")
    for box in boxes.all():
        box.check()


@pytest.mark.parametrize("name", ["standard", "cyclic", "posterior"])
def test_contours_lie_on_their_levels(open_page, name):
    page, model, X = open_page(name)
    page.page.click("#reset")
    page.settle()
    drawn, row = page.page.evaluate("report.map()"), page.values()
    ends = [line[k : k + 2] for line in drawn["lines"][:: max(1, len(drawn["lines"]) // 60)] for k in (0, 2)]
    assert len(ends) > 40
    rows = [list(row) for _ in ends]
    for values, (x, y) in zip(rows, ends, strict=True):
        values[drawn["i"]], values[drawn["j"]] = x, y
    found = model.predict(models.as_rows(X, columns_of(page), rows))
    distance = np.abs(found[:, None] - np.array(drawn["levels"])).min(1)
    close_by = distance < 1e-5 * np.ptp(drawn["levels"])
    # The median of the believed draws jumps where a draw leaves the guard's range, and a contour crosses the jump.
    assert close_by.mean() > 0.95 if name == "posterior" else close_by.all()


@pytest.mark.parametrize("name", [*REGRESSORS, *CLASSIFIERS, "two outputs"])
def test_every_chart_draws_and_nothing_is_fetched(open_page, name):
    page, _, _ = open_page(name)
    page.settle()
    used = [c for c in columns_of(page) if c["kind"] != "constant"]
    figures = page.page.locator("figure.curve svg")
    assert figures.count() == len(used)
    numeric = sum(c["kind"] == "numeric" for c in used)
    assert page.page.locator("figure.curve path.curve").count() >= numeric
    drawn = page.page.evaluate("[...document.querySelectorAll('svg')].map((s) => s.outerHTML).join('')")
    assert "NaN" not in drawn
    assert "undefined" not in drawn
    assert page.page.locator("#reach-list svg").count() == len(used)
    assert page.page.locator("#quality-grid svg").count() >= 1
    assert page.page.locator("#strength-columns .item").count() == len(used)
    colors = page.page.evaluate(
        "(() => { const c = document.querySelector('#pair-map canvas');"
        " const image = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        " return new Set(new Uint32Array(image.data.buffer)).size; })()"
    )
    assert colors > 5
    assert page.errors == []
    assert page.requests == [page.url]


def test_names_are_shown_as_text(browser, tmp_path):
    X, y = models.mixed(names=models.HOSTILE)
    X[models.HOSTILE[2]] = X[models.HOSTILE[2]].replace("red", "<script>hacked()</script>")
    hostile = "</script><script>hacked()</script><!--"
    model = models.carded(models.regressor().fit(X, y), X, y, hostile)
    path = write_report(model, tmp_path / "page.html", X, y)
    page = browsers.Watched(browser, path)
    assert page.page.locator("h1").inner_text() == hostile
    assert page.page.title() == f"{hostile} - polyladder"
    names = page.page.locator("#controls label[for]").all_inner_texts()
    assert names == models.HOSTILE[:3]
    assert "<script>hacked()</script>" in page.page.locator("#controls option").all_inner_texts()
    assert page.page.locator("img, b >> text=width").count() == 0
    assert page.errors == []
    assert page.requests == [page.url]
    assert page.page.locator("script").count() == 2
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (380, "light")])
def test_it_fits_the_screen(browser, tmp_path, width, scheme):
    X, y = models.numbers()
    model = models.carded(models.regressor().fit(X, y), X, y, "strength (MPa)")
    page = browsers.Watched(browser, write_report(model, tmp_path / "page.html", X, y), width, 800, scheme)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(c) for c in background.strip("rgb()").split(","))
    assert brightness > 600 if scheme == "light" else brightness < 150
    browsers.ARTIFACTS.mkdir(parents=True, exist_ok=True)
    page.page.screenshot(path=browsers.ARTIFACTS / f"report-{width}-{scheme}.png", full_page=True)
    assert page.errors == []
    page.close()


def test_every_control_has_a_name_and_takes_focus(open_page):
    page, _, _ = open_page("mixed")
    nameless = page.page.evaluate(
        "[...document.querySelectorAll('input, select, button')].filter((e) => !e.closest('[hidden]')"
        " && !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map((e) => e.outerHTML)"
    )
    assert nameless == []
    reached = set()
    page.page.locator("body").press("Tab")
    for _ in range(60):
        reached.add(page.page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.page.keyboard.press("Tab")
    assert {
        "reset",
        "control-0",
        "control-1",
        "control-2",
        "pair-x",
        "pair-y",
        "wish-value",
        "together-find",
    } <= reached


def test_without_card_and_rows_there_is_less(browser, tmp_path):
    X, y = models.numbers()
    page = browsers.Watched(browser, write_report(models.regressor(order=2).fit(X, y), tmp_path / "page.html"))
    assert page.page.locator("#quality").is_hidden()
    assert page.page.locator("#random").is_hidden()
    assert page.page.locator("#formula").is_visible()
    assert page.page.locator("figure.curve").count() == 3
    assert page.page.locator("#answer-band").inner_text() == ""
    assert page.errors == []
    page.close()


def test_many_columns_come_on_demand(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    model = models.regressor(order=2).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    page = browsers.Watched(browser, write_report(model, tmp_path / "page.html", X))
    sliders, curves = page.page.locator("input[type=range]"), page.page.locator("figure.curve path.curve")
    assert (sliders.count(), curves.count()) == (24, 12)
    page.page.click("#more-controls")
    page.page.click("#more-curves")
    assert (sliders.count(), curves.count()) == (40, 40)
    assert page.page.locator("figure.curve .slope").last.inner_text().startswith("slope ")
    shared = curves.last.get_attribute("d")
    page.page.click("#own-scale")
    assert curves.last.get_attribute("d") != shared
    page.page.click("#same-scale")
    assert curves.last.get_attribute("d") == shared
    page.page.click("#random")
    page.settle()
    close(page.shown(), model.predict([page.values()])[0])
    # Charts are drawn when there is nothing else to do.
    last = "[...document.querySelectorAll('figure.curve path.curve')].at(-1)"
    page.page.wait_for_function(f"before => {last}.getAttribute('d') !== before", arg=shared)
    width = page.page.locator("figure.curve svg").first.bounding_box()["width"]
    page.page.set_viewport_size({"width": 700, "height": 800})
    page.page.wait_for_function(f"document.querySelector('figure.curve svg').getBoundingClientRect().width !== {width}")
    assert page.errors == []
    page.close()


# ---- What is said of the model ---------------------------------------------------------------------------------------


@pytest.fixture
def page_with(browser, tmp_path):
    """Open the page of a small model whose content was changed: a function from the content, which it edits."""
    opened = []

    def get(edit):
        X, y = models.numbers()
        model = models.carded(models.regressor(order=3).fit(X, y), X, y, "strength")
        path = write_report(model, tmp_path / "page.html", X, y)
        text = path.read_text(encoding="utf-8")
        before, mark, rest = text.partition('id="payload">')
        content, end, after = rest.partition("</script>")
        changed = json.loads(content)
        edit(changed)
        path.write_text("".join([before, mark, embedded(changed), end, after]), encoding="utf-8")
        opened.append(browsers.Watched(browser, path))
        assert opened[-1].errors == []
        return opened[-1].page

    yield get
    for page in opened:
        page.close()


@pytest.mark.parametrize(
    ("measure", "errors", "best", "better"),
    [
        ("rmse", {"ladder": 0.5, "linear": 0.4, "boosting": 0.3}, ["boosting"], "linear, boosting"),
        ("error", {"ladder": 0.1, "linear": 0.1, "boosting": 0.2}, ["ladder", "linear"], None),
        ("rmse", {"ladder": 0.5, "linear": 0.6}, ["ladder"], None),
    ],
)
def test_the_best_score_is_bold_and_a_better_model_is_named(page_with, measure, errors, best, better):
    def edit(content):
        content["card"]["scores"] = [{"model": name, measure: v, "seconds": 1.0} for name, v in errors.items()]

    page = page_with(edit)
    bold = page.evaluate(
        "[...document.querySelectorAll('#scores tbody tr')].filter((row) =>"
        " [...row.cells].every((cell) => Number(getComputedStyle(cell).fontWeight) >= 600))"
        ".map((row) => row.cells[0].textContent)"
    )
    assert bold == best
    said = page.locator("#scores p").all_inner_texts()
    assert said == ([] if better is None else [f"Better than the ladder on these rows: {better}."])


ORDERS = "//p[text()='Order']/.."


def test_orders_say_how_they_were_measured_and_which_was_taken(page_with):
    page = page_with(lambda content: None)
    note = page.locator(ORDERS).locator(".chart-note").inner_text()
    assert note == "By cross-validation."
    taken = page.locator(ORDERS).locator("circle.point")
    others = page.locator(ORDERS).locator("circle.atom")
    assert (taken.count(), others.count()) == (1, 2)
    # Orders 2, 3 and 4 were tried, and this ladder has order 3.
    places = [float(found.get_attribute("cx")) for found in (others.first, taken, others.last)]
    assert places == sorted(places)


def test_a_note_on_the_orders_is_their_caption(page_with):
    said = "RMSE by 5 folds; order 4 was <b>not</b> better by more than its standard error."
    page = page_with(lambda content: content.update(order_note=said))
    assert page.locator(ORDERS).locator(".chart-note").inner_text() == said


def test_interactions_are_drawn_on_the_scale_of_features(page_with):
    def edit(content):
        content["strengths"]["columns"] = [[0, 25.0], [1, 5.0], [2, 1.0]]
        content["strengths"]["pairs"] = [[0, 1, 0.0009], [1, 2, 0.0001]]

    page = page_with(edit)
    columns, pairs = (
        np.array(
            page.evaluate(
                f"[...document.querySelectorAll('#strength-{kind} .meter')].map((meter) =>"
                " [meter, meter.firstElementChild].map((e) => e.getBoundingClientRect().width))"
            )
        )
        for kind in ("columns", "pairs")
    )
    np.testing.assert_allclose(columns[:, 1] / columns[:, 0], [1.0, 0.2, 0.04], atol=0.01)
    np.testing.assert_allclose(pairs[:, 1] / pairs[:, 0], [0.0, 0.0], atol=0.001)
    np.testing.assert_allclose(pairs[:, 0], columns[0, 0], atol=1.0)


def test_without_interactions_the_strongest_features_are_mapped_and_the_page_says_so(page_with):
    def edit(content):
        content["strengths"]["columns"] = [[2, 25.0], [1, 5.0], [0, 1.0]]
        content["strengths"]["pairs"] = []

    page = page_with(edit)
    assert [page.locator(f"#pair-{axis}").input_value() for axis in "xy"] == ["2", "1"]
    assert "No two features act together" in page.locator("#pair-lead").inner_text()
    assert page.locator("#strength-pairs").inner_text() == "None: no two features change each other's effect."
    assert page.locator("#pair-map svg").count() == 1


@pytest.mark.parametrize("said", [None, "The fit is practically linear."])
def test_a_note_on_strengths_stands_above_the_bars(page_with, said):
    page = page_with(lambda content: content["strengths"].update({} if said is None else {"note": said}))
    note = page.locator("#strength-note")
    assert note.is_visible() == (said is not None)
    if said is not None:
        assert note.inner_text() == said
        assert note.bounding_box()["y"] < page.locator("#strength-columns").bounding_box()["y"]


def test_page_carries_what_json_can_hold():
    model, X, y = models.make("posterior")
    text = render_report(model, X, y)
    content = text.split('id="payload">')[1].split("</script>")[0]
    assert sum(part["draws"] for part in json.loads(content)["model"]["parts"]) == 18
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
