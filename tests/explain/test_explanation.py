"""What `explain` refuses, and what it says of several outputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from polyladder import FeedforwardRegressor, LPNNClassifier, LPNNRegressor
from polyladder.explain.explanation import explain
from tests.cli.tables import sentence

TINY: dict[str, Any] = {"order": 2, "width": 2, "n_estimators": 1, "max_iter": 2, "random_state": 0}


def rows(n: int = 40) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, X[:, 0] * X[:, 1]


def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    X, y = rows()
    thin = LPNNRegressor(order=2, width=2, solver="adam", max_iter=1).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="must have been fitted to a dense table; got one of sparse rows"):
        explain(thin)
    thin.save(tmp_path / "sparse.ladder")
    assert "must have been fitted to a dense table" in sentence("explain", tmp_path / "sparse.ladder")
    with pytest.raises(TypeError, match="with one behind it; got FeedforwardRegressor"):
        explain(FeedforwardRegressor(hidden=(2,), max_iter=1).fit(X, y))
    model = LPNNRegressor(**TINY).fit(X, y)
    with pytest.raises(ValueError, match=r"feature must be a column of numbers; got 'x9'. Choose among x0, x1, x2\."):
        explain(model, X, feature="x9")


def test_several_outputs_have_formulas_and_no_curve() -> None:
    X, y = rows()
    model = LPNNClassifier(**TINY, solver="alternating").fit(X, np.digitize(y, [-0.3, 0.3]))
    found = explain(model, X)
    assert [formula.output for formula in found.formulas] == ["score of 0", "score of 1", "score of 2"]
    assert found.curve is None


def test_a_whole_formula_is_the_polynomial_in_own_units() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY, guard=False).fit(3 + 10 * X, y)
    (formula,) = explain(model, 3 + 10 * X, terms=10).formulas
    assert formula.own_units
    assert formula.error == pytest.approx(0, abs=1e-9)
    row = (3 + 10 * X)[5]
    value = sum(t.coefficient * np.prod([row[int(n[1:])] ** e for n, e in t.powers]) for t in formula.terms)
    assert value == pytest.approx(model.predict(row[None])[0])
    (short,) = explain(model, terms=4).formulas
    assert (len(short.terms), short.own_units, short.total) == (4, False, 10)


def test_explanations_show_themselves_in_a_line() -> None:
    X, y = rows()
    found = LPNNRegressor(**TINY).fit(X, y).explain(X)
    assert repr(found).startswith("Explanation(prediction: order ")
    assert repr(found).endswith("contributions to 40 rows)")
    assert repr(found.contributions).endswith(" at the training mean)")
    for shown in (found, found.contributions, found.curve):
        assert len(repr(shown)) < 300
    assert "contributions" not in repr(LPNNRegressor(**TINY).fit(X, y).explain())
