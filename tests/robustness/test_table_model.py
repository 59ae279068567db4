import numpy as np
import pytest
import torch

from polyladder import BayesianLPNNRegressor
from polyladder.robustness.table_model import check_step, read_estimator
from tests.robustness.tables import classifier, mixed_table, regressor


@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_a_box_in_own_units_and_back(features: str) -> None:
    model = read_estimator(regressor(features))
    X, _ = mixed_table()
    table = model.estimator.read_table(X[:10])
    lower, upper = model.moved(table, model.reach({"a": 0.3, "c": 0.1}))
    region = model.region(lower, upper)
    inputs = model.estimator.inputs(X[:10])
    assert ((region.lower <= inputs) & (inputs <= region.upper)).all()
    assert (region.upper > region.lower).any(0).sum() == 2
    back = model.original(inputs.numpy(), lower, upper)
    inside = np.clip(table.numbers, model.features.low_, model.features.high_)
    assert np.allclose(back, inside, atol=1e-6)
    predicted = torch.from_numpy(model.estimator.predict(X[:10]))
    torch.testing.assert_close(model.outputs(table)[:, 0], predicted, rtol=1e-12, atol=1e-12)


def test_columns_by_name() -> None:
    model = read_estimator(regressor())
    assert list(model.numeric) == ["a", "b", "c"]
    assert model.groups == {"k": [3, 4, 5]}
    assert model.categories("k") == ["x", "y", "z"]
    span = model.features.high_ - model.features.low_
    assert model.reach(0.1).tolist() == (0.1 * span).tolist()
    assert model.reach({"b": 2.0}).tolist() == [0.0, 2.0, 0.0, 0.0]
    with pytest.raises(
        ValueError, match="radius must name columns of numbers that vary, such as 'a', 'b', 'c'; got 'k'"
    ):
        model.reach({"k": 1.0})
    with pytest.raises(ValueError, match="got 'still'"):
        model.reach({"still": 1.0})


def test_combinations_of_categories() -> None:
    model = read_estimator(regressor())
    assert list(model.combinations({})) == [{"k": "x"}, {"k": "y"}, {"k": "z"}]
    assert list(model.combinations({"k": "y"})) == [{"k": "y"}]
    with pytest.raises(ValueError, match=r"fixed must give 'k' one of \['x', 'y', 'z'\]; got 'q'"):
        model.combinations({"k": "q"})


def test_rows_as_records() -> None:
    model = read_estimator(regressor())
    X, _ = mixed_table()
    assert model.records(model.estimator.read_table(X[:3])) == X[:3].to_dicts()


def test_classes_by_label() -> None:
    model = read_estimator(classifier(3))
    assert model.classes(["low", "high", "middle"]).tolist() == [1, 0, 2]
    assert model.limits is None
    with pytest.raises(ValueError, match="y must hold classes of the model; got 'none'"):
        model.classes(["none"])
    with pytest.raises(ValueError, match="must predict classes; it predicts numbers"):
        read_estimator(regressor()).classes(["low"])


def test_what_has_no_single_polynomial_is_refused() -> None:
    X, y = mixed_table(40)
    bayesian = BayesianLPNNRegressor(order=2, width=2, chains=1, draws=4, warmup=2).fit(X[:, :1].to_numpy(), y)
    for wrong in (bayesian, regressor, 3):
        with pytest.raises(TypeError, match="fitted estimator with one polynomial"):
            read_estimator(wrong)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf"), "far", True])
def test_steps_are_numbers(bad: object) -> None:
    with pytest.raises(ValueError, match="radius must be a finite number that is not negative"):
        check_step("radius", bad)
