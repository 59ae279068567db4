import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

from polyladder import LPNNRegressor
from polyladder_lab.experiments.engine.plan import measurement
from polyladder_lab.experiments.runners.estimators import measured, run_estimators
from polyladder_lab.experiments.runners.sources import fits_of
from tests.lab.experiments.small import TEXT, small

LADDER = """name = "FM"
estimator = { class = "LPNNRegressor", order = 3, width = 4, n_estimators = 2 }
grid = { alpha = [1e-3, 1.0] }
while_selecting = { max_iter = 3 }
"""
RIDGE = """name = "FM"
estimator = { class = "sklearn.linear_model.Ridge", alpha = 10.0 }
"""
MACHINE = """name = "FM"
polynomial = true
network = { family = "machine", order = 2, rank = 2, l2 = 1e-4 }
"""


def rmse(model, fit):
    model.fit(fit.features[fit.train], fit.target[fit.train])
    return float(np.sqrt(np.mean((model.predict(fit.features[fit.test]) - fit.target[fit.test]) ** 2)))


@pytest.mark.slow
def test_a_group_is_as_good_as_its_estimators_one_by_one():
    assert MACHINE in TEXT
    d = small(TEXT.replace(MACHINE, LADDER))
    model = d.models[1]
    group = [measurement(d, d.columns[0], model, s, 0, d.selection) for s in d.settings(model, d.columns[0])]
    for each, results in zip(group, run_estimators(group), strict=True):
        parameters = {"order": 3, "width": 4, "n_estimators": 2, "max_iter": 3, **each.setting}
        expected = [rmse(LPNNRegressor(**parameters, random_state=each.seed), fit) for fit in fits_of(each)]
        assert [r.value for r in results] == pytest.approx(expected, rel=1e-6)


def test_the_last_fit_forgets_what_was_for_selecting():
    d = small(TEXT.replace(MACHINE, LADDER))
    last = measurement(d, d.columns[0], d.models[1], {"alpha": 1.0}, 0, None)
    assert "max_iter" not in last.options


def test_any_estimator_can_be_named_by_its_path():
    d = small(TEXT.replace(MACHINE, RIDGE))
    each = measurement(d, d.columns[0], d.models[1], {}, 2, None)
    result = run_estimators([each])[0][0]
    assert result.value == pytest.approx(rmse(Ridge(alpha=10.0), fits_of(each)[0]))


class Shelved(Ridge):
    """An estimator that says what it is made of."""

    packages = ("numpy", "scikit-learn")


def test_versions_of_other_packages_are_kept():
    named = RIDGE.replace("sklearn.linear_model.Ridge", f"{__name__}.Shelved")
    d = small(TEXT.replace(MACHINE, named))
    result = run_estimators([measurement(d, d.columns[0], d.models[1], {}, 2, None)])[0][0]
    assert result.more["packages"] == f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"


def test_log_loss_is_that_of_the_probabilities() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    model = LogisticRegression().fit(X, y)
    assert measured("log_loss", model, X, y).value == pytest.approx(log_loss(y, model.predict_proba(X)))
