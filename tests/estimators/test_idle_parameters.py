"""Every parameter that a fit would not read is refused by it, and only there."""

from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV

from polyladder import BatchedGridSearchCV, GradientTraining, LPNNClassifier, LPNNRegressor
from polyladder.estimators.idle_parameters import defaults, refuse_idle
from tests.estimators.small import rows

STEPS = GradientTraining(dropout=0.0)
SMALL: dict[str, Any] = {"width": 2, "max_iter": 1, "n_estimators": 1, "random_state": 0}
X, Y = rows(40)
LABELS = np.median(Y) < Y

EVERY_FIT = [
    ({"order": 2, "effort": "low"}, "effort must be 'default' where an order is given .*; got 'low'. Use order='auto'"),
    ({"solver": "adam", "effort": "high"}, "effort must be 'default' with solver='adam', .* Use solver='auto'"),
    (
        {"solver": "adam", "tol": 0.0},
        r"tol must be 0\.001 with solver='adam', .*; got 0\.0\. Use max_iter, or leave tol",
    ),
    ({"solver": "adam", "max_seconds": 1.0}, "max_seconds must be None with solver='adam', .* Use max_iter"),
    ({"solver": "alternating", "gradient": STEPS}, "gradient must be None with solver='alternating', .*solver='adam'"),
    ({"order": 2, "solver": "alternating", "gradient": STEPS}, "gradient must be None with solver='alternating'"),
    ({"warm_start": True}, "warm_start must be False with order='auto', which starts anew; got True. Give an order"),
]


@pytest.mark.parametrize(("parameters", "sentence"), EVERY_FIT)
@pytest.mark.parametrize("Model", [LPNNRegressor, LPNNClassifier])
def test_what_a_fit_would_not_read_is_refused(Model: Any, parameters: Any, sentence: str) -> None:
    model = Model(**SMALL, **parameters)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, Y if Model is LPNNRegressor else LABELS)
    assert not hasattr(model, "members_")


def test_a_selection_among_numbers_takes_no_gradient_steps() -> None:
    sentence = "gradient has no effect on dense rows with order='auto', .* Use solver='adam', or leave gradient out"
    with pytest.warns(UserWarning, match=sentence):
        LPNNRegressor(**SMALL, effort="low", gradient=STEPS).fit(X, Y)
    with (
        pytest.warns(DeprecationWarning, match="batch_size of LPNNRegressor moved"),
        pytest.warns(UserWarning, match="batch_size has no effect on dense rows"),
    ):
        LPNNRegressor(**SMALL, effort="low", batch_size=8).fit(X, Y)
    # Sparse rows are trained by the same parameters, and so may be classes where there are many rows.
    assert LPNNRegressor(**SMALL, gradient=STEPS).fit(sparse.csr_matrix(X), Y).solver_ == "adam"
    LPNNClassifier(**SMALL, effort="low", gradient=STEPS).fit(X, LABELS)


def test_a_selection_among_classes_makes_no_block_solves_unless_told() -> None:
    with pytest.raises(ValueError, match=r"tol must be 0\.001 with order='auto', .* Use solver='alternating'"):
        LPNNClassifier(**SMALL, tol=0.1).fit(X, LABELS)
    LPNNClassifier(**SMALL, effort="low", tol=0.1, solver="alternating").fit(X, LABELS)
    LPNNRegressor(**SMALL, effort="low", tol=0.1).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"tol": 0.1}, r"tol must be 0\.001 for rows in parts, .* Use max_iter"),
        ({"max_seconds": 1.0}, "max_seconds must be None for rows in parts, .* Use max_iter"),
        ({"warm_start": True}, "warm_start must be False for rows in parts, .* Fit to rows in memory"),
        ({"effort": "low"}, "effort must be 'default' for rows in parts, .* Fit to rows in memory"),
        ({"gradient": STEPS}, "gradient must be None for rows in parts, .* Fit to rows in memory"),
        ({"solver": "adam"}, "solver must be 'auto' or 'alternating' for rows in parts; got 'adam'"),
    ],
)
def test_what_rows_in_parts_do_not_read_is_refused(parameters: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LPNNRegressor(**SMALL, **parameters).fit_batches([(X, Y)])
    with pytest.raises(ValueError, match=sentence):
        LPNNRegressor(**SMALL, **parameters).fit(da.from_array(X), da.from_array(Y))


@pytest.mark.parametrize("Model", [LPNNRegressor, LPNNClassifier])
def test_defaults_are_never_refused(Model: Any) -> None:
    for solver in ("alternating", "adam"):
        usual = {**defaults(Model), **SMALL, "order": 2, "solver": solver}
        Model(**usual).fit(X, Y if Model is LPNNRegressor else LABELS)
    refuse_idle(Model(), "nowhere", dict.fromkeys(defaults(Model), "Use nothing"))


def test_where_the_rows_decide_nothing_is_refused() -> None:
    model = LPNNRegressor(**SMALL, order=2, gradient=STEPS, tol=0.1, max_seconds=100.0).fit(X, Y)
    assert model.solver_ == "alternating"
    assert model.set_params(max_seconds=1e-9).fit(X, Y).solver_ == "adam"


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
@pytest.mark.parametrize("Search", [GridSearchCV, BatchedGridSearchCV])
def test_a_grid_says_which_of_its_settings_have_no_effect(Search: Any) -> None:
    grid = {"solver": ["alternating", "adam"], "gradient": [None, STEPS]}
    with pytest.warns(FitFailedWarning, match="gradient must be None with solver='alternating'"):
        found = Search(LPNNRegressor(**SMALL, order=2), grid, cv=2).fit(X, Y)
    failed = np.isnan(found.cv_results_["mean_test_score"])
    said = [params for params, wrong in zip(found.cv_results_["params"], failed, strict=True) if wrong]
    assert said == [{"solver": "alternating", "gradient": STEPS}]
