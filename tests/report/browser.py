"""A browser for the tests of the page: the system's Chromium, driven by Playwright."""

import os
import shutil
import tempfile
import warnings
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
ARTIFACTS = Path(os.environ.get("POLYLADDER_ARTIFACTS", Path(tempfile.gettempdir()) / "polyladder-artifacts"))


def opened():
    """Yield a running browser, or skip with a warning that stays in sight."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up("Playwright is not installed")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        give_up("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS), headless=True)
        yield browser
        browser.close()


def give_up(why):
    warnings.warn(f"The report page was not tested in a browser: {why}.", stacklevel=2)
    pytest.skip(f"{why}: the report page is not tested")


class Watched:
    """A page that remembers its errors and requests."""

    def __init__(self, browser, path, width=1280, height=900, scheme="light"):
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.errors, self.requests = [], []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url)
        self.settle()

    def settle(self):
        self.page.evaluate("report.settled()")

    def set(self, values):
        """Put the row of values into the page; None is a missing number."""
        self.page.evaluate(
            "values => report.set(Object.fromEntries(values.map((v, i) => [i, v === null ? NaN : v])))", values
        )

    def values(self):
        found = self.page.evaluate("report.values().map((v) => Number.isNaN(v) ? null : v)")
        return [None if v is None else v for v in found]

    def shown(self, name="value"):
        """The number in the large type, as precise as the page has it."""
        return float(self.page.locator("#answer-value").get_attribute(f"data-{name}"))

    def probabilities(self):
        return self.page.evaluate("report.answer().probabilities")

    def close(self):
        self.context.close()
