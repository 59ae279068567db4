"""`Features` against direct computation, and what it refuses."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import optimize
from sklearn.pipeline import make_pipeline

from polyladder.fitted.features import MOST_LEVELS, Features, count_inputs, read_rows
from polyladder.tables.table import read_table


def skewed(n: int = 60, d: int = 3, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.exp(np.random.default_rng(seed).normal(size=(n, d))) - 1.0


def mixed() -> dict[str, list[Any]]:
    """Columns of a table with numbers, a boolean and categories."""
    return {
        "size": [1.0, 2.0, 4.0, 8.0, 3.0, 5.0],
        "sunny": [True, False, True, True, False, False],
        "color": ["red", "blue", "red", "green", "blue", "red"],
    }


# Scaling


def test_standard_is_mean_zero_variance_one() -> None:
    X = skewed()
    np.testing.assert_allclose(Features().fit_transform(X), (X - X.mean(0)) / X.std(0), rtol=1e-12, atol=1e-12)


def test_quantile_is_the_standardized_rank() -> None:
    X = skewed(n=40)
    rank = X.argsort(0).argsort(0) / 39  # the n-th smallest of the rows lies at quantile n / 39
    expected = (rank - rank.mean(0)) / rank.std(0)
    features = Features("quantile").fit(X)
    np.testing.assert_allclose(features.transform(X), expected, rtol=1e-9, atol=1e-9)
    # Between two rows it is linear.
    a, b = np.sort(X[:, 0])[[7, 8]]
    between = np.tile([[0.25 * a + 0.75 * b]], (1, 3))
    wanted = (7.75 / 39 - rank[:, 0].mean()) / rank[:, 0].std()
    np.testing.assert_allclose(features.transform(between)[0, 0], wanted, rtol=1e-9)


def test_yeo_johnson_has_the_most_likely_exponent() -> None:
    X = skewed(d=1)

    def transform(x: np.ndarray[Any, Any], power: float) -> np.ndarray[Any, Any]:
        up = ((np.abs(x) + 1) ** power - 1) / power
        down = -((np.abs(x) + 1) ** (2 - power) - 1) / (2 - power)
        return np.where(x >= 0, up, down)

    def negative_log_likelihood(power: float) -> float:
        z = transform(X, power)
        return len(X) / 2 * np.log(z.var()) - (power - 1) * float((np.sign(X) * np.log1p(np.abs(X))).sum())

    power = optimize.minimize_scalar(negative_log_likelihood, bounds=(-2, 1.9), method="bounded").x
    z = transform(X, power)
    np.testing.assert_allclose(Features("yeo-johnson").fit_transform(X), (z - z.mean()) / z.std(), atol=1e-3)


def test_weights_count_rows() -> None:
    X, weight = skewed(n=12), np.array([0, 1, 2, 3, 1, 1, 0, 2, 1, 1, 1, 4.0])
    repeated = np.repeat(X, weight.astype(int), axis=0)
    weighted = Features()
    weighted.fit_table(read_rows(weighted, X, categorical=None), weight)
    np.testing.assert_allclose(weighted.transform(X), Features().fit(repeated).transform(X), rtol=1e-12, atol=1e-12)


def test_rows_of_weight_zero_do_not_widen_the_range() -> None:
    X, weight = np.array([[0.0], [1.0], [2.0], [100.0]]), np.array([1.0, 0.5, 1.0, 0.0])
    features = Features()
    features.fit_table(read_rows(features, X, categorical=None), weight)
    np.testing.assert_array_equal(features.transform([[100.0]]), features.transform([[2.0]]))


# Range


@pytest.mark.parametrize("kind", ["standard", "quantile", "yeo-johnson"])
def test_clip_holds_rows_to_the_training_range(kind: Any) -> None:
    X = skewed()
    features = Features(kind).fit(X)
    far = np.stack([X.min(0) - 5.0, X.max(0) + 5.0])
    np.testing.assert_allclose(features.transform(far), features.transform(np.stack([X.min(0), X.max(0)])))


def test_without_clip_the_line_goes_on() -> None:
    X = skewed()
    far = X.max(0, keepdims=True) + 5.0
    np.testing.assert_allclose(Features(clip=False).fit(X).transform(far), (far - X.mean(0)) / X.std(0))


def test_constant_columns_are_dropped() -> None:
    X = skewed()
    X[:, 1] = 7.0
    features = Features().fit(X)
    np.testing.assert_allclose(features.transform(X), Features().fit_transform(X[:, [0, 2]]))
    assert features.get_feature_names_out().tolist() == ["x0", "x2"]
    X[:, 1] = 3.0  # what the column holds later does not matter
    assert features.transform(X).shape == (60, 2)


def test_a_column_of_one_category_is_dropped() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "a", "a"]})
    features = Features().fit(frame)
    assert features.get_feature_names_out().tolist() == ["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert features.transform(frame.assign(c="b")).shape == (3, 1)


@pytest.mark.parametrize("X", [np.ones((5, 3)), pd.DataFrame({"x": [1.0, 1.0], "c": ["a", "a"]})])
def test_a_constant_table_is_refused(X: Any) -> None:
    with pytest.raises(ValueError, match="X must have a column that varies; every column is constant"):
        Features().fit(X)


# Categories


@pytest.mark.parametrize(
    "text",
    [
        pd.Series(mixed()["color"], dtype="str"),
        pd.Series(mixed()["color"], dtype="string"),
        pd.Series(mixed()["color"], dtype="object"),
        pd.Series(mixed()["color"], dtype="category"),
        pl.Series(mixed()["color"]),
        pl.Series(mixed()["color"], dtype=pl.Categorical),
        pl.Series(mixed()["color"], dtype=pl.Enum(["red", "green", "blue"])),
    ],
)
def test_categories_become_one_column_each(text: Any) -> None:
    frame = (pl.DataFrame if isinstance(text, pl.Series) else pd.DataFrame)(mixed() | {"color": text})
    features = Features().fit(frame)
    names = ["size", "sunny", "color = blue", "color = green", "color = red"]
    assert features.get_feature_names_out().tolist() == names
    rows = features.transform(frame)
    size, sunny = np.array(mixed()["size"]), np.array(mixed()["sunny"], dtype=float)
    np.testing.assert_allclose(rows[:, 0], (size - size.mean()) / size.std())
    np.testing.assert_allclose(rows[:, 1], (sunny - sunny.mean()) / sunny.std())
    expected = [[c == color for color in ("blue", "green", "red")] for c in mixed()["color"]]
    np.testing.assert_array_equal(rows[:, 2:], np.array(expected, dtype=float))


def test_polars_and_pandas_give_equal_rows() -> None:
    columns = mixed() | {"size": [1.0, None, 4.0, 8.0, 3.0, 5.0], "color": ["red", None, "red", "green", "blue", "red"]}
    rows = [Features().fit_transform(frame(columns)) for frame in (pd.DataFrame, pl.DataFrame)]
    np.testing.assert_array_equal(rows[0], rows[1])


def test_unseen_categories_count_as_none_and_are_named() -> None:
    frame = pd.DataFrame(mixed())
    features = Features().fit(frame)
    strange = frame.assign(color=["red", "pink", "red", "mauve", None, "red"])
    sentence = re.escape(
        "Column 'color' holds categories that training did not see and that count as none: mauve, missing, pink."
    )
    with pytest.warns(UserWarning, match=sentence):
        rows = features.transform(strange)
    np.testing.assert_array_equal(rows[:, 2:].sum(1), [1, 0, 1, 0, 0, 1])


def test_missing_categories_are_a_category() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", None, "b"]})
    features = Features().fit(frame)
    assert features.get_feature_names_out().tolist() == ["x", "c = a", "c = b", "c = missing"]
    np.testing.assert_array_equal(features.transform(frame)[:, 1:], [[1, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_categories_alone_are_enough() -> None:
    rows = Features().fit_transform(pd.DataFrame({"c": ["a", "b", "a"]}))
    np.testing.assert_array_equal(rows, [[1, 0], [0, 1], [1, 0]])


# Missing numbers


@pytest.mark.parametrize("X", [np.array([[1.0], [np.nan]]), pd.DataFrame({"x": [1.0, np.nan], "c": ["a", "b"]})])
def test_missing_numbers_are_refused_where_that_is_asked(X: Any) -> None:
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Features(missing="error").fit(X)


def test_missing_numbers_become_the_median_and_an_indicator() -> None:
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [2.0, 7.0], [9.0, 9.0]])
    features = Features().fit(X)
    assert features.get_feature_names_out().tolist() == ["x0", "x1", "x0 is missing"]
    filled = np.where(np.isnan(X), 2.0, X)
    expected = np.column_stack([(filled - filled.mean(0)) / filled.std(0), [0, 1, 0, 0]])
    np.testing.assert_allclose(features.transform(X), expected)


def test_numbers_missing_only_later_become_the_median() -> None:
    X = np.array([[1.0, 5.0], [2.0, 6.0], [9.0, 9.0]])
    features = Features().fit(X)
    with pytest.warns(UserWarning, match=r"Numbers are missing in 'x0', where training had all: each counts as"):
        found = features.transform([[np.nan, 6.0]])
    np.testing.assert_array_equal(found, features.transform([[2.0, 6.0]]))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Features(missing="error").fit(X).transform([[np.nan, 6.0]])
    # What is used nowhere may be missing, and so may what was missing before.
    constant = Features().fit(np.array([[1.0, 5.0, np.nan], [2.0, 5.0, 1.0], [9.0, 5.0, 2.0]]))
    with warnings.catch_warnings(action="error"):
        constant.transform([[1.0, np.nan, np.nan]])


def test_a_column_that_is_missing_throughout_is_dropped() -> None:
    X = np.array([[1.0, np.nan], [2.0, np.nan], [9.0, np.nan]])
    features = Features().fit(X)
    assert features.get_feature_names_out().tolist() == ["x0"]
    assert features.transform([[1.0, 4.0]]).shape == (1, 1)


# Affine


def test_affine_reproduces_the_rows_inside_the_range() -> None:
    X = skewed(d=4)
    X[:, 2] = 1.0
    features = Features().fit(X)
    affine = features.affine()
    assert affine is not None
    matrix, shift = affine
    assert matrix.shape == (3, 4)
    np.testing.assert_allclose(X @ matrix.T + shift, features.transform(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("features", "X"),
    [
        (Features("quantile"), skewed()),
        (Features("yeo-johnson"), skewed()),
        (Features(), pd.DataFrame(mixed())),
        (Features(), np.array([[1.0], [np.nan], [2.0]])),
    ],
)
def test_what_is_not_affine_says_so(features: Features, X: Any) -> None:
    assert features.fit(X).affine() is None


# Refusals


@pytest.mark.parametrize("X", [np.array([[1.0], [np.inf]]), pd.DataFrame({"x": [1.0, np.inf], "c": ["a", "b"]})])
@pytest.mark.parametrize("missing", ["error", "impute"])
def test_infinity_is_refused(X: Any, missing: Any) -> None:
    with pytest.raises(ValueError, match="Input X contains infinity or a value too large"):
        Features(missing=missing).fit(X)


@pytest.mark.parametrize("others", [{}, {"c": ["a", "b", "a"]}])
def test_dates_are_days_and_stay_dates(others: dict[str, Any]) -> None:
    dates = pd.DataFrame({"x": pd.date_range("2020", periods=3), **others})
    numbers = pd.DataFrame({"x": [18262.0, 18263.0, 18264.0], **others})
    by_dates, by_numbers = Features().fit(dates), Features().fit(numbers)
    assert (by_dates.dates_, by_numbers.dates_) == ((0,), ())
    np.testing.assert_array_equal(by_dates.transform(dates), by_numbers.transform(numbers))
    with pytest.raises(ValueError, match=r"Column 'x' must hold dates, as in training; got numbers\."):
        by_dates.transform(numbers)
    with pytest.raises(ValueError, match=r"Column 'x' must hold numbers, as in training; got dates\."):
        by_numbers.transform(dates)


def test_texts_of_very_many_values_are_left_out() -> None:
    """As inputs of every row they would fill the memory."""
    names = [f"n{i}" for i in range(MOST_LEVELS + 1)]
    frame = pd.DataFrame({"x": np.arange(len(names), dtype=float), "name": names})
    with pytest.warns(UserWarning, match="Column 'name' holds 501 different texts, more like names than categories"):
        features = Features().fit(frame)
    assert features.feature_names_out_ == ["x"]
    assert count_inputs(read_table(frame, (1,))) == 1
    inputs = len(Features().fit(frame[1:]).feature_names_out_)
    assert count_inputs(read_table(frame[1:], (1,))) == 1 + MOST_LEVELS == inputs
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(ValueError, match="X must have a column that varies"),
    ):
        Features().fit(frame[["name"]])


def test_text_where_numbers_were_is_refused() -> None:
    features = Features().fit(pd.DataFrame(mixed()))
    with pytest.raises(ValueError, match="Column 'size' must hold numbers; could not convert string to float: 'big'"):
        features.transform(pd.DataFrame(mixed() | {"size": ["big"] * 6}))
    plain = Features().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="Column 'x' must hold numbers; could not convert string to float: 'big'"):
        plain.transform(pd.DataFrame({"x": ["big"]}))


def test_an_array_cannot_stand_for_a_frame_with_categories() -> None:
    features = Features().fit(pd.DataFrame(mixed()))
    with pytest.raises(ValueError, match=r"X must be a data frame, as in training.*got ndarray"):
        features.transform(np.ones((2, 3)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("columns", [["size", "color", "sunny"], ["size", "sunny"], ["size", "sunny", "shade"]])
def test_other_columns_are_refused(frame: Any, columns: list[str]) -> None:
    table = mixed() | {"shade": mixed()["color"]}
    features = Features().fit(frame(mixed()))
    with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
        features.transform(frame({name: table[name] for name in columns}))


def test_another_number_of_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="X has 2 features, but Features is expecting 3 features as input"):
        Features().fit(skewed()).transform(skewed(d=2))


def test_one_row_is_refused_in_training_alone() -> None:
    with pytest.raises(ValueError, match=r"Found array with 1 sample\(s\)"):
        Features().fit(skewed(n=1))
    with pytest.raises(ValueError, match=r"Found array with 1 sample\(s\)"):
        Features().fit(pd.DataFrame({"x": [1.0], "c": ["a"]}))
    assert Features().fit(pd.DataFrame(mixed())).transform(pd.DataFrame(mixed()).iloc[:1]).shape == (1, 5)


@pytest.mark.parametrize("parameters", [{"kind": "none"}, {"missing": "drop"}])
def test_unknown_parameters_are_refused(parameters: Any) -> None:
    (name, value), *_ = parameters.items()
    with pytest.raises(
        ValueError, match=f"The '{name}' parameter of Features must be a str among .*Got '{value}' instead"
    ):
        Features(**parameters).fit(skewed())


# Scikit-learn's manners


@pytest.mark.parametrize(("container", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_names_the_columns(container: str, frame: Any) -> None:
    table = pd.DataFrame(mixed())
    features = Features().set_output(transform=container)
    rows = features.fit_transform(table)
    assert isinstance(rows, frame)
    assert list(rows.columns) == ["size", "sunny", "color = blue", "color = green", "color = red"]
    np.testing.assert_array_equal(np.asarray(rows), Features().fit_transform(table))
    assert isinstance(features.transform(table), frame)


def test_features_keep_the_names_and_count_of_columns() -> None:
    features = Features().fit(pl.DataFrame(mixed()))
    assert features.feature_names_in_.tolist() == ["size", "sunny", "color"]
    assert features.n_features_in_ == 3


def test_features_work_in_a_pipeline() -> None:
    X = skewed()
    pipeline = make_pipeline(Features("quantile"), Features())
    np.testing.assert_allclose(pipeline.fit_transform(X), Features("quantile").fit_transform(X), atol=1e-12)


def test_reach_holds_training_numbers_near_zero_by_scaling_alone() -> None:
    X = np.c_[np.arange(100.0), np.arange(100) == 3]
    plain, held = Features().fit(X), Features(reach=4.0).fit(X)
    np.testing.assert_allclose(held.transform(X)[:, 0], plain.transform(X)[:, 0])
    assert np.abs(plain.transform(X)[:, 1]).max() > 9
    assert np.abs(held.transform(X)[:, 1]).max() == pytest.approx(4.0)
    matrix, shift = held.affine()  # type: ignore[misc]
    np.testing.assert_allclose(held.transform(X), X @ matrix.T + shift)


def test_as_a_whole_columns_share_the_mean_and_the_deviation_of_all_numbers() -> None:
    X = np.random.default_rng(0).normal([0.0, 3.0, -1.0], [1.0, 2.0, 5.0], size=(50, 3))
    np.testing.assert_allclose(Features(whole=True).fit(X).transform(X), (X - X.mean()) / X.std())


@pytest.mark.parametrize("kind", ["standard", "yeo-johnson"])
def test_ramps_that_are_added_later_are_those_learned_at_once(kind: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=60), "c": rng.choice(list("ab"), 60), "y": rng.exponential(size=60)})
    weight = rng.integers(0, 3, size=60).astype(float)
    table = read_rows(Features(), frame, categorical=None)
    once = Features(kind, ramps=5, margin=0.1).fit_table(table, weight)
    plain = Features(kind, margin=0.1).fit_table(table, weight)
    later = plain.ramped(table, 5, weight)
    assert plain.ramps_ is None
    assert later.feature_names_out_ == once.feature_names_out_
    np.testing.assert_allclose(later.transform_table(table), once.transform_table(table), rtol=0, atol=1e-12)


# Periods


def test_a_period_makes_sine_and_cosine_in_place_of_the_number() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=50), "hour": rng.integers(0, 24, 50), "color": ["red", "blue"] * 25})
    hours = table["hour"].to_numpy().astype(float)
    weight = rng.uniform(0.5, 2.0, 50)
    features = Features(periods={"hour": 24}, ramps=3)
    features.fit_table(read_rows(Features(), table, categorical=None), weight)
    found = pd.DataFrame(features.transform(table), columns=features.feature_names_out_)
    assert list(found)[:5] == ["size", "color = blue", "color = red", "sin of hour / 24", "cos of hour / 24"]
    for name, turned in (("sin", np.sin(2 * np.pi * hours / 24)), ("cos", np.cos(2 * np.pi * hours / 24))):
        mean = np.average(turned, weights=weight)
        deviation = np.sqrt(np.average((turned - mean) ** 2, weights=weight))
        np.testing.assert_allclose(found[f"{name} of hour / 24"], (turned - mean) / deviation, rtol=0, atol=1e-12)
    assert features.groups().tolist() == [0, 2, 2, 1, 1, 0, 0, 0]
    np.testing.assert_allclose(features.mean_, np.average(found, axis=0, weights=weight), atol=1e-12)
    assert features.affine() is None
    # Nothing is clipped, and what is a period apart is the same.
    later = table.assign(hour=hours + 240)
    np.testing.assert_allclose(features.transform(later), found, atol=1e-11)


def test_missing_phases_are_filled_and_flagged() -> None:
    X = np.array([[0.0, 1.0], [6.0, 2.0], [np.nan, 4.0], [12.0, 3.0], [6.0, 9.0]])
    features = Features(periods={"x0": 24.0}).fit(X)
    rows = pd.DataFrame(features.transform(X), columns=features.feature_names_out_)
    assert rows["x0 is missing"].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert rows["sin of x0 / 24"][2] == rows["sin of x0 / 24"][1]
    complete = Features(periods={"x0": 24.0}).fit(X[[0, 1, 3, 4]])
    with pytest.warns(UserWarning, match="missing in 'x0', where training had all"):
        complete.transform(X)


def test_phases_that_never_move_are_dropped() -> None:
    X = np.array([[6.0, 24.0, 1.0], [18.0, 0.0, 2.0], [30.0, 48.0, 3.0], [42.0, 24.0, 5.0]])
    features = Features(periods={"x0": 24, "x1": 24}).fit(X)
    assert features.feature_names_out_ == ["x2", "sin of x0 / 24"]
    assert np.abs(features.transform(X)).max() < 3


def test_a_reach_holds_phases_too() -> None:
    hours = np.array([[12.0, 0.0]] * 99 + [[0.0, 1.0]])
    near = Features(periods={"x0": 24}, reach=5.0).fit(hours)
    assert np.abs(Features(periods={"x0": 24}).fit_transform(hours)).max() > 9
    assert np.abs(near.transform(hours)).max() == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("periods", "words"),
    [
        ({"day": 7}, "periods must name columns of the table, such as 'size', 'sunny', 'color'; got 'day'."),
        ({"color": 3}, "periods must name columns of numbers; column 'color' holds texts."),
        ({"size": 0}, "The period of column 'size' must be a finite number above 0; got 0."),
        ({"size": np.inf}, "The period of column 'size' must be a finite number above 0; got inf."),
        ({"size": "day"}, "The period of column 'size' must be a finite number above 0; got 'day'."),
    ],
)
def test_periods_that_cannot_be_are_refused(periods: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        Features(periods=periods).fit(pd.DataFrame(mixed()))
