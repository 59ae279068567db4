from typing import Any

import numpy as np
import pytest
import torch

from polyladder import FeedforwardClassifier, FeedforwardRegressor
from tests.estimators.rivals.test_rivals import product_rows

SMALL: dict[str, Any] = {"hidden": (4,), "max_iter": 3, "dropout": 0.0, "random_state": 0}


@pytest.mark.slow
def test_a_quadratic_network_fits_a_quadratic() -> None:
    X, y = product_rows()
    model = FeedforwardRegressor(hidden=(16,), activation="quadratic", dropout=0.0, max_iter=200, random_state=0)
    assert model.fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.9


def test_predictions_are_the_mean_of_the_networks_in_the_targets_units() -> None:
    X, y = product_rows(60)
    model = FeedforwardRegressor(**SMALL, n_estimators=3, guard=False).fit(X, y)
    z = torch.from_numpy(model.features_.transform(X))
    each = np.stack([model.network_[i](z)[:, 0].numpy() for i in range(3)])
    assert not np.allclose(each[0], each[1])
    np.testing.assert_allclose(model.predict(X), each.mean(0) * y.std() + y.mean(), rtol=1e-10, atol=1e-10)
    assert not model.network_.training
    assert not any(p.requires_grad for p in model.network_.parameters())


def test_scores_of_classes_have_no_units() -> None:
    X, y = product_rows(60)
    model = FeedforwardClassifier(**SMALL).fit(X, y > 1)
    z = torch.from_numpy(model.features_.transform(X))
    np.testing.assert_allclose(model.decision_function(X), model.network_(z).mean(0)[:, 0].numpy(), rtol=1e-10)


def test_a_network_without_layers_is_an_affine_function() -> None:
    X, y = product_rows(60)
    model = FeedforwardRegressor(**{**SMALL, "hidden": ()}, clip=False, guard=False).fit(X, y)
    middle = model.predict((X[:20] + X[20:40]) / 2)
    np.testing.assert_allclose(middle, (model.predict(X[:20]) + model.predict(X[20:40])) / 2, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hidden": (4, 0)}, r"'hidden' parameter of FeedforwardRegressor must be a sequence of ints in the range \[1"),
        ({"hidden": 4}, "'hidden' parameter"),
        ({"hidden": "44"}, "'hidden' parameter"),
        ({"activation": "tanh"}, "'activation' parameter of FeedforwardRegressor must be a str among {'relu', 'quad"),
        ({"dropout": 1.0}, r"'dropout' parameter of FeedforwardRegressor must be a float in the range \[0, 1\)"),
    ],
)
def test_bad_parameters_are_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        FeedforwardRegressor(**{**SMALL, **change}).fit(*product_rows(20))


def test_a_network_is_no_ladder() -> None:
    model = FeedforwardRegressor(**SMALL).fit(*product_rows(20))
    with pytest.raises(ValueError, match="must be written otherwise than as a ladder"):
        model.polynomial_in_original_units()
