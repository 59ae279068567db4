from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from sklearn.base import clone

from polyladder import (
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    GradientTraining,
    LPNNRegressor,
    PolynomialKernelClassifier,
    PolynomialKernelRegressor,
)


def product_rows(n: int = 200) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A target that is a factorization machine of order 2 and a sum of squares."""
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, 1 + X[:, 0] - 2 * X[:, 1] + 3 * X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        FactorizationMachineRegressor(order=2, random_state=0),
        FactorizationMachineRegressor(order=3, random_state=0),
        FactorizationMachineRegressor(order=2, solver="adam", max_iter=200, random_state=0),
        PolynomialKernelRegressor(degree=2, random_state=0),
        PolynomialKernelRegressor(degree=3, random_state=0),
        PolynomialKernelRegressor(degree=2, solver="adam", max_iter=200, random_state=0),
    ],
    ids=str,
)
def test_the_polynomial_is_the_model_and_it_fits(model: Any) -> None:
    X, y = product_rows()
    model = clone(model).set_params(guard=False).fit(X[:150], y[:150])
    z = torch.from_numpy(model.features_.transform(X[150:]))
    np.testing.assert_allclose(model.polynomial_(z)[:, 0].numpy(), model.predict(X[150:]), rtol=1e-6, atol=1e-6)
    assert model.score(X[150:], y[150:]) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("multiclass", ["softmax", "ovr"])
@pytest.mark.parametrize("model", [FactorizationMachineClassifier, PolynomialKernelClassifier])
def test_several_classes(model: type[Any], multiclass: str) -> None:
    X, y = product_rows(300)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 2.0])]
    fitted = model(multiclass=multiclass, learning_rate=0.05, max_iter=50, random_state=0).fit(X[:200], labels[:200])
    probability = fitted.predict_proba(X[200:])
    np.testing.assert_allclose(probability.sum(1), 1.0)
    assert fitted.score(X[200:], labels[200:]) > 0.75


def sparse_rows(n: int = 300, columns: int = 20_000) -> tuple[Any, np.ndarray[Any, Any]]:
    """One-hot rows over very many columns; the target is the sum of one weight for each of the first columns."""
    stream = np.random.default_rng(0)
    chosen = np.stack([stream.integers(0, 10, n), stream.integers(10, columns, n)], 1)
    X = scipy.sparse.csr_matrix((np.ones(2 * n), chosen.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, columns))
    return X, stream.normal(size=10)[chosen[:, 0]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        LPNNRegressor(order=2, width=2, max_iter=15, gradient=GradientTraining(0.05, 32), random_state=0),
        FactorizationMachineRegressor(rank=2, max_iter=15, batch_size=32, learning_rate=0.05, random_state=0),
        PolynomialKernelRegressor(degree=2, rank=2, max_iter=15, batch_size=32, learning_rate=0.05, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_rows_are_never_made_dense(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sparse_rows()

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a sparse matrix was made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(scipy.sparse.csr_matrix, name, refuse)
    monkeypatch.setattr(torch.Tensor, "to_dense", refuse)
    fitted = clone(model).fit(X, y)
    assert fitted.score(X, y) > 0.5
    np.testing.assert_allclose(fitted.predict(X.tocsc()), fitted.predict(X), rtol=1e-9)
