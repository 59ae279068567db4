"""The report page as a picture; needs Playwright and Chromium.

Run: python docs/figures/report.py
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from playwright.sync_api import sync_playwright

from polyladder import LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.report.page import write_report
from polyladder_lab import load_dataset
from tests.report.browser import FLAGS, NAMES


def main() -> None:
    """Fit concrete, write its page, take a picture of the first screen."""
    torch.set_num_threads(1)
    data = load_dataset("concrete")
    X = pd.DataFrame(data.features, columns=data.feature_names).astype(float)
    y = np.asarray(data.target, dtype=float)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:850], order[850:]
    model = LPNNRegressor(random_state=0).fit(X.iloc[train], y[train])
    held_out = {"observed": y[test].tolist(), "predicted": model.predict(X.iloc[test]).tolist()}
    model.card_ = make_card(model, X.iloc[train], target="strength (MPa)", held_out=held_out)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = write_report(model, Path(folder) / "report.html", X.iloc[test], y[test])
        chromium = next(found for name in NAMES if (found := shutil.which(name)))
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        page.evaluate("report.settled()")
        page.screenshot(path=Path(__file__).with_suffix(".png"))
        browser.close()


if __name__ == "__main__":
    main()
