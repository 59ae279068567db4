from typing import Any

import numpy as np
import pytest
import torch

from polyladder import FactorizationMachineClassifier
from polyladder.estimators.rivals.one_versus_rest import with_weights
from polyladder.models.factorization_machine import FactorizationMachine
from tests.estimators.rivals.test_rivals import product_rows

SMALL: dict[str, Any] = {"rank": 1, "max_iter": 3, "n_estimators": 2, "random_state": 0}


def three_classes(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X, y = product_rows(n)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 2.0])]


@pytest.mark.parametrize("solver", ["alternating", "adam"])
def test_each_class_has_the_model_that_it_has_alone(solver: str) -> None:
    X, labels = three_classes(60)
    model = FactorizationMachineClassifier(**SMALL, solver=solver, multiclass="ovr").fit(X, labels)
    scores = model.decision_function(X)
    for i, label in enumerate(model.classes_):
        alone = FactorizationMachineClassifier(**SMALL, solver=solver).fit(X, labels == label)
        np.testing.assert_allclose(scores[:, i], alone.decision_function(X), rtol=1e-6, atol=1e-7)


def test_probabilities_are_those_of_the_separate_models_over_their_sum() -> None:
    X, labels = three_classes(60)
    model = FactorizationMachineClassifier(**SMALL, multiclass="ovr").fit(X, labels)
    each = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), each / each.sum(1, keepdims=True), rtol=1e-12)
    softmax = FactorizationMachineClassifier(**SMALL, multiclass="softmax").fit(X, labels)
    powers = np.exp(softmax.decision_function(X))
    np.testing.assert_allclose(softmax.predict_proba(X), powers / powers.sum(1, keepdims=True), rtol=1e-12)


def test_two_classes_need_no_choice() -> None:
    X, y = product_rows(60)
    one, other = (
        FactorizationMachineClassifier(**SMALL, multiclass=multiclass).fit(X, y > 1)
        for multiclass in ("ovr", "softmax")
    )
    assert one.machine_.out_features == 1
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_another_choice_is_refused() -> None:
    with pytest.raises(
        ValueError, match="'multiclass' parameter of FactorizationMachineClassifier must be a str among"
    ):
        FactorizationMachineClassifier(**SMALL, multiclass="ovo").fit(*three_classes(30))  # type: ignore[arg-type]


def test_a_module_takes_weights_and_needs_no_gradients() -> None:
    source = FactorizationMachine(3, 2, 1, 2, seed=1)
    with torch.device("meta"):
        empty = FactorizationMachine(3, 2, 1, 2)
    filled = with_weights(empty, source.state_dict())
    assert filled.linear.dtype == torch.float64
    assert not filled.training
    assert not any(p.requires_grad for p in filled.parameters())
    z = torch.ones(2, 3)
    torch.testing.assert_close(filled(z.double()), source(z).double().detach())
