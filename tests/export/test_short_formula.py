"""A formula of a few terms: its terms, its text, and how far it says it is."""

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import BayesianLPNNRegressor, LadderPolynomial, LPNNClassifier, LPNNRegressor
from polyladder.export.short_formula import Factor, ShortFormula, matched, product, products, short_formula
from polyladder.fitted.model import fitted_model
from polyladder.tables.table import Table
from tests.ladders import random_ladder, rows

RNG = np.random.default_rng(0)
X = RNG.uniform(1, 3, size=(120, 3))
SMALL: dict[str, Any] = {"order": 3, "width": 6, "n_estimators": 2, "max_iter": 20, "random_state": 0}


def bilinear() -> LadderPolynomial:
    """2 - 3 x1 x2 as a ladder of three inputs."""

    def numbers(*values: Any) -> torch.Tensor:
        return torch.tensor(values, dtype=torch.float64)

    return LadderPolynomial(
        W=(numbers([0.0, 1.0, 0.0]),),
        b=(numbers(0.0),),
        V=(numbers([0.0, 0.0, 1.0]),),
        c=(numbers(0.0),),
        readout=numbers([-3.0]),
        offset=numbers(2.0),
    )


@cache
def regressor() -> LPNNRegressor:
    return LPNNRegressor(**SMALL).fit(X, X[:, 0] ** 2 + X[:, 1] * X[:, 2])


def test_a_short_polynomial_is_found_exactly() -> None:
    found = short_formula(bilinear(), X, terms=5)
    ((constant, none), (value, powers)) = found.terms[0]
    assert (none, powers) == ((), ((1, 1), (2, 1)))
    assert (constant, value) == pytest.approx((2.0, -3.0), rel=1e-3)
    assert str(found).splitlines()[0] == "prediction = 2 - 3 * x1 * x2"
    assert found.shares[0] < 1e-6


def test_the_difference_is_the_one_measured() -> None:
    model = regressor()
    found = short_formula(model, X, terms=4)
    new = RNG.uniform(1, 3, size=(4_000, 3))
    gap = found.values(fitted_model(model).read(new))[:, 0] - model.predict(new)
    assert found.differences[0] == pytest.approx(np.sqrt(np.mean(gap**2)), rel=0.3)
    assert found.shares[0] == pytest.approx(np.mean(gap**2) / model.predict(new).var(), rel=0.3)
    assert f"{len(found.terms[0])} terms; measured difference to the model" in str(found)


def test_more_terms_come_closer_and_none_is_a_constant() -> None:
    shares = [short_formula(regressor(), X, terms=k).shares[0] for k in (1, 2, 4, 8)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(1.0, abs=0.05)
    assert len(short_formula(regressor(), X, terms=1).terms[0]) == 1


def test_the_text_says_what_the_values_are() -> None:
    found = short_formula(regressor(), X, terms=6)
    text = str(found).splitlines()[0].removeprefix("prediction = ").replace("^", "**")
    values = [eval(text, {f"x{i}": value for i, value in enumerate(row)}) for row in X]
    np.testing.assert_allclose(values, found.values(fitted_model(regressor()).read(X))[:, 0], rtol=1e-9)


def test_rows_that_the_model_keeps_are_enough_and_seeds_repeat() -> None:
    first, second, third = (short_formula(regressor(), terms=4, seed=s) for s in (0, 0, 1))
    assert first == second
    assert first.terms != third.terms


def test_categories_and_missing_numbers() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "color": RNG.choice(["red", "green", None], 120)})
    frame.loc[::7, "x"] = np.nan
    y = frame["x"].fillna(2.0) + 5 * (frame["color"] == "red")
    model = LPNNRegressor(**SMALL).fit(frame, y)
    found = short_formula(model, frame, terms=3)
    assert "[color = red]" in str(found)
    assert "where [color = red] is 1 if that holds, else 0" in str(found)
    assert found.shares[0] < 0.2
    assert np.isfinite(found.values(fitted_model(model).read(frame))).all()


@pytest.mark.parametrize(("classes", "words", "outputs"), [(2, "log-odds", 1), (3, "scores", 3)])
def test_classes(classes: int, words: str, outputs: int) -> None:
    y = np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, classes) / classes))
    model = LPNNClassifier(**SMALL).fit(X, y)
    found = short_formula(model, X, terms=4)
    assert len(found.terms) == len(found.outputs) == outputs
    assert str(found).splitlines()[-1].startswith(f"These are {words}")
    values = found.values(fitted_model(model).read(X))
    likely = (values[:, 0] > 0).astype(int) if outputs == 1 else values.argmax(1)
    assert np.mean(likely == model.predict(X)) > 0.8


@pytest.mark.parametrize("value", [0.0, 7.0, -1e-9])
def test_a_constant(value: float) -> None:
    model = LPNNRegressor(order=2, width=2, random_state=0).fit(X, np.full(120, value))
    found = short_formula(model, X)
    assert found.values(fitted_model(model).read(X))[:, 0] == pytest.approx(value, abs=1e-12)
    assert re.fullmatch(r"-? ?[\d.e+-]+", str(found).splitlines()[0].removeprefix("prediction = "))


def test_a_table_of_many_columns() -> None:
    wide = RNG.normal(size=(80, 40))
    model = LPNNRegressor(**SMALL).fit(wide, wide[:, 33] * 3)
    assert "x33" in str(short_formula(model, wide, terms=2))


def test_the_terms_are_what_least_squares_says() -> None:
    x, y = RNG.normal(size=(300, 2)).T
    powers: list[Any] = [((0, 1),), ((1, 1),), ((0, 1), (1, 1))]
    matrix = np.stack([x, y, x * y], 1)
    found = matched(matrix, powers, 4 + 3 * x * y - 0.5 * x, 3)
    assert [p for _, p in found] == [(), ((0, 1), (1, 1)), ((0, 1),)]
    assert [v for v, _ in found] == pytest.approx([4, 3, -0.5], abs=2e-3)


def test_products() -> None:
    factors = [Factor(0, "x"), Factor(1, "c = a", "a"), Factor(1, "c = b", "b")]
    found = set(products(factors))
    assert ((0, 3),) in found
    assert ((0, 2), (1, 1)) in found
    assert ((1, 2),) not in found  # the square of a category is itself
    assert ((1, 1), (2, 1)) not in found  # two categories of a column exclude each other
    assert len(found) == 3 + 2 + 2 + 2  # x alone; a and b; with x; with x^2
    assert product([np.array([2.0]), np.array([3.0])], ((0, 2), (1, 1))) == 12
    assert product([], ()) == 1


def test_a_factor_reads_its_column() -> None:
    table = Table(np.array([[1.0], [np.nan]]), {0: np.array(["a", None], dtype=object)}, (1,), ("c", "x"))
    assert Factor(1, "x", typical=4.0).values(table).tolist() == [1.0, 4.0]
    assert Factor(0, "c = a", "a").values(table).tolist() == [1.0, 0.0]


def test_signs_and_powers_as_text() -> None:
    factors = (Factor(0, "x"), Factor(1, "c = a", "a"))
    found = ShortFormula(("price",), factors, (((-2.5, ()), (1.0, ((0, 2), (1, 1)))),), (0.25,), (0.5,))
    assert str(found).splitlines() == [
        "price = - 2.5 + 1 * x^2 * [c = a]",
        "    2 terms; measured difference to the model 0.25 (root mean square between the rows given), 50% of the "
        "variance of its answers",
        "where [c = a] is 1 if that holds, else 0",
    ]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="terms must be at least 1; got 0"):
        short_formula(regressor(), X, terms=0)
    with pytest.raises(ValueError, match="rows must be given"):
        short_formula(random_ladder(d=3, m=1))
    short = BayesianLPNNRegressor(order=2, width=2, chains=2, warmup=2, draws=4, random_state=0).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="one of numbers or classes for a short formula; it is a BayesianLPNNRegressor"):
        short_formula(short, X)


def test_a_ladder_of_two_outputs() -> None:
    found = short_formula(random_ladder(d=3), rows(60, 3).numpy(), terms=3)
    assert len(found.terms) == len(found.differences) == 2


def test_dates_and_blanks_are_explained() -> None:
    """Numbers that are put in as they stand in the table would be wrong without these lines."""
    rng = np.random.default_rng(0)
    days, size = rng.integers(0, 400, 150), rng.normal(size=150)
    frame = pd.DataFrame({"sold": pd.to_datetime("2020-01-01") + pd.to_timedelta(days, "D"), "size": size})
    frame.loc[::5, "size"] = np.nan
    y = days / 100 + frame["size"].fillna(1.0) ** 2
    model = LPNNRegressor(effort="low", random_state=0).fit(frame, y)
    found = short_formula(model, frame, terms=6)
    fill = model.model_.columns[1].fill
    assert "where sold is days since 1970-01-01" in str(found)
    assert f"where size is {fill!r} where it is missing" in str(found)
    table = model.model_.read(frame)
    blank = next(factor for factor in found.factors if factor.name == "size")
    assert (blank.values(table)[::5] == fill).all()
