import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor, certified_radius, certify
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import read_estimator
from tests.robustness.tables import classifier, mixed_table, moved, regressor


@pytest.mark.parametrize("options", [{}, {"clip": False}, {"guard": False}])
@pytest.mark.parametrize("features", ["standard", "quantile", "yeo-johnson"])
def test_predictions_stay_in_the_certified_range(features: str, options: dict) -> None:
    model, (X, _) = regressor(features, **options), mixed_table()
    steps = {"a": 0.5, "b": 1.0, "c": 0.2}
    found = certify(model, X[:12], steps)
    predicted = model.predict(moved(X[:12], steps, 200)).reshape(12, 200)
    assert (predicted <= found.upper.numpy() + 1e-9).all()
    assert (predicted >= found.lower.numpy() - 1e-9).all()
    width = (found.upper - found.lower)[:, 0].numpy()
    assert (np.ptp(predicted, 1) > 0.3 * width).all()


def test_a_guard_holds_the_range() -> None:
    model, (X, y) = regressor(), mixed_table()
    found = certify(model, X[:5], 0.9)
    margin = 0.1 * np.ptp(y)
    assert (found.upper <= y.max() + margin + 1e-12).all()
    assert (found.lower >= y.min() - margin - 1e-12).all()


def test_scaled_boxes_share_their_rows() -> None:
    model, (X, _) = read_estimator(regressor()), mixed_table()
    boxes = TableBoxes.around(model, X[:3], 0.2)
    half = boxes.scaled(torch.tensor([0.5, 1.0, 0.0], dtype=torch.float64))
    assert torch.equal(half.region.upper[1], boxes.region.upper[1])
    assert torch.equal(half.region.upper[2], half.region.lower[2])


@pytest.mark.slow
def test_the_radius_that_is_proven_safe() -> None:
    X, _ = mixed_table()
    radius = certified_radius(regressor(), X[:6], regressor().predict(X[:6]), within=0.5).numpy()
    assert (radius > 0).all()
    span = {name: X[name].max() - X[name].min() for name in "abc"}
    for row in range(6):
        around = moved(X[row : row + 1], {name: radius[row] * s for name, s in span.items()}, 200)
        assert (np.abs(regressor().predict(around) - regressor().predict(X[row : row + 1])) <= 0.5 + 1e-9).all()
    for classes in (2, 3):
        model = classifier(classes)
        radius = certified_radius(model, X[:6], model.predict(X[:6])).numpy()
        assert (radius > 0).all()
        for row in range(6):
            around = moved(X[row : row + 1], {name: radius[row] * s for name, s in span.items()}, 200)
            assert (model.predict(around) == model.predict(X[row : row + 1])).all()


def test_what_is_refused() -> None:
    X, _ = mixed_table()
    with pytest.raises(ValueError, match="norm must be 'inf' for an estimator"):
        certify(regressor(), X[:2], 0.1, norm=2)
    with pytest.raises(TypeError, match="radius must be a number or a mapping"):
        certify(regressor(), X[:2], torch.ones(3))


@pytest.mark.slow
def test_found_predictions_of_ramps_are_of_rows_and_proven_ranges_hold() -> None:
    """The region lets a ramp move apart from its column; what is said to be found must be a prediction all the same."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = np.where(X[:, 0] > 0.2, 3.0, 0.0) + X[:, 1]
    model = LPNNRegressor(effort="low", random_state=0).fit(X, y)
    assert model.features_.ramps_ is not None
    found = certify(model, X[:6], 0.02)
    steps = read_estimator(model).reach(0.02)
    near = X[:6, None] + rng.uniform(-1, 1, (6, 300, 2)) * steps
    predicted = model.predict(near.reshape(-1, 2)).reshape(6, 300)
    assert (predicted <= found.upper.numpy() + 1e-9).all()
    assert (predicted >= found.lower.numpy() - 1e-9).all()
    assert (found.highest <= found.upper).all()
    assert (found.lowest >= found.lower).all()
    moves = np.array([[i, j] for i in (-1, 0, 1) for j in (-1, 0, 1)]) * steps
    reached = model.predict((X[:6, None] + moves).reshape(-1, 2)).reshape(6, 9)
    # What is found is a corner or a middle, and none of those goes much further: where a curve bends, the search takes
    # the end that its slope at the row points to.
    assert ((found.highest - found.lowest)[:, 0].numpy() >= 0.95 * np.ptp(reached, 1)).all()
    assert (np.abs(found.highest.numpy() - reached).min(1) < 1e-9).all()
