"""What a page carries, read without a browser."""

import base64
import json
import re

import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder import BatchedGridSearchCV, FactorizationMachineRegressor, FeedforwardRegressor, LPNNRegressor
from polyladder.estimators.bayesian import BayesianLPNNRegressor
from polyladder.report.page import render_report, write_report
from polyladder.report.payload import card_json, payload
from tests.fitted.reading import read_model
from tests.report import models


def content(text):
    return json.loads(text.split('id="payload">')[1].split("</script>")[0])


def test_no_name_can_end_the_script_it_stands_in():
    X, y = models.mixed(names=models.HOSTILE)
    model = models.carded(models.regressor().fit(X, y), X, y, "</script><!--{{payload}}")
    text = render_report(model, X, y)
    assert text.count("</script") == 2
    assert text.count("<script") == 2
    assert "<img" not in text
    assert [c["name"] for c in content(text)["columns"]] == models.HOSTILE
    assert content(text)["target"] == "</script><!--{{payload}}"


def test_a_policy_allows_this_script_alone():
    model, _, _ = models.make("standard")
    text = render_report(model)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"(src|href)=\"(?!#)", text)


@pytest.mark.slow
def test_a_bayesian_model_of_thirteen_features_stays_below_six_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 13))
    model = BayesianLPNNRegressor(warmup=2, random_state=0).fit(X, X[:, 0] + rng.normal(size=60))
    path = write_report(model, tmp_path / "page.html", X, X[:, 0])
    assert path.stat().st_size < 6_000_000
    found = content(path.read_text())
    assert found["model"]["parts"][0]["draws"] == len(model.posterior_.weights)
    # Every draw is carried: a median of fewer would be another one.
    weights = np.frombuffer(base64.b64decode(found["model"]["parts"][0]["weights"]))
    assert len(weights) == len(model.posterior_.weights) * model.posterior_.weights.n_weights
    assert [p[0] for p in found["calibration"]["points"]] == pytest.approx(np.arange(0.1, 1, 0.1))


def test_card_supplies_names_densities_scores_and_bands():
    X, y = models.numbers()
    model = models.carded(models.regressor().fit(X, y), X, y, "strength (MPa)")
    found = payload(model)
    assert (found["target"], found["unit"]) == ("strength (MPa)", "MPa")
    assert found["columns"][0]["unit"] == "m"
    starts = [column["start"] for column in found["columns"]]
    assert (X.to_numpy() == starts).all(1).sum() == 1  # a row that is there
    assert sum(found["columns"][0]["density"]["counts"]) == len(X)
    assert found["band"]["half"] == [model.card_["residual_quantiles"]["90"]]
    assert found["band"]["source"] == "held-out rows"
    residuals = y[::2] - model.predict(X.iloc[::2])
    assert found["quality"][0]["rmse"][0] == pytest.approx(np.sqrt((residuals**2).mean()))
    assert found["order_path"] == [[2, 0.5], [3, 0.3], [4, 0.31]]
    assert found["rows"] == []


def test_rows_given_supply_densities_and_bands_without_a_card():
    model, X, y = models.make("mixed")
    found = payload(model, X, y)
    by_name = {c["name"]: c for c in found["columns"]}
    color = by_name["color"]
    assert dict(zip(color["categories"], color["density"]["counts"], strict=True)) == {
        **X["color"].value_counts().to_dict(),
        "missing": X["color"].isna().sum(),
    }
    assert by_name["always"]["kind"] == "constant"
    assert found["band"]["half"][0] == pytest.approx(np.quantile(np.abs(y - model.predict(X)), 0.9), rel=0.1)
    assert len(found["rows"]) == len(X)
    assert {row[1] is None for row in found["rows"]} == {True, False}
    without = payload(model, X)
    assert (without["quality"], without["band"]["kind"]) == ([], None)


def test_strongest_columns_come_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = 3 * X[:, 2] + X[:, 0] * X[:, 3]
    model = models.regressor(order=3, max_iter=20).fit(X, y)
    for found in (payload(model, X)["strengths"], payload(model)["strengths"]):
        assert found["columns"][0][0] == 2
        assert found["columns"][0][1] == pytest.approx(3, rel=0.2)
        assert found["columns"][-1][0] == 1
        assert found["pairs"][0][:2] == [0, 3]
        assert found["pairs"][0][2] == pytest.approx(1, rel=0.3)


def test_small_formula_is_the_model_in_its_own_units():
    X, y = models.numbers()
    model = models.regressor(order=2, n_estimators=1).fit(X, y)
    (formula,) = payload(model)["formula"]
    assert formula["own_units"]
    assert formula["rest"] == 0
    row = X.iloc[3]
    exact = model.polynomial_in_original_units()(torch.tensor(row.to_numpy()[None])).item()
    value = sum(v * np.prod([row[name] ** power for name, power in factors]) for v, factors in formula["terms"])
    assert value == pytest.approx(exact)


def test_long_formula_is_bounded():
    X, y = models.numbers()
    model = models.regressor("quantile", order=6).fit(X, y)
    (formula,) = payload(model)["formula"]
    assert not formula["own_units"]
    assert formula["total"] == 84
    z = model.inputs(X).numpy()
    inside = (np.abs(z) <= 1).all(1)
    names = model.features_.feature_names_out_
    short = sum(
        v * np.prod([z[:, names.index(name)] ** power for name, power in factors] or [np.ones(len(z))], axis=0)
        for v, factors in formula["terms"]
    )
    gap = np.abs(short - model.polynomial_(torch.tensor(z))[:, 0].numpy())[inside]
    assert inside.sum() > 5
    assert gap.max() <= formula["rest"] + 1e-9


def test_other_polynomials_and_searches_have_pages_too():
    X, y = models.numbers()
    machine = FactorizationMachineRegressor(random_state=0, max_iter=5).fit(X, y)
    assert content(render_report(machine))["card"]["order"] == machine.polynomial_.order
    search = BatchedGridSearchCV(
        LPNNRegressor(order=2, width=2, max_iter=2, random_state=0), {"alpha": [1e-3, 1e-1]}, cv=2
    )
    assert content(render_report(search.fit(X, y)))["estimator"] == "LPNNRegressor"


def test_what_has_no_page_is_refused():
    X, y = models.numbers()
    with pytest.raises(TypeError, match="with one behind it"):
        render_report(FeedforwardRegressor(max_iter=1, hidden=(3,)).fit(X, y))
    wide = LPNNRegressor(order=2, width=2, solver="adam", max_iter=1).fit(sparse.csr_matrix(X.to_numpy()), y)
    with pytest.raises(ValueError, match="dense table"):
        render_report(wide)
    model = models.regressor().fit(X, y)
    with pytest.raises(ValueError, match="target must come with rows"):
        render_report(model, target=y)
    with pytest.raises(ValueError, match="one entry per row"):
        render_report(model, X, y[:-1])
    classifier, X, labels = models.make("two classes")
    with pytest.raises(ValueError, match="must hold the classes"):
        render_report(classifier, X, np.where(labels == "low", "lower", labels))


def test_a_line_is_of_order_one_on_the_page() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    noise = np.random.default_rng(1).normal(size=60)
    line = LPNNRegressor(effort="low", random_state=0).fit(X, X @ [1.0, 2.0] + noise)
    assert line.selection_.floor == "linear"
    assert card_json(read_model(line, X))["order"] == 1
    curved = LPNNRegressor(order=3, max_iter=2, random_state=0).fit(X, X[:, 0] * X[:, 1])
    assert card_json(read_model(curved, X))["order"] == 3


@pytest.mark.slow
def test_a_model_with_a_spread_carries_it_and_others_do_not():
    model, X, y = models.make("spread")
    found = payload(model, X, y)
    assert found["band"] == {"level": 90, "kind": "spread"}
    assert found["spread"]["percents"] == [50, 90]
    assert (found["calibration"]["kind"], found["calibration"]["label"]) == ("intervals", "the rows given")
    for level, share, count in found["calibration"]["points"]:
        low, high = model.predict_interval(X, level)
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)))
        assert count == len(y)
    model.card_ = models.carded(model, X, y, "price").card_
    coverage = {"50": 0.4, "5": 0.1, "95": 0.9}
    model.card_["scores"][0] |= {"coverage": coverage, "scored": 77}
    known = payload(model)["calibration"]
    assert known["label"] == "held-out rows"
    assert known["points"] == [[0.05, 0.1, 77], [0.5, 0.4, 77], [0.95, 0.9, 77]]
    plain, X, y = models.make("standard")
    assert (payload(plain, X, y)["spread"], payload(plain, X, y)["calibration"]) == (None, None)
