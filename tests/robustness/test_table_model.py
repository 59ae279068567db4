from copy import copy

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import BayesianLPNNRegressor, LPNNRegressor, certify
from polyladder.fitted.features import Features
from polyladder.robustness.attack import attack
from polyladder.robustness.certificate import check_number
from polyladder.robustness.optimize import minimize
from polyladder.robustness.table_model import STEP, read_estimator
from tests.robustness.tables import classifier, mixed_table, regressor


@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_a_box_in_own_units_and_back(features: str) -> None:
    model = read_estimator(regressor(features))
    X, _ = mixed_table()
    table = model.model.read(X[:10])
    lower, upper = model.moved(table, model.reach({"a": 0.3, "c": 0.1}))
    region = model.region(lower, upper)
    inputs = model.model.inputs(X[:10])
    assert ((region.lower <= inputs) & (inputs <= region.upper)).all()
    assert (region.upper > region.lower).any(0).sum() == 2
    back = model.original(inputs.numpy(), lower, upper)
    inside = np.clip(table.numbers, *np.array([column.reach for column in model.columns]).T)
    assert np.allclose(back, inside, atol=1e-6)
    predicted = torch.from_numpy(model.model.predict(X[:10]))
    torch.testing.assert_close(model.outputs(table)[:, 0], predicted, rtol=1e-12, atol=1e-12)


def test_columns_by_name() -> None:
    model = read_estimator(regressor())
    assert list(model.numeric) == ["a", "b", "c"]
    assert model.groups == {"k": [3, 4, 5]}
    assert list(model.texts["k"].categories) == ["x", "y", "z"]
    X, _ = mixed_table()
    span = [X[name].max() - X[name].min() for name in ("a", "b", "still", "c")]
    assert model.reach(0.1).tolist() == pytest.approx([0.1 * size for size in span])
    assert model.reach({"b": 2.0}).tolist() == [0.0, 2.0, 0.0, 0.0]
    with pytest.raises(
        ValueError, match="radius must name columns of numbers that vary, such as 'a', 'b', 'c'; got 'k'"
    ):
        model.reach({"k": 1.0})
    with pytest.raises(ValueError, match="got 'still'"):
        model.reach({"still": 1.0})


def test_a_radius_is_a_part_of_the_training_range_and_not_of_that_of_clipping() -> None:
    estimator, (X, _) = copy(regressor()), mixed_table()
    estimator.features_ = Features(margin=0.4).fit(X)
    steps = read_estimator(estimator).reach(0.02)
    assert steps[0] == pytest.approx(0.02 * (X["a"].max() - X["a"].min()))
    # Files of earlier versions hold the range of clipping alone.
    for name in ("least_", "greatest_", "integral_"):
        delattr(estimator.features_, name)
    np.testing.assert_allclose(read_estimator(estimator).reach(0.02), steps)


def test_outputs_have_a_meaning() -> None:
    assert read_estimator(regressor()).meaning(0) == "prediction"
    assert read_estimator(classifier(2)).meaning(0) == "log-odds of 'low'"
    assert read_estimator(classifier(3)).meaning(1) == "score of 'low'"


def test_rows_as_records() -> None:
    model = read_estimator(regressor())
    X, _ = mixed_table()
    assert model.records(model.model.read(X[:3])) == X[:3].to_dicts()


def test_classes_by_label() -> None:
    model = read_estimator(classifier(3))
    assert model.classes(["low", "high", "middle"]).tolist() == [1, 0, 2]
    assert model.model.guard is None
    with pytest.raises(ValueError, match="y must hold classes of the model; got 'none'"):
        model.classes(["none"])
    with pytest.raises(ValueError, match="must predict classes; it predicts numbers"):
        read_estimator(regressor()).classes(["low"])


def test_what_has_no_single_polynomial_is_refused() -> None:
    X, y = mixed_table(40)
    bayesian = BayesianLPNNRegressor(order=2, width=2, chains=1, draws=4, warmup=2).fit(X[:, :1].to_numpy(), y)
    for wrong, said in ((bayesian, "with one polynomial; got a Bayesian"), (regressor, "got _lru"), (3, "got int")):
        with pytest.raises(TypeError, match=said):
            read_estimator(wrong)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), "far", True])
def test_steps_are_numbers(bad: object) -> None:
    with pytest.raises(ValueError, match="radius must be a finite number that is not negative"):
        check_number("radius", bad, STEP)


def test_boxes_of_phases_hold_all_rows_and_searches_refuse_them() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"hour": rng.uniform(0, 24, 200), "b": rng.normal(size=200)})
    X.loc[::9, "hour"] = np.nan
    y = np.cos(2 * np.pi * X["hour"].fillna(3.0) / 24) * (1 + X["b"])
    features = Features(periods={"hour": 24})
    estimator = LPNNRegressor(order=3, width=3, n_estimators=1, features=features, guard=False, random_state=0).fit(
        X, y
    )
    rows, radius = X[:12].reset_index(drop=True), {"hour": 5.0, "b": 0.2}
    found = certify(estimator, rows, radius)
    steps = rng.uniform(-1, 1, (4000, 1, 2)) * list(radius.values())
    moved = rows.to_numpy() + np.concatenate([steps, np.sign(steps) * list(radius.values())])
    values = estimator.predict(pd.DataFrame(moved.reshape(-1, 2), columns=X.columns)).reshape(len(moved), -1)
    lower, upper, lowest, highest = (end[:, 0].numpy() for end in vars(found).values())
    assert (lower <= values.min(0)).all()
    assert (values.max(0) <= upper).all()
    # A bound on inputs that move apart is wider than what rows reach, but not without measure.
    assert (upper - lower).max() < 6 * np.ptp(values, 0).max()
    # What is said to be reached is reached by rows, not by inputs that no row has.
    assert (lowest >= values.min(0) - 1e-2).all()
    assert (highest <= values.max(0) + 1e-2).all()
    # A part of the training range moves the column too.
    assert (certify(estimator, rows[1:2], 0.1).upper > certify(estimator, rows[1:2], {"b": 0.1}).upper).all()
    words = "A search must have inputs that rise with their columns; those of 'hour' do not."
    for integer in ([], ["hour"]):
        with pytest.raises(ValueError, match=words):
            attack(estimator, rows[1:5], y[1:5], radius, integer=integer)
    with pytest.raises(ValueError, match=words):
        minimize(estimator)
