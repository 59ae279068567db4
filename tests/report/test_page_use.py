"""The page as it is used: written values, contributions, many levels, links, files, paper and access for all."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_friedman1

from polyladder import LPNNRegressor
from polyladder.automatic.fit_table import fit_table
from polyladder.automatic.model_rows import model_rows
from polyladder.fitted.values import values_of
from polyladder.report.page import write_report
from polyladder.tables.table_file import frame_file
from tests.report import browser as browsers
from tests.report import models

pytestmark = pytest.mark.slow

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
N = 160


@pytest.fixture(scope="module")
def browser():
    yield from browsers.opened()


def shop() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    day = rng.integers(0, 900, N)
    dates = (np.datetime64("2021-01-01") + day).astype(str)
    fee, size = 1000 + 9000 * rng.random(N), rng.uniform(30, 200, N)
    price = 50_000 + 2000 * size + 20 * day + 10 * fee
    return pl.DataFrame(
        {
            "fee": [f"${v:,.0f}" for v in fee],
            "sold": [f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in dates],
            "size (m2)": size.round(1),
            "kind": rng.choice(["a detached house with a large garden", "flat"], N),
            "price": [f"${v:,.0f}" for v in price],
        }
    )


def sorted_shop() -> pl.DataFrame:
    """The same rows with three classes to predict."""
    table = shop()
    third = (table["size (m2)"].rank("ordinal") - 1) * 3 // N
    return table.with_columns(third.cast(int).replace_strict({0: "low", 1: "middle", 2: "high"}).alias("price"))


def streets() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    number = np.concatenate([np.arange(300), rng.integers(0, 300, 900)])
    effect = rng.normal(size=300)
    x = rng.normal(size=1200)
    y = effect[number] + x
    return pl.DataFrame({"street": [f"street {i}" for i in number], "x": x.round(3), "y": y.round(3)})


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    """Open the page of a table by name and target; each is fitted once."""
    folder = tmp_path_factory.mktemp("pages")
    kept = {}

    def get(name, **window):
        if name not in kept:
            tables = {"levels": (streets, "y"), "classes": (sorted_shop, "price")}
            made, target = tables.get(name, (shop, "price"))
            table = made()
            model = fit_table(table, target, seconds=0, compare=False, bayesian=name == "posterior")
            file = frame_file(table)
            rows = model_rows(file, model).table(table)
            kept[name] = (write_report(model, folder / f"{name}.html", rows), model, rows)
        path, model, rows = kept[name]
        return browsers.Watched(browser, path, **window), model, rows

    return get


def test_dates_and_money_are_written_as_in_the_table(pages) -> None:
    page, model, _ = pages("shop")
    assert page.page.locator("#answer-value").inner_text().startswith("$")
    field = page.page.get_by_label("sold, as a date")
    field.fill("2022-03-01")
    field.dispatch_event("change")
    days = (np.datetime64("2022-03-01") - np.datetime64("1970-01-01")).astype(int)
    names = [column["name"] for column in model.card_["columns"]]
    assert page.values()[names.index("sold")] == days
    page.settle()
    assert "sold = 01.03.2022" in page.page.locator("#why-list").inner_text()
    assert page.page.locator("#control-1").get_attribute("aria-valuetext") == "01.03.2022"
    fee = page.page.get_by_label("fee, as a number")
    fee.fill("$2,500")
    fee.dispatch_event("change")
    assert page.values()[0] == 2500
    page.settle()
    ticks = page.page.locator('figure[data-column="1"] svg text').all_text_contents()
    assert any(text.startswith("01.01.202") for text in ticks)
    assert page.errors == []
    page.close()


@pytest.mark.parametrize("name", ["standard", "mixed", "cyclic", "two classes", "three classes", "posterior"])
def test_contributions_are_those_of_python_and_sum(browser, tmp_path, name: str) -> None:
    model, X, y = models.make(name)
    page = browsers.Watched(browser, write_report(model, tmp_path / "page.html", X, y))
    page.page.goto(f"{page.url}#row=3")
    page.page.reload()
    page.settle()
    found = page.page.evaluate("report.contributions()")
    total = found["start"] + sum(part["value"] for part in found["parts"])
    assert total == pytest.approx(found["end"], abs=1e-9)
    output = 0
    if name == "three classes":
        output = int(page.page.locator("#output").input_value())
    parts = model.explain(X).contributions
    assert found["start"] == pytest.approx(parts.start[output])
    assert found["end"] == pytest.approx(parts.outputs[2, output])
    by_column = {part["i"]: part["value"] for part in found["parts"]}
    assert [by_column[i] for i in sorted(by_column)] == pytest.approx(parts.values[2, :, output].tolist(), abs=1e-9)
    assert page.errors == []
    page.close()


def test_hundreds_of_levels_show_twenty_and_a_search(pages) -> None:
    page, _, _ = pages("levels")
    figure = page.page.locator('figure[data-column="0"]')
    assert figure.locator("circle").count() == 20
    assert "The 20 strongest of 300." in figure.inner_text()
    figure.get_by_role("searchbox").fill("street 29")
    assert figure.locator("circle").count() == 11
    assert {"street 29", "street 290", "street 299"} <= set(figure.locator("svg text").all_text_contents())
    assert page.errors == []
    page.close()


def test_labels_are_never_cut(pages) -> None:
    page, _, _ = pages("shop", width=400)
    text = " ".join(page.page.locator('figure[data-column="3"] svg text').all_text_contents())
    assert "a detached house with a large garden" in text
    assert "…" not in page.page.locator("#curve-grid").inner_text()
    inside = "e => [...e.querySelectorAll('svg text')].every(t => t.getBBox().x >= -1)"
    assert page.page.locator("#curve-grid").evaluate(inside)
    page.close()


def test_a_row_by_its_address_and_as_csv(pages) -> None:
    page, model, rows = pages("shop")
    page.page.goto(f"{page.url}#row=17")
    page.page.reload()
    page.settle()
    assert page.shown() == pytest.approx(model.predict(rows)[16])
    header, line = page.page.evaluate("report.csv()").strip().split("\n")
    assert header == "fee,sold,size (m2),kind"
    fee, sold, size, kind = line.split(",")
    values = dict(zip(rows.names, values_of(model.model_.columns, rows)[16], strict=True))
    assert (float(fee), float(size), kind) == (values["fee"], values["size (m2)"], values["kind"])
    assert sold == shop()["sold"][16]
    page.page.goto(f"{page.url}#row=9999")
    page.page.reload()
    assert "There is no row 9999" in page.page.locator("#row-note").inner_text()
    page.close()


def test_charts_are_saved_as_svg_and_csv(pages) -> None:
    page, _, _ = pages("shop")
    with page.page.expect_download() as waiting:
        page.page.get_by_label("Save the chart of fee").click()
    svg = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert 'stroke="rgb(' in svg
    with page.page.expect_download() as waiting:
        page.page.get_by_label("Save the numbers of fee").click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "fee,price,lower,upper"
    assert len(lines) > 100
    page.close()


@pytest.mark.parametrize("name", ["shop", "classes", "levels", "posterior"])
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_no_serious_finding_of_axe_and_no_overflow(pages, name: str, width: int, scheme: str) -> None:
    if not AXE.exists():
        browsers.give_up("axe-core is not installed (npm ci)")
    page, _, _ = pages(name, width=width, scheme=scheme)
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert int(page.page.evaluate("document.body.dataset.ready")) < 1000
    page.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.page.evaluate("axe.run()")["violations"]
    serious = [v for v in found if v["impact"] in ("serious", "critical")]
    words = [(v["id"], [n["html"][:120] for n in v["nodes"][:3]]) for v in serious]
    assert words == [], json.dumps(words, indent=1)
    assert page.errors == []
    page.close()


def test_the_keyboard_moves_a_slider_and_the_prediction(pages) -> None:
    page, _, _ = pages("shop")
    before = page.shown()
    page.page.locator("#control-2").focus()
    for _ in range(5):
        page.page.keyboard.press("ArrowRight")
    assert page.shown() != before
    page.close()


def test_paper_has_no_buttons_and_no_scrolling_parts(pages) -> None:
    page, _, _ = pages("levels")
    page.page.emulate_media(media="print")
    assert not page.page.locator("#copy").is_visible()
    assert not page.page.locator("#sections").is_visible()
    assert page.page.locator("#why").is_visible()
    assert page.page.locator(".tall").first.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
    page.close()


DRAWN = (
    "[...document.querySelectorAll('figure.curve, #pair-map, #reach-list')].map(e => e.querySelectorAll('svg').length)"
)


def test_whoever_waits_for_the_page_to_load_finds_every_chart(pages) -> None:
    # Those of a posterior take the longest.
    page, _, _ = pages("posterior", height=300)
    page.page.add_init_script(f"addEventListener('load', () => {{ globalThis.atLoad = {DRAWN}; }})")
    page.page.reload()
    page.page.wait_for_function("globalThis.atLoad")
    found = page.page.evaluate("atLoad")
    assert len(found) == 4 + 2
    assert min(found) >= 1
    assert page.page.locator("iframe").count() == 0
    assert page.errors == []
    page.close()


def test_a_narrower_window_draws_every_chart_anew_at_once(pages) -> None:
    page, _, _ = pages("shop", width=900)
    wide = "[...document.querySelectorAll('main svg')].filter(s => s.getBoundingClientRect().right > innerWidth).length"
    page.page.evaluate(f"addEventListener('resize', () => {{ globalThis.beyond = {wide}; }})")
    page.page.set_viewport_size({"width": 400, "height": 900})
    page.page.wait_for_function("globalThis.beyond !== undefined")
    assert page.page.evaluate("beyond") == 0
    page.close()


def test_paper_waits_for_no_idle_time(pages) -> None:
    page, _, _ = pages("shop")
    place = "document.querySelector('figure[data-column=\"2\"] circle.point').getAttribute('cx')"
    before, after, later = page.page.evaluate(
        f"(() => {{ const at = () => {place}; const before = at(); report.set({{ 2: 199 }});"
        " const later = at(); dispatchEvent(new Event('beforeprint')); return [before, at(), later]; })()"
    )
    assert before == later != after
    page.close()


def test_what_a_small_ladder_stands_for_is_said(browser, tmp_path) -> None:
    X, y = make_friedman1(150, noise=1.0, random_state=0)
    model = LPNNRegressor(compact=0.5, random_state=0).fit(X, y)
    assert model.selection_.compact.startswith("One ladder")
    page = browsers.Watched(browser, write_report(model, tmp_path / "page.html", X, y))
    assert model.selection_.compact in page.page.locator("#chosen-lead").inner_text()
    assert page.errors == []
    page.close()


def test_the_candidates_of_a_selection_are_listed_with_their_weights(pages) -> None:
    page, model, _ = pages("shop")
    rows = page.page.locator("#chosen-list tbody tr").all_inner_texts()
    counted = sorted((c.weight for c in model.selection_.kinds if c.weight > 0), reverse=True)
    assert len(rows) >= len(counted) > 0
    shown = [float(row.split("\t")[4].strip()) for row in rows[: len(counted)]]
    assert np.allclose(shown, counted, rtol=0.05)
    kinds = [tuple(row.split("\t")[:3]) for row in rows]
    assert len(set(kinds)) == len(kinds)
    assert f"{len(model.selection_.candidates)} candidates" in page.page.locator("#chosen-lead").inner_text()
    page.close()
